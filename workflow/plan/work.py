"""How much a run computes, and how far two runs are apart. No net is built and nothing is measured."""

import math
from dataclasses import dataclass

from workflow.config.choices import AXES
from workflow.config.job import Job

# Fitted leave-one-out on the runs of scale laptop (docs/log.md): an update of a layer costs as much as 30 million
# multiply-adds before its first one, and a multiply-add of attention as much as four of a matrix.
PER_LAYER_AND_UPDATE = 3e7
OF_ATTENTION = 4
OTHER_CHOICE = 2.0  # the distance of two choices on an axis, in powers of e of work
OTHER_NET = 1.0
OTHER_CORPUS = 0.1


def per_update(job: Job) -> int:
    """Characters, or pieces with their padding, that an update learns from."""
    training = job.training
    return training.block * training.batch if hasattr(training, "block") else training.tokens * training.accumulate


def work(job: Job) -> float:
    """Of a training, in multiply-adds of a matrix: N (3e7 + tokens (4 d^2 + 2 d ff + 4 * 2 S d)) for each update."""
    net, training = job.net, job.training
    attention = OF_ATTENTION * 2 * reach(job) * net.d_model
    layer = PER_LAYER_AND_UPDATE + per_update(job) * (matrices(job) / net.layers + attention)
    return training.steps * net.layers * layer


def reach(job: Job) -> int:
    """The most keys that a query can see: S, or what the cache keeps, and no more than a sentence has."""
    span = job.attention.span
    return min(span.get("limit") or span.get("cache") or 0, getattr(job.net, "max_length", math.inf))


def matrices(job: Job) -> int:
    """Numbers in the matrices of a net's layers, roughly."""
    return job.net.layers * (4 * job.net.d_model**2 + 2 * job.net.d_model * job.net.d_ff)


@dataclass(frozen=True)
class Place:
    """Where a run stands among others: how much it computes, and how. choices: by axis."""

    task: str
    net: str
    corpus: str
    choices: tuple[str, ...]
    work: float

    @classmethod
    def of(cls, job: Job) -> "Place":
        choices = tuple(getattr(job.attention, axis)["name"] for axis in AXES)
        return cls(job.task, job.net.name, job.corpus, choices, work(job))

    def times(self, other: "Place") -> float:
        """How much more the larger of the two computes."""
        return max(self.work / other.work, other.work / self.work)

    def distance(self, other: "Place") -> float:
        """The logarithm of how much more one of them computes, and what they do otherwise."""
        choices = sum(mine != theirs for mine, theirs in zip(self.choices, other.choices, strict=True))
        apart = math.log(self.times(other)) + OTHER_CHOICE * choices
        return apart + OTHER_NET * (self.net != other.net) + OTHER_CORPUS * (self.corpus != other.corpus)
