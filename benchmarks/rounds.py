"""Timing in rounds, in which candidates take turns, and the rows that are written as they come."""

import csv
import time
from collections.abc import Callable
from dataclasses import astuple, dataclass, fields
from functools import partial
from pathlib import Path
from statistics import median, quantiles

import torch
from torch.profiler import ProfilerActivity, profile

Step = Callable[[], object]
MEGABYTE = 2**20
WARM_UPS = 2
LONGEST_NOTE = 150  # letters


@dataclass(frozen=True)
class Row:
    """One row of the CSV.

    part: "step", "seeds", "layer", "choice", "peers", "equal" or "end". case: sizes in words. bits:
    of a number. mode: "eager", or a kind of graph.
    ms_median .. ms_q3: of one call, in milliseconds, median and quartiles over rounds.
    bound_ms: below which no code can be on this GPU, by its products and bytes.
    MFU: the FLOPs of the formula per second, whatever a candidate computes, as a share of the peak.
    kernels: of one call. peak_MB: above what was held before.
    made_s: to make it and call it twice, compilation included. note: an error, or "ok".
    """

    part: str
    case: str
    bits: int | str = ""
    candidate: str = ""
    mode: str = ""
    ms_median: str = ""
    ms_q1: str = ""
    ms_q3: str = ""
    bound_ms: str = ""
    MFU: str = ""
    kernels: int | str = ""
    peak_MB: str = ""
    made_s: str = ""
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
class Peak:
    """What a GPU does in a second at most. flops: by the bits of a number. bytes: of its memory."""

    flops: dict[int, float]
    bytes: float


# without sparsity (NVIDIA's data sheets of the SXM modules)
FLOPS = {16: 989e12, 32: 67e12}
H100 = Peak(FLOPS, 3.35e12)
H200 = Peak(FLOPS, 4.8e12)


def peak_of(device: torch.device) -> Peak:
    """Return the peak of an H200 for one, and that of an H100 for any other device."""
    if device.type == "cuda" and "H200" in torch.cuda.get_device_name(device):
        return H200
    return H100


@dataclass(frozen=True)
class Bound:
    """What one call has to compute, and which bytes it must move. bytes: 0 where not counted."""

    flops: float
    bytes: float = 0.0

    def seconds(self, peak: Peak, bits: int) -> float:
        return max(self.flops / peak.flops[bits], self.bytes / peak.bytes)


@dataclass(frozen=True)
class Race:
    """Candidates that are timed together, and what one call of each has to do at least."""

    part: str
    case: str
    bits: int
    bound: Bound

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


@dataclass(frozen=True)
class Ready:
    """A step that has been called. made: seconds until then. peak: MB above those held before."""

    step: Step
    made: float
    peak: float


def run_race(
    race: Race, steps: dict[tuple[str, str], Callable[[], Step]], clock: Clock, table: Table
) -> None:
    """Time candidates in rounds and write a row for each.

    steps: by (candidate, mode), a function that makes the step; one that fails is a row, too.
    """
    # torch compiles a function for a few sizes and then refuses
    torch.compiler.reset()
    ready: dict[tuple[str, str], Ready] = {}
    for key, make in steps.items():
        if time.monotonic() > clock.deadline:
            table.add(race.row(*key, note="left out: no time left"))
            continue
        try:
            ready[key] = _warm_up(make, clock.device)
        # of torch, a compiler or the driver: the others are timed all the same
        except Exception as error:
            table.add(race.row(*key, note=describe(error)))
    times = {key: [] for key in ready}
    # In turn, so that a machine that slows down slows all of them.
    for _ in range(clock.rounds):
        for key, each in ready.items():
            times[key].append(clock.milliseconds(each.step))
    peak = peak_of(clock.device)
    for key, measured in times.items():
        lower, _, upper = quantiles(measured, n=4, method="inclusive")
        middle = median(measured)
        per_second = race.bound.flops / (middle / 1000)
        row = race.row(
            *key,
            ms_median=f"{middle:.4f}",
            ms_q1=f"{lower:.4f}",
            ms_q3=f"{upper:.4f}",
            bound_ms=f"{1000 * race.bound.seconds(peak, race.bits):.4f}",
            MFU=f"{per_second / peak.flops[race.bits]:.4f}",
            # after all timings: the profiler stays attached
            kernels=count_kernels(ready[key].step) if clock.device.type == "cuda" else "",
            peak_MB=f"{ready[key].peak:.0f}",
            made_s=f"{ready[key].made:.1f}",
        )
        table.add(row)


def _warm_up(make: Callable[[], Step], device: torch.device) -> Ready:
    """Make a step and call it twice; on a GPU count the memory that it takes."""
    on_gpu = device.type == "cuda"
    held = 0
    if on_gpu:
        # What the candidate before it left in the allocator is no memory of this one.
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        held = torch.cuda.memory_allocated()
    began = time.perf_counter()
    step = make()
    for _ in range(WARM_UPS):
        step()
    if not on_gpu:
        return Ready(step, time.perf_counter() - began, peak=0.0)
    torch.cuda.synchronize()
    made = time.perf_counter() - began
    peak = (torch.cuda.max_memory_allocated() - held) / MEGABYTE
    return Ready(step, made, peak)


def count_kernels(step: Step) -> int:
    """Count the kernels of a call, and the copies among them."""
    with profile(activities=[ProfilerActivity.CUDA]) as profiled:
        step()
        torch.cuda.synchronize()
    on_gpu = torch.autograd.DeviceType.CUDA
    events = profiled.events()
    return sum(event.device_type == on_gpu and not event.is_user_annotation for event in events)


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
    return partial(_replay, graph, step)


def _replay(graph: torch.cuda.CUDAGraph, step: Step) -> None:
    """Replay a captured step, which holds the tensors that the graph reads: the graph does not."""
    graph.replay()
