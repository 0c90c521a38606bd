"""What so many seeds could show, from the scatter between the seeds that records hold."""

import math
from collections import defaultdict
from collections.abc import Iterable
from functools import cache

from workflow.plan.scales import load_corpora
from workflow.results.record import Record
from workflow.results.statistics import smallest_effect


@cache
def score(task: str) -> str:
    """What a run of the task is judged by: the metric that config/tasks names, on test."""
    return f"test_{load_corpora(task).metric}"


def scatter(records: Iterable[Record], task: str) -> tuple[float, int] | None:
    """The standard deviation of the task's score between seeds of one configuration, and of how many runs it comes.

    Pooled over all configurations with several. Each seed counts once, however often its record was read; None where
    no configuration has two, or where seeds do not differ.
    """
    cells: dict[str, dict[int, float]] = defaultdict(dict)
    for record in records:
        if record.status == "ok" and record.job.task == task and score(task) in record.metrics:
            cells[record.job.configuration][record.job.seed] = record.metrics[score(task)]
    several = [list(cell.values()) for cell in cells.values() if len(cell) > 1]
    squares = sum(sum((value - sum(values) / len(values)) ** 2 for value in values) for values in several)
    if not squares:
        return None
    return math.sqrt(squares / sum(len(values) - 1 for values in several)), sum(map(len, several))


def detectable_effect(deviation: float, seeds: int) -> float:
    """The smallest difference that so many pairs of seeds would show four times out of five."""
    return smallest_effect(math.sqrt(2) * deviation, seeds)
