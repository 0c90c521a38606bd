"""Timing in rounds, in which candidates take turns, and the rows that are written as they come."""

import csv
import time
from collections.abc import Callable
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import median, quantiles

import torch

Step = Callable[[], object]
MEGABYTE = 2**20
WARM_UPS = 2
LONGEST_NOTE = 150  # letters


@dataclass(frozen=True)
class Row:
    """One row of the CSV.

    part: "equal", "layer", "peers", "step" or "end". case: sizes in words. bits: of a number.
    mode: "eager", "graph" (replayed from a CUDA graph) or "compiled".
    ms_median .. ms_q3: of one call, in milliseconds, median and quartiles over rounds.
    peak_MB: above what was held before.
    TFLOPs_needed: of the formula, whatever a candidate computes.
    MFU: these FLOPs per second as a share of the GPU's peak. note: an error, or "ok".
    """

    part: str
    case: str
    bits: int | str = ""
    candidate: str = ""
    mode: str = ""
    ms_median: str = ""
    ms_q1: str = ""
    ms_q3: str = ""
    peak_MB: str = ""
    TFLOPs_needed: str = ""
    MFU: str = ""
    note: str = ""


class Table:
    """A CSV file; a benchmark that is cut off leaves the rows that it has measured."""

    def __init__(self, path: Path):
        self.file = path.open("w", newline="")
        self.writer = csv.writer(self.file)
        self._write([field.name for field in fields(Row)])

    def close(self) -> None:
        self.file.close()

    def add(self, row: Row) -> None:
        self._write(astuple(row))

    def _write(self, cells) -> None:
        self.writer.writerow(cells)
        self.file.flush()
        print(*cells, flush=True)


def describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:LONGEST_NOTE]


@dataclass(frozen=True)
class Race:
    """Candidates that are timed together, and what one call of each has to compute.

    flops: of one call. peak: the FLOPs per second of the device at most.
    """

    part: str
    case: str
    bits: int
    flops: float
    peak: float

    def row(self, candidate: str, mode: str, **cells) -> Row:
        return Row(self.part, self.case, self.bits, candidate, mode, **cells)


@dataclass(frozen=True)
class Clock:
    """How long and how often is timed.

    deadline: of `time.monotonic`; what is not ready then is left out. repeat: calls of one timing.
    """

    device: torch.device
    rounds: int
    repeat: int
    deadline: float

    def milliseconds(self, step: Step) -> float:
        """Time one call, on a GPU by its own clock over `repeat` calls."""
        if self.device.type == "cpu":
            begin = time.perf_counter()
            step()
            return 1000 * (time.perf_counter() - begin)
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(self.repeat):
            step()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / self.repeat


def run_race(
    race: Race, steps: dict[tuple[str, str], Callable[[], Step]], clock: Clock, table: Table
) -> None:
    """Time candidates in rounds and write a row for each.

    steps: by (candidate, mode), a function that makes the step; one that fails is a row, too.
    """
    ready = {}
    peaks = {}
    for key, make in steps.items():
        if time.monotonic() > clock.deadline:
            table.add(race.row(*key, note="left out: no time left"))
            continue
        try:
            ready[key], peaks[key] = _warm_up(make, clock.device)
        except Exception as error:
            table.add(race.row(*key, note=describe(error)))
    times = {key: [] for key in ready}
    # In turn, so that a machine that slows down slows all of them.
    for _ in range(clock.rounds):
        for key, step in ready.items():
            times[key].append(clock.milliseconds(step))
    for key, measured in times.items():
        lower, _, upper = quantiles(measured, n=4, method="inclusive")
        middle = median(measured)
        row = race.row(
            *key,
            ms_median=f"{middle:.4f}",
            ms_q1=f"{lower:.4f}",
            ms_q3=f"{upper:.4f}",
            peak_MB=f"{peaks[key]:.0f}",
            TFLOPs_needed=f"{race.flops / 1e12:.4f}",
            MFU=f"{race.flops / (middle / 1000) / race.peak:.4f}",
        )
        table.add(row)


def _warm_up(make: Callable[[], Step], device: torch.device) -> tuple[Step, float]:
    """Make a step and call it twice; return it, and the peak of memory in MB (0 on a CPU)."""
    on_gpu = device.type == "cuda"
    held = 0
    if on_gpu:
        # What the candidate before it left in the allocator is no memory of this one.
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        held = torch.cuda.memory_allocated()
    step = make()
    for _ in range(WARM_UPS):
        step()
    if not on_gpu:
        return step, 0.0
    torch.cuda.synchronize()
    return step, (torch.cuda.max_memory_allocated() - held) / MEGABYTE


def in_a_graph(step: Step) -> Step:
    """Capture a step in a CUDA graph; return what replays it."""
    # torch asks for a warm-up on another stream than the captured one
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay
