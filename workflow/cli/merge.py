"""Set results of several machines side by side: `python -m workflow.cli.merge OUT.csv SET SET ... [--page X.html]`.

A SET is a bundle, the results folder of a scale or a folder of results/precomputed. A row for each cell and device.
"""

from pathlib import Path

from workflow.compare.merged import merge_sets, split_by_ablation
from workflow.compare.result_set import read_set
from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError
from workflow.config.files import output_path
from workflow.report.pages.site import Site
from workflow.results.csv_text import csv_text
from workflow.results.record import write_text


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="merge", description="Set results of several machines side by side.")
    parser.add_argument("out", type=lambda word: output_path(word, ".csv"), metavar="OUT.csv")
    parser.add_argument("sets", type=Path, nargs="+")
    parser.add_argument("--page", type=lambda word: output_path(word, ".html"), help="also write them as a page")
    options = parser.parse_args(argv)
    merged = merge_sets([read_set(path) for path in options.sets])
    if not len(merged):
        raise ConfigError("no run in these sets succeeded: there is nothing to merge")
    write_text(options.out, csv_text(merged))
    if options.page:
        sections = split_by_ablation(merged)
        context = {"title": "Results of several machines", "sets": options.sets, "sections": sections}
        Site(options.out.parent, options.page.parent).write("merged.html.j2", options.page.name, **context)
    print(f"{options.out}: {len(merged)} rows, from {merged['hardware'].nunique()} devices")


if __name__ == "__main__":
    run(main)
