"""Whether what is measured can be believed: the counter of memory, its limit, and the clock."""

from collections.abc import Callable, Iterator

import torch

from workflow.costs.fresh_process import in_fresh_process, peak_memory
from workflow.costs.layer_kinds import turn
from workflow.doctor.finding import NOTE, WRONG, Finding, judge
from workflow.training.origin import pick_device

HELD = 256 << 20  # bytes
OFF = 0.1  # share of them by which the counter may be off
WIDTH, PRODUCTS, SECONDS = 768, 4, 0.4
TWICE = (1.5, 2.7)  # times as long for twice the work: caches and clocks change a little
TRIES = 3  # other work disturbs a timing, and never helps it


def look_at_memory_counter(device: str) -> Iterator[Finding]:
    """A known amount is held in a process of its own. Nothing may have touched a GPU before: it is forked."""
    held = in_fresh_process(_peak, device, HELD, None)
    if held["status"] != "ok":
        yield Finding("memory counter", WRONG, f"{held['status']}: {held['reason']}")
        return
    said = f"{HELD >> 20} MiB held, {held['bytes'] / 2**20:.0f} counted"
    yield judge("memory counter", abs(held["bytes"] / HELD - 1) <= OFF, said)
    refused = in_fresh_process(_peak, device, HELD, HELD // 2)["status"]
    yield judge("memory limit", refused == "oom", f"twice what is allowed ends as '{refused}'")


def _peak(device: str, size: int, budget: int | None) -> dict:
    on = pick_device(device)

    def make():
        def step() -> None:
            torch.ones(size // 8, dtype=torch.float64, device=on)

        return step, 1

    return peak_memory(make, on, 1, budget)


def look_at_clock(device: torch.device) -> Iterator[Finding]:
    """Twice the work takes about twice as long; a timing on a GPU waits for it."""
    a, b = (torch.randn(WIDTH, WIDTH, device=device) for _ in range(2))

    def work(products: int) -> Callable[[], None]:
        def run() -> None:
            for _ in range(products):
                torch.mm(a, b)

        return run

    for _ in range(TRIES):
        once, twice = (min(turn(work(products), SECONDS, device)) for products in (PRODUCTS, 2 * PRODUCTS))
        well = TWICE[0] <= twice / once <= TWICE[1]
        if well:
            break
    rate = PRODUCTS * 2 * WIDTH**3 / once / 1e9
    said = f"twice the work takes {twice / once:.2f} times as long ({1000 * once:.2g} ms, {rate:,.0f} GFLOP/s)"
    yield (
        judge("clock", well, said) if device.type == "cuda" or well else Finding("clock", NOTE, f"{said}: other work?")
    )
    if device.type == "cuda":
        long = work(64 * PRODUCTS)
        by_clock, by_gpu = min(turn(long, SECONDS, device)), _seconds_on_gpu(long)
        well = by_clock >= 0.9 * by_gpu
        yield judge(
            "timing on the GPU", well, f"{1000 * by_clock:.3g} ms by the clock, {1000 * by_gpu:.3g} by the GPU's own"
        )


def _seconds_on_gpu(run: Callable[[], None]) -> float:
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    run()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1000
