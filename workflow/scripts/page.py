"""Write pages of one scale: `python -m workflow.scripts.page KIND [NAME] --scale SCALE INPUTS...`

KIND: ablation (with a page for each of its runs), paper, or shared: index, ledger, status, pivot table,
formulas. Each also writes the page that leads to the reports of all scales.
INPUTS: what the rule depends on. Tables of runs and costs among them are read; the rest is read from results/SCALE.
"""

import json
from pathlib import Path

import pandas as pd

from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError, check_known
from workflow.papers import known_papers
from workflow.plan.ablations import known_ablations
from workflow.report.pages.ablation import ablation_page
from workflow.report.pages.index import write_root
from workflow.report.pages.papers import paper_page
from workflow.report.pages.run import find_uses, run_page
from workflow.report.pages.shared import write_shared
from workflow.report.pages.site import Site
from workflow.results.record import read_record
from workflow.results.registry import COSTS
from workflow.results.runs_table import read_frames

NAMES = {"ablation": known_ablations, "paper": known_papers}  # kinds of page that take a name


def read_runs(inputs: list[Path]) -> pd.DataFrame:
    """The runs, with their costs, among the inputs."""
    rows = (path for path in inputs if path.suffix == ".json" and path.parent.name in ("ablations", *COSTS))
    frames = read_frames(rows)
    if frames.runs is None:
        raise ConfigError("page: no table of runs among the inputs")
    return frames.runs


def write_ablation(site: Site, name: str, runs: pd.DataFrame) -> None:
    """The pages of its runs, then its own, which leads to them. Pages of runs that it no longer has are removed."""
    rows = {row["digest"]: row for row in reversed(json.loads(runs.to_json(orient="records")))}
    for digest, uses in find_uses(site, name, runs).items():
        record = read_record(site.runs / digest / "record.json")
        context = run_page(record, uses, rows[digest])
        site.write("run.html.j2", f"ablations/{name}/{digest}.html", **context)
    site.write("ablation.html.j2", f"ablations/{name}/index.html", **ablation_page(site, name, runs))
    for page in (site.reports / "ablations" / name).glob("*.html"):
        if page.stem not in (*rows, "index"):
            page.unlink()


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="page", description="Write pages of one scale.")
    parser.add_argument("kind", choices=("ablation", "paper", "shared"))
    parser.add_argument("words", nargs="*", help="the name of the ablation or paper, then the inputs")
    parser.add_argument("--scale", required=True, help="folder under results/ and reports/")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--reports", type=Path, default=Path("reports"))
    options = parser.parse_intermixed_args(argv)
    site = Site(options.results / options.scale, options.reports / options.scale, options.results / "runs")
    kind, words = options.kind, options.words
    if kind in NAMES:
        if not words:
            raise ConfigError(f"page {kind}: needs a name")
        check_known(kind, words[0], NAMES[kind]())
    inputs = [Path(word) for word in words[kind in NAMES :]]
    if kind == "ablation":
        write_ablation(site, words[0], read_runs(inputs))
    elif kind == "paper":
        name = words[0]
        site.write("paper.html.j2", f"papers/{name}.html", **paper_page(site, name, read_runs(inputs)))
    else:
        write_shared(site, read_runs(inputs))
    write_root(options.results, options.reports)  # here too: after a workflow that finds nothing to do nobody does


if __name__ == "__main__":
    run(main)
