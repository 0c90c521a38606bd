"""Write a page of one scale: `python -m workflow.scripts.page KIND [NAME] --scale SCALE [RUNS...]`

KIND: paper, by its name, from the runs of its questions; or engine.
"""

from pathlib import Path

from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError, check_known
from workflow.papers import known_papers
from workflow.report.pages.engine import engine_page
from workflow.report.pages.paper import paper_page
from workflow.report.pages.root import write_root
from workflow.report.pages.shared import read_report
from workflow.report.pages.site import Site
from workflow.results.runs_table import read_frames


def write_paper(site: Site, name: str, inputs: list[Path]) -> None:
    check_known("paper", name, known_papers())
    runs = read_frames(inputs).runs
    if runs is None:
        raise ConfigError("page: no table of runs among the inputs")
    site.write("paper.html.j2", f"papers/{name}.html", **paper_page(site, name, runs))


def write_engine(site: Site) -> None:
    path = site.results / "engine.json"
    site.write("engine.html.j2", "engine.html", **engine_page(read_report(path), site.offer(path)))


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="page", description="Write a page of one scale.")
    parser.add_argument("kind", choices=("paper", "engine"))
    parser.add_argument("words", nargs="*", help="the name of the paper, then the tables of runs of its questions")
    parser.add_argument("--scale", required=True, help="folder under results/ and reports/")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--reports", type=Path, default=Path("reports"))
    options = parser.parse_intermixed_args(argv)
    site = Site(options.results / options.scale, options.reports / options.scale, options.results / "runs")
    if options.kind == "engine":
        write_engine(site)
    elif not options.words:
        raise ConfigError("page paper: needs a name")
    else:
        write_paper(site, options.words[0], [Path(word) for word in options.words[1:]])
    write_root(options.results, options.reports)  # here too: after a workflow that finds nothing to do nobody does


if __name__ == "__main__":
    run(main)
