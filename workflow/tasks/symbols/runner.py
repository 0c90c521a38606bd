"""Sequences of symbols: training on short ones, scores on ever longer ones."""

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from models import macs
from models.attention.engine.engine import Engine
from workflow.config.job import Job
from workflow.tasks.symbols import data
from workflow.tasks.symbols.problems._problem import NOT_ASKED, Drawn
from workflow.tasks.symbols.scores import Scores, find_reach, score
from workflow.tasks.weights import computing
from workflow.training.evaluation import Evaluation, MacCounts, Sample, ScoredAt
from workflow.training.failures import attempt
from workflow.training.hardware import in_full, precision
from workflow.training.processes import ALONE, Devices

TRAIN, DEV, TEST = range(3)  # begin the seeds of what is drawn
CURVE_SAMPLES = 256  # at the longest training length, for a point of the learning curve
CHOOSING = 2.0  # multiple at which dev is scored: learning rates are chosen by it


def bits(nats: float) -> float:
    return nats / math.log(2)


class SymbolTask:
    """One problem. missing: why a score or fact could not be had."""

    read = staticmethod(data.read)

    def __init__(
        self, job: Job, corpus: data.Corpus, device: torch.device, devices: Devices = ALONE
    ):
        self.job = job
        self.corpus = corpus
        self.device = device
        self.devices = devices
        self.batches = 0  # drawn so far
        self.missing: dict[str, str] = {}
        training = job.training
        middle = (training.shortest + training.longest) // 2
        drawn = self._draw((TRAIN,), 1, middle)
        self.tokens = training.batch * drawn.inputs.shape[1]  # of an update, on average

    def losses(self, model) -> Iterator[tuple[Tensor, Tensor, float]]:
        """Give (loss, log-loss, weight) of the next batch in `accumulate` parts."""
        training = self.job.training
        seed = (TRAIN, self.job.seed, self.batches)
        self.batches += 1
        length = np.random.default_rng(seed).integers(training.shortest, training.longest + 1)
        drawn = self._draw((*seed, 0), training.batch, int(length))

        rows = self.devices.rows(training.batch)
        inputs = self._tensor(drawn.inputs[rows])
        targets = self._tensor(drawn.targets[rows])
        parts = training.accumulate
        for some, asked in zip(inputs.chunk(parts), targets.chunk(parts), strict=True):
            with precision(training, self.device):
                logits = model(some)
            loss = _loss(logits, asked)
            yield loss, loss, 1 / parts

    def after_step(self, model, step: int) -> None:
        pass

    def train_point(self, nats: float) -> dict[str, float]:
        """Return the loss in training, in bits per symbol that is asked for."""
        return {"train_bits": bits(nats)}

    def validate(self, model) -> dict[str, float]:
        """Score dev at the longest training length, for a point of the learning curve."""
        loss, scores = self._score(model, DEV, 1.0, CURVE_SAMPLES)
        return {"dev_bits": loss, "dev_accuracy": scores.accuracy}

    def sample(self, model) -> Sample:
        """Score a few samples of dev: a point of the curve, metrics and facts."""
        loss, scores = self._score(model, DEV, 1.0, 2)
        point = {"dev_bits": loss, "dev_accuracy": scores.accuracy}
        return Sample(point, point, model.facts())

    def evaluate(self, model) -> Evaluation:
        """Score test at every multiple of the training length, and dev at `CHOOSING`."""
        known = partial(attempt, self.missing)
        evaluation = self.job.evaluation
        choose = partial(self._score, model, DEV, CHOOSING, evaluation.samples)
        dev_bits, dev = known(["dev_bits", "dev_accuracy"], choose, (None, None))
        metrics = {"dev_bits": dev_bits}
        if dev:
            metrics |= {"dev_accuracy": dev.accuracy, "dev_exact": dev.exact}
            metrics["dev_prefix"] = dev.prefix

        scored = known(["test_accuracy"], partial(self._score_every_length, model), {})
        over = []
        for multiple, (loss, at) in scored.items():
            named = {"test_accuracy": at.accuracy, "test_exact": at.exact, "test_prefix": at.prefix}
            over.append(ScoredAt(multiple, at.count, named))
            if multiple == 1:
                metrics |= {"test_bits": loss, **named}
        facts = model.facts()
        if scored:
            accuracies = [at.accuracy for _, at in scored.values()]
            reach = find_reach(evaluation.multiples, accuracies)
            metrics["test_reach"] = reach.doublings
            facts["censored"] = reach.censored
        macs_of = known(["macs_dense", "macs_executed"], partial(self._count_macs, model))
        return Evaluation(metrics, facts, macs_of, tuple(over))

    def _score_every_length(self, model) -> dict[float, tuple[float, Scores]]:
        evaluation = self.job.evaluation
        scored = {}
        for multiple in evaluation.multiples:
            is_near = multiple <= evaluation.near
            samples = evaluation.samples if is_near else evaluation.far_samples
            scored[multiple] = self._score(model, TEST, multiple, samples)
        return scored

    @torch.no_grad()
    def _score(self, model, split: int, multiple: float, samples: int) -> tuple[float, Scores]:
        """Return bits per target, and the scores, at a multiple of the longest training length."""
        length = round(multiple * self.job.training.longest)
        drawn = self._draw((split, length), samples, length)
        was_training = model.training
        model.eval()
        losses = []
        said = []
        at_once = max(1, self.job.evaluation.symbols // drawn.inputs.shape[1])
        for start in range(0, samples, at_once):
            rows = slice(start, start + at_once)
            with precision(self.job.training, self.device):
                logits = model(self._tensor(drawn.inputs[rows]))
            targets = self._tensor(drawn.targets[rows])
            losses.append(_loss(logits, targets, "sum").item())
            said.append(logits.argmax(-1).cpu().numpy())
        model.train(was_training)
        asked = int((drawn.targets != NOT_ASKED).sum())
        return bits(sum(losses) / asked), score(np.concatenate(said), drawn.targets)

    def _count_macs(self, model) -> MacCounts:
        """Count MACs per symbol of one sequence of the longest training length."""
        drawn = self._draw((TRAIN,), 1, self.job.training.longest)
        symbols = self._tensor(drawn.inputs)
        with computing(model.attentions, Engine()):
            dense, executed = macs.sequence(model, symbols)
        return MacCounts(dense=dense, executed=executed)

    def _draw(self, seed: tuple[int, ...], samples: int, length: int) -> Drawn:
        return self.corpus.problem.draw(seed, samples, length)

    def _tensor(self, symbols: np.ndarray) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(symbols, np.int64)).to(self.device)

    def state_dict(self) -> dict:
        return {"batches": self.batches}

    def load_state_dict(self, state: dict) -> None:
        self.batches = state["batches"]


def _loss(logits: Tensor, targets: Tensor, reduction: str = "mean") -> Tensor:
    """Compute the negative log-likelihood of what is asked, in nats. logits: B L V, targets: B L.

    Other symbols are not predicted.
    """
    return cross_entropy(
        in_full(logits.flatten(0, 1)),
        targets.flatten(),
        ignore_index=NOT_ASKED,
        reduction=reduction,
    )
