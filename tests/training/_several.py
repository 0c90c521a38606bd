"""What each of two processes does in the tests of several.

`python -m tests.training._several FOLDER` starts them and waits.
"""

import shutil
import sys
from contextlib import contextmanager
from pathlib import Path

import torch

from tests._jobs import ADAPTIVE, bitext, corpus, job, translation
from workflow.config.job import Job
from workflow.tasks.spec import TASKS, load
from workflow.training import loop
from workflow.training.processes import ALONE, Devices, in_processes, join_devices
from workflow.training.run import Run

STEPS = 20
QUIET = {"net": {"dropout": 0.0, "attention_dropout": 0.0}}
PACE = {"steps": STEPS, "evaluate_every": 10, "checkpoint_every": 10}
SENTENCES = PACE | {"average": 1, "average_every": 1, "net": {"dropout": 0.0}}
TRANSFORMER_XL = {
    "span": {"name": "full", "cache": 16, "evaluation_cache": None},
    "position": {"name": "transformer_xl", "clamp": None},
    "net": {"name": "transformer_xl", **QUIET["net"]},
    "optimiser": "adam",
    "lr": 0.005,
    "clip": 0.25,
}
TOP_K = {"name": "top_k", "k": 4}
DYNAMIC = {"name": "dynamic", "limit": 16, "ramp": 4, "penalty_weight": 0.02, "start": -1.0}
CASES = {
    "adaptive": job(**PACE, **QUIET, span=ADAPTIVE | {"penalty_weight": 0.02}),
    "dynamic": job(**PACE, **QUIET, span=DYNAMIC),
    "top_k, accumulated": job(**PACE, **QUIET, selection=TOP_K, accumulate=2),
    "transformer_xl": job(**PACE, **TRANSFORMER_XL),
    "sentences": translation(**SENTENCES, normaliser={"name": "entmax_alpha"}),
    "whole batches each": translation(**SENTENCES, selection=TOP_K, accumulate=2),
    "dynamic encoder": translation(**SENTENCES, span=DYNAMIC, accumulate=3),
}
DROPPING = job(**PACE)  # in 32 bits, with dropout


@contextmanager
def in_64_bits():
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


def train(case: Job, folder: Path, devices: Devices = ALONE) -> None:
    """Train a case to its end, from the checkpoint in `folder` if any.

    The checkpoint of the middle stays as half.pt, what came out as end.pt.
    """
    folder.mkdir(parents=True, exist_ok=True)
    data = corpus() if case.task == "char_lm" else bitext()
    runner = load(TASKS[case.task].runner)
    run = Run(case, runner, data, folder, torch.device("cpu"), devices=devices)
    for name, parameter in run.model.named_parameters():
        if name.endswith("span.fraction"):
            parameter.data.fill_(0.5)  # learned spans begin where the penalty can move them
    run.resume()

    def keep() -> None:
        if run.step == STEPS // 2 and devices.first:
            shutil.copy(folder / "checkpoint.pt", folder / "half.pt")

    loop.train(run, keep)
    if devices.first:
        end = {"weights": run.model.state_dict(), "curve": run.curve, "log": run.log}
        torch.save(end, folder / "end.pt")


def go_on(half: Path, folder: Path) -> Path:
    """Put the checkpoint of the middle of one run into the folder of another."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(half / "half.pt", folder / "checkpoint.pt")
    return folder


def main(folder: Path) -> None:
    """Train all cases anew in `two`, and in `begun` from the checkpoints of one process."""
    torch.set_num_threads(1)
    with join_devices(torch.device("cpu")) as devices:
        with in_64_bits():
            for name, case in CASES.items():
                train(case, folder / "two" / name, devices)
                train(case, folder / "begun" / name, devices)
        train(DROPPING, folder / "whole", devices)
        if devices.first:
            go_on(folder / "whole", folder / "again")
        torch.distributed.barrier()
        train(DROPPING, folder / "again", devices)


if __name__ == "__main__":
    in_processes(2, lambda: main(Path(sys.argv[1])))
