"""Time the configurations of one group: those that the same questions ask for.

    python -m workflow.scripts.throughput OUT WEIGHTS... --reference reference.json --measure
    MEASURE

Runs benchmarks/test_throughput.py with the device to itself. The time of each turn is given as on
the quiet machine: times what the reference step takes there, over what it took next to the round.
Turns for which the machine was not quiet are taken once more, and left out where enough others
remain.
"""

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

import torch

from workflow.config.choices import backend_names
from workflow.config.command_line import Parser, run
from workflow.config.environment import DEVICES
from workflow.costs.timing import SLOW, run_benchmark
from workflow.costs.trained_net import TrainedRun
from workflow.results.record import write_text
from workflow.results.rows import read_rows, write_rows
from workflow.results.statistics import FEWEST, half_width, mean_interval
from workflow.settings.scales import Measure, read_measure
from workflow.training.hardware import name_of, pick_device


@dataclass(frozen=True)
class Turn:
    """A turn of one kind of step of a configuration: medians of its rounds, in ms.

    ms: of the step. reference: of the reference steps next to it. quiet: of those on the quiet
    machine. tokens: what a step reads, predicts or learns from. backend: the code that computed
    attention.
    """

    configuration: str
    kind: str
    tokens: int
    ms: float
    reference: float
    quiet: float
    backend: str | None = None

    @classmethod
    def of(cls, report: dict, quiet: dict[int, float]) -> "Turn":
        """Read a report of pytest-benchmark. quiet: ms of the reference step, by threads."""
        info = report["extra_info"]
        return cls(
            configuration=info["configuration"],
            kind=info["kind"],
            tokens=info["tokens"],
            ms=1000 * median(report["stats"]["data"]),
            reference=info["reference"],
            quiet=quiet[info["threads"]],
            backend=info.get("backend"),
        )

    @property
    def was_quiet(self) -> bool:
        return self.reference <= SLOW * self.quiet

    @property
    def corrected(self) -> float:
        """Return the ms that the step takes on the quiet machine."""
        return self.ms * self.quiet / self.reference


def take_turns(asked: list[tuple[str, TrainedRun]], time_all) -> list[Turn]:
    """Take the turns that are asked for, and once more those for which the machine was not quiet.

    time_all: takes a list of kinds and runs, and returns their `Turn`s.
    """
    turns = time_all(asked)
    slow = [(turn.kind, turn.configuration) for turn in turns if not turn.was_quiet]
    runs = {trained.job.configuration: trained for _, trained in asked}
    if not slow:
        return turns
    return turns + time_all([(kind, runs[configuration]) for kind, configuration in slow])


def pool_turns(turns: list[Turn], passes: int) -> dict[tuple[str, str], dict]:
    """Pool the turns of each (configuration, kind).

    quiet: whether the machine was quiet for enough of them. ms, tokens_per_s: means over turns.
    spread: half their 95 % interval, as a share of them.
    """
    pooled = defaultdict(list)
    for turn in turns:
        pooled[turn.configuration, turn.kind].append(turn)
    return {key: _pool(each, min(passes, FEWEST)) for key, each in pooled.items()}


def _pool(turns: list[Turn], enough: int) -> dict:
    still = [turn for turn in turns if turn.was_quiet]
    kept = still if len(still) >= enough else turns
    times = [turn.corrected for turn in kept]
    mean, low, high = mean_interval(times)
    return {
        "ms": mean,
        "tokens_per_s": fmean(1000 * kept[0].tokens / time for time in times),
        "spread": None if low is None else half_width(low, high) / mean,
        "turns": times,
        "references": [turn.reference for turn in kept],
        "quiet": len(still) >= enough,
        "backend": kept[0].backend,
    }


def build_rows(
    runs: list[TrainedRun], timed: dict, quiet: dict[int, float], device: torch.device
) -> list[dict]:
    """Make one row per configuration, with columns for each kind of step; one that was not timed
    says so.
    """
    measured = []
    for trained in runs:
        if not trained.has_weights:
            measured.append(trained.unmeasured_row("throughput"))
            continue
        row = {
            **trained.about,
            "device": device.type,
            "machine": name_of(device),
            "status": "ok",
            "reason": None,
        }
        row |= {"reference_ms": quiet[trained.job.training.threads], "quiet": True}
        for kind in trained.timed:
            speed = dict(timed.get((trained.job.configuration, kind), {}))
            if not speed:
                row["status"] = "error"
                row["reason"] = f"{kind} was not timed: see the throughput log"
                continue
            row["quiet"] = speed.pop("quiet") and row["quiet"]
            backend = speed.pop("backend")
            if kind == "train":
                row["backend"] = backend
            for column, value in speed.items():
                row[f"{kind}_{column}"] = value
        measured.append(row)
    return measured


def run_turns(
    asked: list[tuple[str, TrainedRun]], measure: Measure, device: torch.device, backend: str
) -> list[dict]:
    """Run the benchmark; return its reports, one for each turn."""
    turns = [(kind, str(trained.path.resolve())) for kind, trained in asked]
    settings = {
        "THROUGHPUT_TURNS": json.dumps(turns),
        "THROUGHPUT_MEASURE": measure.model_dump_json(),
        "THROUGHPUT_DEVICE": device.type,
        "THROUGHPUT_BACKEND": backend,
    }
    return run_benchmark(settings) if turns else []


def main(argv: list[str] | None = None) -> None:
    parser = Parser(
        prog="throughput", description="Time the configurations of one group in interleaved rounds."
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("weights", type=Path, nargs="+")
    parser.add_argument(
        "--reference", type=Path, required=True, help="output of workflow.scripts.reference"
    )
    parser.add_argument(
        "--measure", type=read_measure, required=True, help="as in config/scales/, as JSON"
    )
    parser.add_argument("--device", default="auto", choices=DEVICES)
    parser.add_argument("--backend", default="auto", choices=backend_names())
    options = parser.parse_args(argv)
    device = pick_device(options.device)
    passes = options.measure.passes
    quiet = {row["threads"]: row["ms"] for row in read_rows(options.reference)[1]}
    runs = [TrainedRun.at(path) for path in options.weights]
    once = [(kind, trained) for trained in runs if trained.has_weights for kind in trained.timed]

    def time_all(asked: list[tuple[str, TrainedRun]]) -> list[Turn]:
        reports = run_turns(asked, options.measure, device, options.backend)
        return [Turn.of(report, quiet) for report in reports]

    turns = take_turns(once * passes, time_all)
    rows = build_rows(runs, pool_turns(turns, passes), quiet, device)
    write_text(options.out, write_rows("throughput", rows))


if __name__ == "__main__":
    run(main)
