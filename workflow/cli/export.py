"""Write learning curves for TensorBoard: `python -m workflow.cli.export BUNDLE OUT`, then `tensorboard --logdir OUT`.

BUNDLE: a scale's folder under results/ or results/precomputed/, or an archive. OUT: a new folder. TensorBoard is an
extra: python -m pip install -c constraints.txt '.[tensorboard]'
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError
from workflow.report.bundle import Bundle, read_bundle
from workflow.results.record import Record

SETTINGS = ("ablation", "paper", "task", "variant", "paper_corpus", "corpus", "S", "k", "seed", "scale", "device")
SETTINGS += ("status", "span", "selection", "normaliser", "position", "steps", "commit", "digest")


@dataclass(frozen=True)
class Curve:
    """name: ablation/variant, S, k, text and seed. points: {"step": ..., quantity: number}; metrics: of the end."""

    name: str
    settings: dict[str, str | int | float]
    points: list[dict]
    metrics: dict[str, float]


def curves(results: Bundle) -> Iterator[Curve]:
    """One for each run; a run that several ablations ask for stands under the first of them."""
    for row in results.runs.drop_duplicates("digest").to_dict("records"):
        record: Record = results.records[row["digest"]]
        settings = {key: row[key] for key in SETTINGS if pd.notna(row[key])}
        points = [point.model_dump(exclude_none=True) for point in record.curve]
        yield Curve(_name(settings), settings, points, record.metrics)


def _name(settings: dict) -> str:
    """Such as span_limit/adaptive-S64-text8-seed1: a folder's name on every system."""
    grid = [f"{axis}{settings[axis]:.0f}" for axis in "Sk" if axis in settings]
    parts = [settings["variant"], *grid, settings["paper_corpus"], f"seed{settings['seed']}"]
    return f"{settings['ablation']}/{'-'.join(parts)}"


def write_tensorboard(runs: Iterable[Curve], out: Path) -> None:
    """A folder of events for each run."""
    from torch.utils.tensorboard import SummaryWriter

    for curve in runs:
        with SummaryWriter(out / curve.name) as writer:
            writer.add_text("run", "\n".join(f"    {key}: {value}" for key, value in curve.settings.items()))
            for point in curve.points:
                for quantity in point.keys() - {"step"}:
                    writer.add_scalar(quantity, point[quantity], point["step"])
            for quantity, value in curve.metrics.items():
                writer.add_scalar(f"end/{quantity}", value, curve.settings["steps"])


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="export", description="Write learning curves for TensorBoard.")
    parser.add_argument("bundle", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args(argv)
    if not find_spec("tensorboard"):
        raise ConfigError("tensorboard: not installed; python -m pip install -c constraints.txt '.[tensorboard]'")
    if options.out.exists():
        raise ConfigError(f"{options.out}: is there already; expected the name of a new folder")
    runs = list(curves(read_bundle(options.bundle)))
    write_tensorboard(runs, options.out)
    print(f"{options.out}: {len(runs)} run{'s' * (len(runs) != 1)}")


if __name__ == "__main__":
    run(main)
