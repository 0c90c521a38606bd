"""Write pages of one scale: `python -m workflow.scripts.page KIND [NAME] --scale SCALE INPUTS...`

KIND: ablation (with a page for each of its runs), paper, shared (index, status, pivot table, formulas, steps), engine.
INPUTS: what the rule stands on; tables of runs and costs are read from it, the rest lies where the scale has it.
"""

import argparse
import json
from pathlib import Path

import pandas as pd

from workflow.config.command_line import run
from workflow.config.errors import ConfigError, check_known
from workflow.papers import PAPERS
from workflow.plan.ablations import known_ablations
from workflow.report.pages import engine as engine_page
from workflow.report.pages.ablation import ablation
from workflow.report.pages.index import analytic, index
from workflow.report.pages.paper import paper
from workflow.report.pages.pivot import pivot
from workflow.report.pages.run import run as run_page
from workflow.report.pages.run import uses
from workflow.report.pages.site import Site
from workflow.report.pages.status import status
from workflow.results.record import read_record
from workflow.results.registry import COSTS
from workflow.results.runs_table import read_frames


def read_runs(inputs: list[Path]) -> pd.DataFrame:
    """The runs, with their costs, among what a page stands on."""
    frames = read_frames(path for path in inputs if path.parent.name in ("ablations", *COSTS))
    if frames.runs is None:
        raise ConfigError("page: no table of runs among the inputs")
    return frames.runs


def write_ablation(site: Site, name: str, runs: pd.DataFrame) -> None:
    """The pages of its runs, then its own, which leads to them."""
    from workflow.report.pages.learning import curve

    rows = {row["digest"]: row for row in reversed(json.loads(runs.to_json(orient="records")))}
    for digest, used_in in uses(site, name, runs).items():
        record = read_record(site.runs / digest / "record.json")
        context = run_page(record, used_in, curve(record), rows[digest])
        site.write("run.html.j2", f"ablations/{name}/{digest}.html", **context)
    site.write("ablation.html.j2", f"ablations/{name}/index.html", **ablation(site, name, runs))


def write_shared(site: Site, runs: pd.DataFrame) -> None:
    """The index, and the pages that it leads to."""
    pages = {"index": index(site, runs), "analytic": analytic(site), "status": status(site), "pivot": pivot(runs)}
    steps = site.results / "steps.json"
    if steps.exists():
        pages["steps"] = engine_page.steps_page(json.loads(steps.read_text(encoding="utf-8")), site.offer(steps))
    for name, context in pages.items():
        site.write(f"{name}.html.j2", f"{name}.html", shared=list(pages), **context)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="page", description="Write pages of one scale.")
    parser.add_argument("kind", choices=("ablation", "paper", "shared", "engine"))
    parser.add_argument("words", nargs="*", help="the name of the ablation or paper, then the inputs")
    parser.add_argument("--scale", required=True, help="folder under results/ and reports/")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--reports", type=Path, default=Path("reports"))
    options = parser.parse_intermixed_args(argv)
    site = Site(options.results / options.scale, options.reports / options.scale, options.results / "runs")
    if options.kind in ("ablation", "paper"):
        if not options.words:
            raise ConfigError(f"page {options.kind}: needs a name")
        name, *inputs = options.words
        check_known(options.kind, name, PAPERS if options.kind == "paper" else known_ablations())
    inputs = [Path(word) for word in (inputs if options.kind in ("ablation", "paper") else options.words)]
    if options.kind == "ablation":
        write_ablation(site, name, read_runs(inputs))
    elif options.kind == "paper":
        site.write("paper.html.j2", f"papers/{name}.html", **paper(site, name, read_runs(inputs)))
    elif options.kind == "shared":
        write_shared(site, read_runs(inputs))
    else:
        content = json.loads((site.results / "engine.json").read_text(encoding="utf-8"))
        context = engine_page.engine_page(content, site.offer(site.results / "engine.json"))
        site.write("engine.html.j2", "engine.html", **context)


if __name__ == "__main__":
    run(main)
