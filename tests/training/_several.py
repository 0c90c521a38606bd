"""What each of two processes does in the tests: `python -m tests.training._several FOLDER` starts
them and waits.
"""

import shutil
import sys
from contextlib import contextmanager
from itertools import product
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
STREAMS = PACE | QUIET
XL = {
    "span": {"name": "full", "cache": 16, "evaluation_cache": None},
    "optimiser": "adam",
    "lr": 0.005,
    "clip": 0.25,
}
XL |= {
    "position": {"name": "transformer_xl", "clamp": None},
    "net": {"name": "transformer_xl", **QUIET["net"]},
}
SENTENCES = PACE | {"average": 1, "average_every": 1, "net": {"dropout": 0.0}}
FAR = {"limit": 16, "ramp": 4, "penalty_weight": 0.02}
CASES = {
    "adaptive": job(**{**STREAMS, "span": {**ADAPTIVE, "penalty_weight": 0.02}}),
    "dynamic": job(**{**STREAMS, "span": {**FAR, "name": "dynamic", "start": -1.0}}),
    "top_k, accumulated": job(
        **{**STREAMS, "selection": {"name": "top_k", "k": 4}, "accumulate": 2}
    ),
    "transformer_xl": job(**{**STREAMS, **XL}),
    "sentences": translation(**SENTENCES, normaliser={"name": "entmax_alpha"}),
    "whole batches each": translation(
        **SENTENCES, accumulate=2, selection={"name": "top_k", "k": 2}
    ),
    "adaptive encoder": translation(**SENTENCES, tokens=30, span={**FAR, "name": "adaptive"}),
    "dynamic encoder": translation(
        **SENTENCES, accumulate=3, span={**FAR, "name": "dynamic", "start": -1.0}
    ),
}
DROPPING = job(**PACE)  # in 32 bits, with dropout


@contextmanager
def in_64_bits():
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


def start(case: Job, folder: Path, devices: Devices = ALONE) -> Run:
    """Begin a case, at its first step or where the checkpoint in `folder` stands."""
    folder.mkdir(parents=True, exist_ok=True)
    text = corpus() if case.task == "char_lm" else bitext()
    run = Run(
        case, load(TASKS[case.task].runner), text, folder, torch.device("cpu"), devices=devices
    )
    for name, parameter in run.model.named_parameters():
        if name.endswith("span.fraction"):
            parameter.data.fill_(0.5)  # learned spans begin where the penalty can move them
    run.resume()
    return run


def train(case: Job, folder: Path, devices: Devices = ALONE) -> None:
    """Train a case to its end; keep the checkpoint of the middle as half.pt, what came out as
    end.pt.
    """
    run = start(case, folder, devices)

    def keep() -> None:
        if run.step == STEPS // 2 and devices.first:
            shutil.copy(folder / "checkpoint.pt", folder / "half.pt")

    loop.train(run, keep)
    if devices.first:
        torch.save(
            {"weights": run.model.state_dict(), "curve": run.curve, "log": run.log},
            folder / "end.pt",
        )


def main(folder: Path) -> None:
    """Train all cases anew in FOLDER/two, and from the checkpoints of single processes in
    FOLDER/begun.
    """
    torch.set_num_threads(1)
    with join_devices(torch.device("cpu")) as devices:
        with in_64_bits():
            for name, place in product(CASES, ("two", "begun")):
                train(CASES[name], folder / place / name, devices)
        train(DROPPING, folder / "whole", devices)
        if devices.first:
            (folder / "again").mkdir()
            shutil.copy(folder / "whole" / "half.pt", folder / "again" / "checkpoint.pt")
        torch.distributed.barrier()
        train(DROPPING, folder / "again", devices)


if __name__ == "__main__":
    in_processes(2, lambda: main(Path(sys.argv[1])))
