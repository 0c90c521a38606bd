"""Write the page of one paper: `python -m workflow.scripts.paper NAME --scale SCALE RUNS...`

RUNS: the tables of runs of its questions; its tables and figures are read from results/SCALE.
"""

from pathlib import Path

from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError, check_known
from workflow.config.studies import known_studies
from workflow.report.pages.papers import paper_page
from workflow.report.pages.site import parse_with_site
from workflow.results.runs_table import read_frames


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="paper", description="Write the page of one paper.")
    parser.add_argument("name")
    parser.add_argument("runs", type=Path, nargs="+", help="the tables of runs of its questions")
    options, site = parse_with_site(parser, argv)
    check_known("paper", options.name, known_studies())
    runs = read_frames(options.runs).runs
    if runs is None:
        raise ConfigError("paper: no table of runs among the inputs")
    site.write("paper.html.j2", f"papers/{options.name}.html", **paper_page(site, options.name, runs))


if __name__ == "__main__":
    run(main)
