"""Write what all questions share: `python -m workflow.scripts.report --scale SCALE --rows ...`

Judges all claims, writes all runs as one table, and the index with the pages next to it.
"""

from pathlib import Path

from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError
from workflow.report.pages.shared import write_together
from workflow.report.pages.site import parse_with_site
from workflow.results.columns import write_run_files
from workflow.results.runs_table import read_frames


def main(argv: list[str] | None = None) -> None:
    parser = Parser(
        prog="report", description="Judge all claims and write the pages that all questions share."
    )
    parser.add_argument(
        "--rows", type=Path, nargs="+", required=True, help="files of runs, their costs, and layers"
    )
    parser.add_argument(
        "--evidence",
        type=Path,
        nargs="*",
        default=[],
        help="claims of questions and of other results",
    )
    options, site = parse_with_site(parser, argv)
    frames = read_frames(options.rows)
    if frames.runs is None:
        raise ConfigError("report: no runs among the rows")
    write_run_files(site.results, frames.everything)
    write_together(site, frames, options.evidence)


if __name__ == "__main__":
    run(main)
