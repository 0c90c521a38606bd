"""Draw one figure: `python -m workflow.scripts.figure NAME RUNS OUT`.

Writes OUT.svg, OUT.pdf, OUT.png, each with scale, device and seeds at its foot, and the numbers behind it as OUT.csv.
The three carry those numbers, the runs and their commits inside: see `workflow.cli.trace`.
"""

import argparse
import textwrap
from importlib import import_module
from pathlib import Path

from workflow.cli._main import run
from workflow.config.errors import check_known
from workflow.config.files import atomic_write
from workflow.report.figures._colours import GREY
from workflow.results import provenance as traces
from workflow.results.record import write_text
from workflow.results.runs_table import load, provenance

HERE = Path(__file__).parent.parent / "report" / "figures"


def names() -> list[str]:
    return sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_"))


def save(figure, out: str, title: str, origin: str, told: str) -> None:
    """The three formats, the same bytes for the same data; the origin stands at the foot, runs and data inside."""
    figure.supxlabel(textwrap.fill(origin, 100), x=0.01, ha="left", fontsize=7, color=GREY)
    for ending, metadata in traces.metadata(title, origin, told).items():
        with atomic_write(f"{out}.{ending}") as file:
            figure.savefig(file, format=ending, metadata=metadata, dpi=160)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="figure", description="Draw one figure.")
    parser.add_argument("name")
    parser.add_argument("runs", type=Path)
    parser.add_argument("out")
    options = parser.parse_args(argv)
    check_known("figure", options.name, names())
    builder, runs = import_module(f"workflow.report.figures.{options.name}"), load(options.runs)
    numbers = builder.data(runs)
    write_text(f"{options.out}.csv", numbers.to_csv(index=False))
    used = builder.used(runs)
    origin = getattr(builder, "origin", lambda runs: provenance(used))(runs)
    told = traces.told(used, origin, numbers, traces.commits(builder, runs, used))
    save(builder.draw(numbers), options.out, builder.TITLE, origin, told)


if __name__ == "__main__":
    run(main)
