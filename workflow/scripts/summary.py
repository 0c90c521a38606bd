"""Print what was found, what failed, and where the report is: `python -m workflow.scripts.summary
SCALE [--asked NAME...]`.

Run after every workflow. Of what was asked for by name it prints the answer, the verdict or the
files; of everything the project's findings. Writes the index of a scale anew where questions were
asked for by name, and reports/index.html, which leads to the reports of every scale.
"""

import shlex
from pathlib import Path
from textwrap import fill

import pandas as pd

from workflow.claims.evidence import read_ledger
from workflow.claims.ledger import count_verdicts
from workflow.claims.measures import LAYERS
from workflow.config.command_line import Parser, print_lines, run
from workflow.config.errors import ConfigError
from workflow.config.files import list_folder
from workflow.plan.rows import read_plan
from workflow.report.bundle import NothingRun, read_bundle
from workflow.report.overview.collect import OVERVIEW, read_overviews
from workflow.report.overview.findings import list_findings
from workflow.report.pages.asked import Asked
from workflow.report.pages.index import list_failures, write_root
from workflow.report.pages.shared import write_made
from workflow.report.pages.site import Site, link_pages
from workflow.results.precomputed import NOT_MEASURED
from workflow.results.registry import COSTS
from workflow.results.rows import read_rows
from workflow.results.runs_table import read_frames

WIDTH = 100  # characters of a line in the terminal


def failure_lines(
    site: Site, questions: set[str] | None = None, answered: bool = False
) -> list[str]:
    """List the runs and measurements of a scale that failed, a line each.

    questions: None, all. answered: whether all questions were answered just now.
    """
    if not (site.results / "plan.json").exists():
        return []
    failed = []
    try:
        runs = read_runs(site, answered)
        if questions is not None:
            runs = runs[runs["question"].isin(questions)]
        failed = list_failures(runs)
    except NothingRun:
        pass
    except (ConfigError, OSError) as error:
        return [f"unreadable: {error}"]
    lines = []
    for each in failed:
        lines.append(f"{each.label} ({each.digest}): {each.status}: {each.reason}")
    if questions is None or LAYERS in questions:
        lines += _failed_layers(site.results / "layers.json")
    return [" ".join(line.split()) for line in lines]


def _failed_layers(layers: Path) -> list[str]:
    """List the layers whose measurement failed, a line each."""
    if not layers.exists():
        return []
    lines = []
    for row in read_rows(layers)[1]:
        if row["status"] != "ok" and row["reason"] != NOT_MEASURED:
            cell = f"{row['layer']}, n = {row['n']}"
            lines.append(f"layers: {cell}: {row['status']}: {row['reason']}")
    return lines


def read_runs(site: Site, answered: bool) -> pd.DataFrame:
    """Read what a scale's runs say.

    From the rows of its questions, where these were all answered, else from records.
    """
    plan = read_plan(site.results / "plan.json")
    questions = {row["question"] for row in plan}
    files = [site.results / "questions" / f"{name}.json" for name in sorted(questions)]
    if not (answered and all(map(Path.exists, files))):
        return read_bundle(site.results).frames.everything
    for kind in COSTS:
        files += list_folder(site.results / kind, ".json")
    return read_frames(files).everything


def list_findings_of(site: Site) -> list[str]:
    """List the sentences that the report opens with, and count the claims by verdict."""
    ledger = read_ledger(site.results / "ledger.json")
    if ledger is None:
        return []
    lines = []
    for overview in read_overviews([site.results / f"{OVERVIEW}.json"]):
        for each in list_findings(overview.isolated):
            lines.append(f"{each.asks} {each.text}")
    counts = [f"{count} {verdict}" for verdict, count in count_verdicts(ledger.measured)]
    number = len(ledger.measured)
    return [*lines, f"{number} claims about measurements: {', '.join(counts)}"]


def list_restless(results: Path) -> list[str]:
    """Say how to repeat timings made while other processes were running; nothing if there are
    none.
    """
    files = list_folder(results / "throughput", ".json")
    restless = []
    for file in files:
        rows = read_rows(file)[1]
        if any(row.get("quiet") is False for row in rows):
            restless.append(str(file))
    if not restless:
        return []
    said = (
        "other processes were running while speeds were timed; "
        "to time them again, delete these and rerun"
    )
    return [f"{said}: rm {shlex.join(restless)}"]


def steps_ended(results: Path, failed: bool) -> str:
    """Say how the steps of the workflow ended, where no run failed."""
    if not failed:
        return "nothing failed"
    if (results / "plan.json").exists():
        return "no run failed, but the steps above did"
    return f"nothing was run because the plan failed; see logs/{results.name}/plan.log"


def print_found(site: Site, asked: list[Asked]) -> None:
    """Print what was asked for by name, each thing with its lines, else the project's findings."""
    things = []
    for each in asked:
        things += each.tell(site)
    if not asked:
        things = [[line] for line in list_findings_of(site)]
    for lines in things:
        for number, line in enumerate(lines):
            wrapped = fill(
                line,
                WIDTH,
                initial_indent="  " if number else "- ",
                subsequent_indent="  ",
                break_long_words=False,
            )
            print(wrapped)


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="summary", description="Print the findings and what failed.")
    parser.add_argument("scale", help="folder under results/ and reports/")
    parser.add_argument(
        "--asked",
        nargs="*",
        default=[],
        help="the targets of the command line; default: everything",
    )
    parser.add_argument(
        "--evidence",
        type=Path,
        nargs="*",
        default=[],
        help="files of claims judged by other results",
    )
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument(
        "--steps-failed", action="store_true", help="some steps of the workflow failed"
    )
    parser.add_argument("--reports", type=Path, default=Path("reports"))
    options = parser.parse_args(argv)
    site = Site(
        options.results / options.scale, options.reports / options.scale, options.results / "runs"
    )
    asked = []
    if "all" not in options.asked:  # of "all" the findings are printed
        # a name of another workflow's is not known here
        asked = [each for each in map(Asked, options.asked) if each.is_known]
    if any(each.has_page for each in asked) and not options.steps_failed:
        evidence = [path for path in options.evidence if path.exists()]
        write_made(site, evidence)
    link_pages(site.reports)
    # An earlier report may mention pages of this one.
    for index in site.reports.parent.glob("*/index.html"):
        link_pages(index)
    if not (asked and options.steps_failed):  # what was asked for is then not all made
        print_found(site, asked)
    print_lines(
        [
            *list_restless(site.results),
            *_how_it_ended(site, asked, options.steps_failed, everything=not options.asked),
        ]
    )
    audit = site.reports / "audit.html"
    if audit.exists() and "audit" in options.asked:
        print(f"audit: {audit.resolve()}")
    place = "not written yet"
    if write_root(options.results, options.reports):
        place = (options.reports / "index.html").resolve()
    print(f"report: {place}")


def _how_it_ended(
    site: Site, asked: list[Asked], steps_failed: bool, everything: bool
) -> list[str]:
    """Say what failed of what was asked for, or that nothing did.

    everything: whether no target was named, so that all questions are answered unless steps failed.
    """
    questions = None
    if asked:
        questions = set()
        for each in asked:
            questions.update(each.questions)
    lines = failure_lines(site, questions, answered=everything and not steps_failed)
    if not lines:
        return [steps_ended(site.results, steps_failed)]
    return ["failed:", *(f"  {line}" for line in lines)]


if __name__ == "__main__":
    run(main)
