"""Write the files of a figure: SVG, PDF and PNG, and its numbers as CSV.

Scale, device and seeds are at the foot. The three pictures carry the numbers, the runs and their
commits inside: see `workflow.cli.trace`.
"""

import io
import textwrap
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path

from workflow.config.files import atomic_write
from workflow.report.builders import builder_inputs, describe_origin, load_builder
from workflow.report.figures.colours import GREY
from workflow.report.figures.style import LETTERS, SIZE, draw_message, lay_out
from workflow.results import provenance
from workflow.results.datasets import badges
from workflow.results.record import write_text
from workflow.results.runs_table import Frames, csv_text

FOOT = 7  # points: the foot is in the files alone, a page says it in its own words


def add_foot(figure, origin: str) -> None:
    width = figure.get_size_inches()[0]
    letters = int(LETTERS * width * SIZE / FOOT)
    figure.supxlabel(textwrap.fill(origin, letters), x=0.01, ha="left", fontsize=FOOT, color=GREY)


def save(
    figure,
    out: Path,
    title: str,
    origin: str,
    trace: str,
    endings: Collection[str] = ("svg", "pdf", "png"),
) -> None:
    """Write the pictures, the origin at the foot and `trace` inside.

    The same data give the same bytes.
    """
    add_foot(figure, origin)
    lay_out(figure)
    described = provenance.metadata(title, origin, trace)
    for ending in endings:
        with atomic_write(out.with_suffix(f".{ending}")) as file:
            figure.savefig(file, format=ending, metadata=described[ending], dpi=160)


def draw_once() -> None:
    """Draw a figure in each format, before processes are forked: they find fonts and backends
    loaded.
    """
    figure = draw_message("")
    for ending in provenance.metadata("", "", ""):
        figure.savefig(io.BytesIO(), format=ending)


def write_figure(out: Path, name: str, frames: Frames) -> None:
    """Draw a figure and write it as SVG to `out`, in the other formats and as numbers next to
    it.
    """
    builder = load_builder("figures", name)
    # marks name its rows
    inputs = builder_inputs("figures", name, frames)
    numbers = builder.data(*inputs).reset_index(drop=True)
    write_text(out.with_suffix(".csv"), csv_text(numbers))
    used = builder.used(frames.runs) if frames.runs is not None else None
    origin, commits = describe_origin(builder, frames, used)
    texts = [asdict(badge) for badge in badges(used)]
    trace = provenance.trace_of(used, origin, texts, numbers, commits)
    save(builder.draw(numbers), out, builder.TITLE, origin, trace)
