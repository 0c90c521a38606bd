"""Answer one question: `python -m workflow.scripts.question NAME --scale SCALE COSTS...`

Collects the runs that the scale's plan has for it, builds its tables, draws its figures, compares
the claims about it with what was measured, and writes its page and a page for each of its runs.
COSTS: files of what else these read: costs of its configurations, layers, what belongs to its
texts.
"""

import json
import os
from functools import cache
from pathlib import Path

from workflow.claims.collect import collect_about
from workflow.claims.evidence import write_evidence
from workflow.claims.schema import (
    claims_about,
    costs_claimed,
    known_claims,
    load_claims,
    sized_claims,
)
from workflow.config.command_line import Parser, run
from workflow.config.errors import check_known
from workflow.config.files import PRECOMPUTED
from workflow.plan.reads import costs_shown, reads
from workflow.plan.rows import read_plan
from workflow.report.answers.answer import Answer, write_answer_file
from workflow.report.figure_files import draw_once, write_figure
from workflow.report.figures.colours import on_dark
from workflow.report.pages.question import question_page
from workflow.report.pages.run import find_uses, run_page
from workflow.report.pages.site import Site, compile_templates, parse_with_site
from workflow.report.table_files import write_table
from workflow.results.record import Record, write_text
from workflow.results.rows import write_rows
from workflow.results.runs_table import Frames, build_rows, collect_rows, join_frames
from workflow.results.store import index_lines, own_store
from workflow.settings.questions import known_questions, load_question


def collect_runs(site: Site, name: str, out: Path) -> dict[str, Record]:
    """Write the runs that are planned for a question; return their records, by digest."""
    planned = read_plan(site.results / "plan.json", name)
    store = own_store(site.runs)
    digests = dict.fromkeys(row["digest"] for row in planned)
    records = {digest: store.read_or_refuse(digest) for digest in digests}
    write_text(out, write_rows("runs", build_rows(planned, records)))
    return records


def write_answer(site: Site, name: str, files: list[Path], records: dict[str, Record]) -> Answer:
    """Write tables, figures and claims of a question, and the pages that show them.

    Each of them is made from what it reads alone: `workflow.plan.reads` says which files a table
    reads, and so which seeds it sees. files: rows of its runs, costs and layers.
    """
    rows = collect_rows(files)
    places = ", ".join(map(str, files))
    question = load_question(name)

    @cache
    def frames(*kinds: str) -> Frames:
        return join_frames({kind: rows[kind] for kind in kinds if kind in rows}, places)

    for table in question.tables:
        path = site.results / "tables" / f"{table}.json"
        write_table(path, table, frames(*reads("tables", table)))
    for figure in question.figures:
        path = site.results / "figures" / f"{figure}.svg"
        write_figure(path, figure, frames(*reads("figures", figure)))
    about = load_claims(claims_about(name))
    on_sizes = load_claims(sized_claims(name))
    evidence = collect_about(about, on_sizes, frames("runs", *costs_claimed(name)))
    write_evidence(site.results / "claims" / f"{name}.json", evidence)
    return write_pages(site, name, frames("runs", *costs_shown(name)), records)


def write_pages(site: Site, name: str, frames: Frames, records: dict[str, Record]) -> Answer:
    """Write the pages of its runs, then its own, which leads to them.

    Pages of runs that it no longer has are removed.
    """
    runs = frames.everything
    # as JSON has them, so that what is missing is None; of two rows of a run the first counts
    every = json.loads(runs.to_json(orient="records"))
    rows = {row["digest"]: row for row in reversed(every)}
    for digest, uses in find_uses(site, name, runs).items():
        run_of = run_page(records[digest], uses, rows[digest])
        site.write("run.html.j2", f"questions/{name}/{digest}.html", run_of, wait=False)
    page = question_page(site, name, frames, records)
    site.write("question.html.j2", f"questions/{name}/index.html", page)
    write_answer_file(site.results, name, page.said)
    for other in (site.reports / "questions" / name).glob("*.html"):
        if other.stem not in (*rows, "index"):
            other.unlink()
    os.sync()
    return page.said


def prepare() -> None:
    """Read and load what every question needs, once for all that are answered in forks of this
    process.
    """
    compile_templates()
    draw_once()
    on_dark()
    load_claims(known_claims())
    index_lines(PRECOMPUTED)


def main(argv: list[str] | None = None) -> None:
    parser = Parser(
        prog="question",
        description=(
            "Answer one question: build its tables and figures, judge its claims, write its pages."
        ),
    )
    parser.add_argument("name")
    parser.add_argument(
        "costs",
        type=Path,
        nargs="*",
        help="files of costs that its tables, figures and claims read",
    )
    options, site = parse_with_site(parser, argv)
    check_known("question", options.name, known_questions())
    load_claims(claims_about(options.name))  # a mistake ends here, before anything is written
    runs = site.results / "questions" / f"{options.name}.json"
    records = collect_runs(site, options.name, runs)
    write_answer(site, options.name, [runs, *options.costs], records)


if __name__ == "__main__":
    run(main)
