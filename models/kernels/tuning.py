"""Which tiles a kernel works in: the fastest of a short list, timed once for each kind of work on
this GPU.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from triton.runtime.errors import OutOfResources


class Tile(NamedTuple):
    """N: queries and keys of a tile, a power of two, 16 at least. warps, stages: how a program is
    started.
    """

    N: int
    warps: int
    stages: int


# By the bytes of a number; the first is used where nothing is timed. For larger tiles, or as large
# ones with fewer warps, a program has not enough registers and keeps numbers in memory.
TILES = {
    2: (Tile(32, 8, 1), Tile(16, 8, 1)),
    4: (Tile(16, 8, 2), Tile(16, 8, 1)),
    8: (Tile(16, 4, 2),),
}
# a later tile is taken if it needs less than this share of the time: noise leaves the first in
# place
FASTER = 0.95
ROUNDS = 5  # that are timed
CHOSEN: dict[str, Tile] = {}  # by the work in words


def each_that_fits(tiles: tuple[Tile, ...], run: Callable[[Tile], Any]) -> dict[Tile, Any]:
    """Call `run` with each tile that the memory of a GPU's processor holds.

    `OutOfResources` if it holds none.
    """
    results = {}
    for tile in tiles:
        try:
            results[tile] = run(tile)
        except OutOfResources as error:
            refused = error
    if not results:
        raise refused
    return results


def fastest(work: str, dtype: torch.dtype, run: Callable[[Tile], None]) -> Tile:
    """Find the tile with which `run` takes the least time on the GPU.

    Work of one name is timed once.
    """
    if work in CHOSEN:
        return CHOSEN[work]

    def time(tile: Tile) -> float:
        return milliseconds(lambda: run(tile))

    times = each_that_fits(TILES[dtype.itemsize], time)
    first = next(iter(times))
    best = min(times, key=times.get)
    is_faster = times[best] < FASTER * times[first]
    CHOSEN[work] = best if is_faster else first
    return CHOSEN[work]


def milliseconds(run: Callable[[], None]) -> float:
    """Measure the median time on the GPU; the first round compiles and is not counted.

    `triton.testing.do_bench` would ask for memory of its own, and records say how much a run
    needed.
    """
    run()
    times = []
    for _ in range(ROUNDS):
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return sorted(times)[ROUNDS // 2]


def chosen_tiles() -> list[str]:
    """Say in a line which tile was chosen for each kind of work that was timed."""
    lines = []
    for work, tile in CHOSEN.items():
        size = f"{tile.N} x {tile.N}"
        started = f"{tile.warps} warps, {tile.stages} stages"
        lines.append(f"{work}: tiles of {size}, {started}")
    return lines
