"""Where the ticks of a logarithmic axis stand: at round numbers, three of them at least."""

from matplotlib.ticker import LogLocator, MaxNLocator

FEWEST = 3
PARTS = (1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)  # of a decade that have a tick


def log_locator(low: float, high: float) -> LogLocator | MaxNLocator:
    """The coarsest with ticks enough between two values; on a short axis, which is nearly linear, a linear one."""
    for parts in PARTS:
        locator = LogLocator(subs=parts)
        if sum(low <= tick <= high for tick in locator.tick_values(low, high)) >= FEWEST:
            return locator
    return MaxNLocator(5, min_n_ticks=FEWEST)
