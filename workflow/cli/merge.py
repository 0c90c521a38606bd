"""Set results of several machines side by side: `python -m workflow.cli.merge OUT.csv SET SET ... [--page X.html]`.

A SET is a bundle, a results folder or a set under results/precomputed. A line for each cell and each hardware.
"""

import argparse
from pathlib import Path

from workflow.compare.merged import merged, sections
from workflow.compare.result_set import read
from workflow.config.command_line import run
from workflow.config.errors import ConfigError
from workflow.config.files import output_path
from workflow.report.pages.site import Site
from workflow.results.record import write_text


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="merge", description="Set results of several machines side by side.")
    parser.add_argument("out", type=lambda word: output_path(word, ".csv"), metavar="OUT.csv")
    parser.add_argument("sets", type=Path, nargs="+")
    parser.add_argument("--page", type=lambda word: output_path(word, ".html"), help="write them as a page, too")
    options = parser.parse_args(argv)
    found = merged([read(path) for path in options.sets])
    if not len(found):
        raise ConfigError("no run in these sets ended well: there is nothing to merge")
    write_text(options.out, found.to_csv(index=False))
    if options.page:
        told = {"title": "Results of several machines", "sets": options.sets, "sections": sections(found)}
        Site(options.out.parent, options.page.parent).write("merged.html.j2", options.page.name, **told)
    print(f"{options.out}: {len(found)} lines, {found['hardware'].nunique()} kinds of hardware")


if __name__ == "__main__":
    run(main)
