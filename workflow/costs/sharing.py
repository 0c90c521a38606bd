"""What it takes several devices to share a run: the gradients that travel in each update, and for how long.

An all-reduce in a ring (Patarasuk and Yuan 2009): each of N devices sends its neighbour an N-th of the gradients,
2 (N - 1) times. An update then takes, if gradients travel after all are computed,

    (an N-th of its work) + 2 (N - 1) / N  bytes of gradients / rate

DistributedDataParallel sends most of them before, so that an update of a large net takes less. That of a small one
takes more: hooks, and the word with which processes agree to go on, are not counted (docs/log.md has both). An N-th of
the work is more than an N-th of the time where a step is many small operators: a part of a batch launches as many.
"""

BYTES = 4  # of a number of a gradient; products in 16 bits leave gradients in 32


def bytes_sent(parameters: int, devices: int) -> float:
    """By each device, in one update."""
    return 2 * (devices - 1) / devices * BYTES * parameters


def shared_seconds(part: float, parameters: int, devices: int, rate: float) -> float:
    """Of an update. part: seconds of an N-th of its work on one device. rate: of the slowest link, bytes a second."""
    return part + bytes_sent(parameters, devices) / rate


def efficiency(alone: float, shared: float, devices: int) -> float:
    """The share of N times the speed of one device that is left. alone, shared: seconds of an update on 1 and on N."""
    return alone / devices / shared
