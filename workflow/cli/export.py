"""Learning curves for other tools: `python -m workflow.cli.export tensorboard|wandb SET OUT`.

SET: the results folder of a scale, a bundle or a folder of results/precomputed. OUT: a new folder.
    tensorboard   tensorboard --logdir OUT
    wandb         Weights & Biases' offline format; nothing is sent until you say: wandb sync OUT/wandb/offline-run-*
Each library writes its own format, and is an extra: python -m pip install -c constraints.txt '.[tensorboard]'
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from workflow.compare.result_set import ResultSet, read_set
from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError
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


def curves(results: ResultSet) -> Iterator[Curve]:
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


def write_wandb(runs: Iterable[Curve], out: Path) -> None:
    """An offline run for each run. What W&B would say of this machine is not written: it did not train them."""
    os.environ.setdefault("WANDB_ERROR_REPORTING", "false")  # read when it is imported
    import wandb

    quiet = wandb.Settings(
        silent=True, console="off", disable_git=True, disable_code=True, x_disable_meta=True, x_disable_stats=True
    )
    out.mkdir(parents=True)
    for curve in runs:
        group, about = curve.settings["ablation"], {"name": curve.name, "id": curve.settings["digest"]}
        started = {"mode": "offline", "dir": out, "project": "attention", "group": group, "settings": quiet}
        with wandb.init(**started, **about, config=curve.settings) as writer:
            for point in curve.points:
                writer.log({key: value for key, value in point.items() if key != "step"}, step=point["step"])
            writer.summary.update(curve.metrics)


WRITERS = {"tensorboard": write_tensorboard, "wandb": write_wandb}


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="export", description="Write learning curves for other tools.")
    parser.add_argument("format", choices=WRITERS)
    parser.add_argument("set", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args(argv)
    if not find_spec(options.format):
        how = f"python -m pip install -c constraints.txt '.[{options.format}]'"
        raise ConfigError(f"{options.format}: not installed; {how}")
    if options.out.exists():
        raise ConfigError(f"{options.out}: is there already; expected the name of a new folder")
    runs = list(curves(read_set(options.set)))
    WRITERS[options.format](runs, options.out)
    print(f"{options.out}: {len(runs)} run{'s' * (len(runs) != 1)}")


if __name__ == "__main__":
    run(main)
