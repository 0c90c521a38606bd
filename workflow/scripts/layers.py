"""Weigh and time four kinds of layer: `python -m workflow.scripts.layers OUT --measure MEASURE`.

Attention Is All You Need, Table 1, by the length of the sequence. MEASURE: layer_width,
layer_lengths, passes, seconds and memory_mb of the scale's measure of translation, as JSON. Every
memory in a process of its own; the timings take turns, with the device to themselves.
"""

from dataclasses import asdict
from itertools import product
from pathlib import Path
from statistics import fmean, median

import torch

from workflow.config.command_line import Parser, run
from workflow.config.environment import DEVICES
from workflow.costs.fresh_process import in_fresh_process, peak_memory
from workflow.costs.layer_kinds import LAYERS, step
from workflow.costs.timing import time_turn
from workflow.plan import sources
from workflow.results.record import write_text
from workflow.results.rows import write_rows
from workflow.settings.scales import Measure, read_measure
from workflow.training.failures import failure
from workflow.training.hardware import pick_device
from workflow.training.origin import describe

WARM = 8  # places of a sequence that brings a layer's libraries into memory
TIMED = ("ms", "rounds", "turns")  # turns: medians, one for each pass over all rows


def memory(name: str, n: int, width: int, device: str, budget: int) -> dict:
    """Measure the peak of a layer and its sequence, above the libraries that its kind needs."""
    on = pick_device(device)
    torch.set_num_threads(1)
    warm_up = step(name, WARM, width, on)
    warm_up()

    def make():
        return step(name, n, width, on), n

    return peak_memory(make, on, threads=1, budget=budget)


def unmeasured(how: Measure) -> list[dict]:
    """List every layer at every length: a row of layer, n, d, and of what is to be measured."""
    to_measure = dict.fromkeys((*TIMED, "status", "reason", "bytes"))
    rows = []
    for name, n in product(LAYERS, sorted(how.layer_lengths)):
        about = {"layer": name, "n": n, "d": how.layer_width}
        rows.append(about | to_measure)
    return rows


def weigh_all(rows: list[dict], how: Measure, device: str) -> None:
    """Measure the memory of every row, and write it and what failed into them."""
    budget = how.memory_mb << 20
    for row in rows:
        layer = (row["layer"], row["n"], row["d"])
        peak = in_fresh_process(memory, *layer, device, budget, seconds=120)
        row["status"] = peak["status"]
        row["reason"] = peak["reason"]
        row["bytes"] = peak.get("bytes")


def time_all(rows: list[dict], how: Measure, device: torch.device) -> None:
    """Time the rows that fit, one turn in each pass, and write turns and mean into them."""
    turns: list[list[list[float]]] = [[] for _ in rows]
    for _ in range(how.passes):
        for row, taken in zip(rows, turns, strict=True):
            if row["status"] != "ok":
                continue
            try:
                timed = step(row["layer"], row["n"], row["d"], device)
                taken.append(time_turn(timed, how.seconds, device))
            except (Exception, MemoryError) as error:
                row |= asdict(failure(error))
    for row, taken in zip(rows, turns, strict=True):
        if row["status"] == "ok":
            turn_times = [1000 * median(seconds) for seconds in taken]
            row["ms"] = fmean(turn_times)
            row["rounds"] = sum(map(len, taken))
            row["turns"] = turn_times


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="layers", description="Measure time and memory of four kinds of layer.")
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--measure", type=read_measure, required=True, help="as in config/scales/, as JSON"
    )
    parser.add_argument("--device", default="auto", choices=DEVICES)
    options = parser.parse_args(argv)
    torch.set_num_threads(1)  # no thread pool may exist before the forks
    how = options.measure
    rows = unmeasured(how)
    weigh_all(rows, how, options.device)  # forks: before this process touches a GPU
    device = pick_device(options.device)
    time_all(rows, how, device)
    origin = describe(device, "fp32", sources.recorded(sources.of_script("layers")))
    cells = {key: origin[key] for key in ("device", "commit")}
    write_text(options.out, write_rows("layers", [row | cells for row in rows]))


if __name__ == "__main__":
    run(main)
