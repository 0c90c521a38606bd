"""How training scales: `python -m benchmarks.devices [--steps 40] [--rounds 3]`, on a machine that does nothing else.

Each net is trained by one process, by two, and by two that each have half of the batch to themselves, in turns.
Processes have one thread each.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests._jobs import corpus, job
from tests._training import write_job
from workflow.results.record import Record, read_record
from workflow.tasks.char_lm import store

SIZES = {  # layers, d_model, d_ff
    "2 layers of 64": {"layers": 2, "d_model": 64, "heads": 4, "d_ff": 256},
    "4 layers of 128": {"layers": 4, "d_model": 128, "heads": 4, "d_ff": 512},
    "4 layers of 256": {"layers": 4, "d_model": 256, "heads": 4, "d_ff": 1024},
}
LIMIT, BLOCK, BATCH = 512, 256, 8
WAYS = {"one": (1, 1, BATCH), "two": (1, 2, BATCH), "halves": (2, 1, BATCH // 2)}  # runs at a time, devices, batch


def train(size: dict, devices: int, batch: int, steps: int, folder: Path) -> Record:
    """Train a net that has just begun, so with short adaptive spans; return its record."""
    folder.mkdir(exist_ok=True)
    span = {"name": "adaptive", "limit": LIMIT, "ramp": 32, "penalty_weight": 2e-6}
    net = {**size, "dropout": 0.0, "attention_dropout": 0.0}
    pace = {"steps": steps, "evaluate_every": steps, "checkpoint_every": steps, "time_limit_s": 600}
    shape = {"block": BLOCK, "batch": batch, "span": span, "position": {"name": "relative", "limit": LIMIT}}
    path = write_job(job(**shape, **pace, net=net, devices=devices), folder)
    command = [sys.executable, "-m", "workflow.scripts.train", str(path), "--data", str(folder.parent / "toy.npz")]
    subprocess.run([*command, "--device", "cpu"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return read_record(folder / "record.json")


def seconds_of_a_step(runs: int, devices: int, batch: int, size: dict, steps: int, folder: Path) -> float:
    """Average the seconds of a step over so many runs at the same time."""
    places = [folder / str(number) for number in range(runs)]
    with ThreadPoolExecutor(runs) as pool:
        records = list(pool.map(lambda place: train(size, devices, batch, steps, place), places))
    return statistics.mean(batch * BLOCK / record.cost.tokens_per_s for record in records)


def measure(options) -> None:
    print("| net | parameters | ms of a step, one | two apart, halves | two | speed-up |")
    print(6 * "| --- " + "|")
    for name, size in SIZES.items():
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            store.write(folder / "toy.npz", corpus(length=40_000))
            steps: dict[str, list[float]] = {way: [] for way in WAYS}
            for _ in range(options.rounds):
                for way, shape in WAYS.items():
                    steps[way].append(seconds_of_a_step(*shape, size, options.steps, folder))
            numbers = read_record(folder / "0" / "record.json").cost.parameters
        one, two, halves = (statistics.median(taken) for taken in steps.values())
        times = [f"{1000 * each:.1f}" for each in (one, halves, two)]
        print("|", " | ".join((name, f"{numbers:,}", *times, f"{one / two:.2f}")), "|", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="devices", description="How training scales from one process to two.")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    measure(parser.parse_args())


if __name__ == "__main__":
    main()
