"""Draw one figure: `python -m workflow.scripts.figure NAME OUT.svg INPUTS...`

Writes OUT.svg, OUT.pdf, OUT.png, each with scale, device and seeds at its foot, and the numbers behind it as OUT.csv.
The three carry those numbers, the runs and their commits inside: see `workflow.cli.trace`.
"""

import textwrap
from pathlib import Path

from workflow.config.command_line import Parser, run
from workflow.config.files import atomic_write
from workflow.report.builders import builder_inputs, describe_origin, load_builder
from workflow.report.figures._colours import GREY
from workflow.report.figures._style import lay_out
from workflow.report.texts import badges
from workflow.results import provenance
from workflow.results.csv_text import csv_text
from workflow.results.record import write_text
from workflow.results.runs_table import read_frames


def add_foot(figure, origin: str) -> None:
    figure.supxlabel(textwrap.fill(origin, 100), x=0.01, ha="left", fontsize=7, color=GREY)


def save(figure, out: Path, title: str, origin: str, trace: str) -> None:
    """Write the three formats, with the origin at the foot, runs and data inside; same data, same bytes."""
    add_foot(figure, origin)
    lay_out(figure)
    for ending, metadata in provenance.metadata(title, origin, trace).items():
        with atomic_write(out.with_suffix(f".{ending}")) as file:
            figure.savefig(file, format=ending, metadata=metadata, dpi=160)


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="figure", description="Draw one figure.")
    parser.add_argument("name")
    parser.add_argument("out", type=Path, help="OUT.svg; the other formats and the data are written next to it")
    parser.add_argument("inputs", type=Path, nargs="*", help="what the figure's READS names")
    options = parser.parse_args(argv)
    builder, frames = load_builder("figures", options.name), read_frames(options.inputs)
    inputs = builder_inputs("figures", options.name, frames)
    numbers = builder.data(*inputs)
    write_text(options.out.with_suffix(".csv"), csv_text(numbers))
    used = builder.used(frames.runs) if frames.runs is not None else None
    origin, commits = describe_origin(builder, frames, used)
    trace = provenance.trace_of(used, origin, badges(used), numbers, commits)
    save(builder.draw(numbers), options.out, builder.TITLE, origin, trace)


if __name__ == "__main__":
    run(main)
