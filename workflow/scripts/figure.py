"""Draw one figure: `python -m workflow.scripts.figure NAME RUNS OUT`.

Writes OUT.svg, OUT.pdf, OUT.png, each with rung, device and seeds at its foot, and the numbers behind it as OUT.csv.
The three carry those numbers, the runs and their commits inside: see `workflow.scripts.trace`.
"""

import argparse
import textwrap
from importlib import import_module
from pathlib import Path

from workflow import traces
from workflow.choices import refuse_unknown
from workflow.figures._colours import GREY
from workflow.frame import load, provenance
from workflow.place import whole
from workflow.records import write_text
from workflow.scripts._main import run

HERE = Path(__file__).parent.parent / "figures"


def names() -> list[str]:
    return sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_"))


def save(figure, out: str, title: str, origin: str, told: str) -> None:
    """The three formats, the same bytes for the same data; the origin stands at the foot, runs and data inside."""
    figure.supxlabel(textwrap.fill(origin, 100), x=0.01, ha="left", fontsize=7, color=GREY)
    for ending, metadata in traces.metadata(title, origin, told).items():
        with whole(f"{out}.{ending}") as file:
            figure.savefig(file, format=ending, metadata=metadata, dpi=160)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="figure", description="Draw one figure.")
    parser.add_argument("name")
    parser.add_argument("runs", type=Path)
    parser.add_argument("out")
    options = parser.parse_args(argv)
    refuse_unknown("figure", options.name, names())
    builder, runs = import_module(f"workflow.figures.{options.name}"), load(options.runs)
    numbers = builder.data(runs)
    write_text(f"{options.out}.csv", numbers.to_csv(index=False))
    used = builder.used(runs)
    origin = getattr(builder, "origin", lambda runs: provenance(used))(runs)
    told = traces.told(used, origin, numbers, traces.commits(builder, runs, used))
    save(builder.draw(numbers), options.out, builder.TITLE, origin, told)


if __name__ == "__main__":
    run(main)
