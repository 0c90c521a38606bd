"""How long a step takes and what it holds, from its counts: a roofline (Williams et al. 2009) over its operators.

    seconds = sum over operators of max(2 macs / products, bytes / bandwidth) + launch

Three numbers of a device for time, and one for memory: what a process holds besides tensors. They come from a data
sheet, or are fitted to steps that were timed; how far they are off is told by steps that they were not fitted to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from scipy.optimize import least_squares

from workflow.costs.step_counts import Step

BANDWIDTH, LAUNCH = (0.1, 100.0), (1e-7, 1e-2)  # of the measured bandwidth (caches are faster); in seconds


@dataclass(frozen=True)
class Rates:
    """products: operations a second, two for each multiply-accumulate. bandwidth: bytes a second. launch: seconds.

    held: bytes besides tensors.
    """

    products: float
    bandwidth: float
    launch: float
    held: float = 0.0

    def bytes(self, step: Step) -> float:
        return step.bytes + self.held


def seconds(step: Step, rates: Rates, *, half: bool = False, devices: int = 1) -> float:
    """Of one step. half: products read and write 16 bits where the count says 32.

    devices: of an N-th of the batch, for which as many operators are launched.
    """
    shared = _table(step, half) / [devices, devices, 1]
    return float(_seconds(shared, rates.products, rates.bandwidth, rates.launch))


def _table(step: Step, half: bool = False) -> np.ndarray:
    """A row for each operator: operations, bytes, launches."""
    rows = [
        (2.0 * operator.macs, operator.bytes / (2 if half and operator.macs else 1), count)
        for operator, count in step.launched.items()
    ]
    return np.array(rows, dtype=float).reshape(-1, 3)


def _seconds(table: np.ndarray, products: float, bandwidth: float, launch: float) -> float:
    operations, moved, launches = table.T
    return (launches * (np.maximum(operations / products, moved / bandwidth) + launch)).sum()


def fit_rates(steps: Sequence[Step], spent: Sequence[float], held: Sequence[int], most: Rates) -> Rates:
    """The rates by which these steps take `spent` seconds and hold `held` bytes: least squares of logarithms.

    most: the measured rates. Products are not faster; bandwidth may be, because small tensors stay in caches.
    """
    tables, logs = [_table(step) for step in steps], np.log(spent)

    def off(exponents: np.ndarray) -> np.ndarray:
        return np.log([_seconds(table, *np.exp(exponents)) for table in tables]) - logs

    low = np.log([most.products * 0.01, most.bandwidth * BANDWIDTH[0], LAUNCH[0]])
    high = np.log([most.products, most.bandwidth * BANDWIDTH[1], LAUNCH[1]])
    start = np.log([most.products / 2, most.bandwidth, 1e-5])
    found = least_squares(off, start, bounds=(low, high), loss="soft_l1", f_scale=0.1)
    besides = median(each - step.bytes for step, each in zip(steps, held, strict=True))
    return Rates(*map(float, np.exp(found.x)), held=max(0.0, float(besides)))


def median_error(predicted: Sequence[float], measured: Sequence[float]) -> float:
    """The median of how far predictions are off, as a share of what was measured."""
    return median(abs(p / m - 1) for p, m in zip(predicted, measured, strict=True))
