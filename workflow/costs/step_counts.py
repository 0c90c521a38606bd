"""The operators of one training step of a job, and the memory that it holds, from shapes alone."""

import math
from collections import Counter
from dataclasses import dataclass
from functools import partial

import torch

from models.attention.engine.scratch import SCRATCH
from models.nets.build import build
from workflow.config.job import Job
from workflow.costs.operators import Operator, Operators
from workflow.costs.outline import Outline
from workflow.tasks.spec import TASKS, load

META = torch.device("meta")
SIZES = ("bytes", "parameters")


@dataclass(frozen=True)
class Step:
    """launched: how often each operator. bytes: the most that is held at a time. parameters: of the net."""

    launched: Counter[Operator]
    bytes: int
    parameters: int

    @property
    def launches(self) -> int:
        return sum(self.launched.values())

    @property
    def macs(self) -> int:
        return sum(operator.macs * count for operator, count in self.launched.items())

    @property
    def moved(self) -> int:
        """Bytes that all operators read and write."""
        return sum(operator.bytes * count for operator, count in self.launched.items())

    def grown(self, larger: "Step", times: int) -> "Step":
        """This step, and `times` what `larger` has beyond it."""
        launched = Counter(self.launched)
        for operator, count in larger.launched.items():
            launched[operator] += times * count
        for operator, count in self.launched.items():
            launched[operator] -= times * count
        sizes = (getattr(self, key) + times * (getattr(larger, key) - getattr(self, key)) for key in SIZES)
        return Step(launched, *sizes)


def count_step(job: Job, symbols: int, z: list[list[float]], on: str) -> Step:
    """A training step with full caches and no padding. z: by layer and head, of learned spans. on: cpu | cuda.

    Layers that are alike are counted once: a net of two has one more than a net of one. So are batches of an update.
    """
    if job.net.layers > 2 and "ramp" not in job.attention.span:
        return _grown(job, "net", "layers", symbols, z, on)
    if job.training.accumulate > 2 and "tokens" in type(job.training).model_fields:
        return _grown(job, "training", "accumulate", symbols, z, on)
    return _count(job, symbols, z, on)


def _grown(job: Job, section: str, key: str, *rest) -> Step:
    """The step of a job, from those of jobs with one and with two of what it has more of."""
    jobs = [job.model_copy(update={section: getattr(job, section).model_copy(update={key: count})}) for count in (1, 2)]
    one, two = (count_step(each, *rest) for each in jobs)
    return one.grown(two, getattr(getattr(job, section), key) - 1)


def _count(job: Job, symbols: int, z: list[list[float]], on: str) -> Step:
    SCRATCH.buffers.clear()  # memory that layers share is counted with the net that takes it
    with Operators() as operators:
        with META:
            net = build(job.net.model_dump(), job.attention.model_dump(), symbols)
        _fix_spans([layer.span for layer in net.attentions if hasattr(layer.span, "ramp")], z)
        for layer in net.attentions:
            layer.implementation = Outline(on, operators)
        step, _ = load(TASKS[job.task].costs).training_step(job, net, META)
        operators.forget()
        step()
        parameters = sum(each.numel() for each in net.parameters())
        counted = Step(Counter(operators.launched), operators.peak, parameters)
    SCRATCH.buffers.clear()
    return counted


def _fix_spans(spans: list, z: list[list[float]]) -> None:
    """Let learned spans reach as far as z says: on the meta device their parameters have no values."""
    for span, extent in zip(spans, z, strict=True):
        reach = torch.tensor([min(span.limit, math.ceil(each) + span.ramp) for each in extent])
        span.reach, span.flat = partial(_constant, reach), partial(_constant, int(min(extent)))


def _constant(value, z):
    return value
