"""What it costs to begin a run: `python -m benchmarks.starting [--runs 100]`, in the project's folder, on Linux.

Empty runs one after the other, each by itself and each in a ready process (workflow/ready): a script of either group
that reads its words and ends, a training of one update, and the measures of a configuration. The ready process is
started anew for each line, and its start counts.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests._jobs import corpus, job
from tests._training import write_job
from workflow.config.environment import READY, environment
from workflow.data.text import store


def commands(folder: Path) -> dict[str, list[str]]:
    """What is run, by what the table calls it."""
    store.write(folder / "toy.npz", corpus())
    one = write_job(job(steps=1, evaluate_every=1, checkpoint_every=1), folder)
    outputs = ["--flops", str(folder / "flops.json"), "--memory", str(folder / "memory.json")]
    return {
        "train, --help": ["train", "--help"],
        "claims, --help": ["claims", "--help"],
        "train, one update": ["train", str(one), "--data", str(folder / "toy.npz"), "--device", "cpu"],
        "costs of its net": ["costs", str(folder / "weights.pt"), *outputs, "--device", "cpu"],
    }


def timed(words: list[str], runs: int, ready: str) -> float:
    """Seconds of so many runs. ready: as `ATTENTION_READY`."""
    command = [sys.executable, "-m", f"workflow.scripts.{words[0]}", *words[1:]]
    variables = {**os.environ, **environment(), READY: ready}
    began = time.perf_counter()
    for _ in range(runs):
        subprocess.run(command, env=variables, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def in_ready_process(work: Callable[[str], float]) -> float:
    """`work` with a ready process of its own, which ends with it."""
    with subprocess.Popen(["sleep", "infinity"]) as master:
        try:
            return work(str(master.pid))
        finally:
            master.kill()


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="starting", description="What it costs to begin a run.")
    parser.add_argument("--runs", type=int, default=100)
    runs = parser.parse_args(argv).runs
    columns = ("by themselves", "each", "ready process", "each", "ratio")
    print(f"{f'{runs} runs, seconds':<20}" + "".join(f"{column:>15}" for column in columns))
    with tempfile.TemporaryDirectory() as folder:
        for name, words in commands(Path(folder)).items():
            alone = timed(words, runs, "no")
            ready = in_ready_process(lambda number, words=words: timed(words, runs, number))
            row = (alone, alone / runs, ready, ready / runs, alone / ready)
            print(f"{name:<20}" + "".join(f"{value:>15.2f}" for value in row), flush=True)


if __name__ == "__main__":
    main()
