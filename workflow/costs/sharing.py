"""What it takes several devices to share a run: the gradients that travel in each update, and for how long.

An all-reduce in a ring (Patarasuk and Yuan 2009): each of N devices sends its neighbour an N-th of the gradients,
2 (N - 1) times. A step of t seconds on one device then takes, if gradients travel after all are computed,

    t / N + 2 (N - 1) / N  bytes / rate

DistributedDataParallel sends most of them before, so that this is the longest it should take.
"""

BYTES = 4  # of a number of a gradient; products in 16 bits leave gradients in 32


def bytes_sent(parameters: int, devices: int) -> float:
    """By each device, in one update."""
    return 2 * (devices - 1) / devices * BYTES * parameters


def step_seconds(alone: float, parameters: int, devices: int, rate: float) -> float:
    """Of an update that takes `alone` seconds on one device. rate: of the slowest link, in bytes a second."""
    return alone / devices + bytes_sent(parameters, devices) / rate


def efficiency(alone: float, parameters: int, devices: int, rate: float) -> float:
    """The share of N times the speed of one device that is left: 1 where sending takes no time."""
    return alone / devices / step_seconds(alone, parameters, devices, rate)
