"""Sequences of symbols: training on short ones, scores on ever longer ones."""

import math
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from models import macs
from models.attention.engine.engine import Engine
from models.attention.layers import computing
from workflow.config.job import Job
from workflow.tasks.symbols import data
from workflow.tasks.symbols.behaviour import Behaviour, observe
from workflow.tasks.symbols.controls import FACTORS, with_hard_maximum, with_sharper_scores
from workflow.tasks.symbols.problems._problem import NOT_ASKED, Drawn
from workflow.tasks.symbols.scores import Scores, find_reach, score
from workflow.training.evaluation import Evaluation, MacCounts, Sample, ScoredAt
from workflow.training.failures import attempt
from workflow.training.hardware import in_full, precision, send
from workflow.training.processes import ALONE, Devices

TRAIN, DEV, TEST, CONTROL = range(4)  # begin the seeds of what is drawn
CURVE_SAMPLES = 256  # at the longest training length, for a point of the learning curve
WATCHED = 8  # sequences whose attention is observed at each length


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

        own = self.devices.rows(training.batch)
        parts = training.accumulate
        inputs = np.split(drawn.inputs[own], parts)
        targets = np.split(drawn.targets[own], parts)
        for part in zip(inputs, targets, strict=True):
            logits, right = self._answer(model, *part)
            loss = _loss(logits, right)
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
        """Score test at every multiple of the training length, and dev at that of tuning."""
        evaluation = self.job.evaluation
        metrics: dict = dict.fromkeys(("dev_bits", "dev_accuracy", "test_accuracy", "test_reach"))
        facts = {**model.facts(), "sharpened": FACTORS[0]}
        with attempt(self.missing, ["dev_bits", "dev_accuracy"]):
            loss, dev = self._score(model, DEV, evaluation.chosen_at, evaluation.samples)
            metrics |= {"dev_bits": loss, **_named("dev", dev)}
            facts["sharpened"] = self._choose_factor(model)
        over = []
        with attempt(self.missing, ["test_accuracy", "test_reach"]):
            recalls = self._find_recall_head(model)
            for multiple in evaluation.multiples:
                over.append(self._score_at(model, multiple, facts["sharpened"], recalls))
            # A run's own numbers are test at the training length, and dev at that of tuning.
            for name, value in over[0].metrics.items():
                if name.startswith("test_"):
                    metrics[name] = value
            accuracies = [each.metrics["test_accuracy"] for each in over]
            reach = find_reach(evaluation.multiples, accuracies)
            metrics["test_reach"] = reach.doublings
            facts["censored"] = reach.censored
        counts = None
        with attempt(self.missing, ["macs_dense", "macs_executed"]):
            counts = self._count_macs(model)
        return Evaluation(metrics, facts, counts, tuple(over))

    def _score_at(
        self, model, multiple: float, factor: float, recalls: tuple[int, int] | None
    ) -> ScoredAt:
        """Score test at a multiple, also with the controls, and observe what attention does.

        factor: of the sharper scores. recalls: the layer and head whose mass is followed.
        """
        evaluation = self.job.evaluation
        is_near = multiple <= evaluation.near
        samples = evaluation.samples if is_near else evaluation.far_samples
        loss, scores = self._score(model, TEST, multiple, samples)
        with with_hard_maximum(model):
            _, hard = self._score(model, TEST, multiple, samples)
        with with_sharper_scores(model, factor):
            _, sharper = self._score(model, TEST, multiple, samples)
        observed = self._observe(model, multiple)
        metrics = {
            "test_bits": loss,
            **_named("test", scores),
            "test_hard_accuracy": hard.accuracy,
            "test_sharper_accuracy": sharper.accuracy,
            "test_entropy": 100 * observed.entropy,
            "test_support": observed.support,
        }
        if recalls is not None:
            metrics["test_mass"] = 100 * observed.mass[recalls].item()
        if observed.skipped is not None:
            metrics["test_skipped"] = 100 * observed.skipped
        if is_near:
            # So that a page can say which rate another criterion would have chosen.
            loss, dev = self._score(model, DEV, multiple, samples)
            metrics |= {"dev_bits": loss, **_named("dev", dev)}
        return ScoredAt(multiple, scores.count, metrics)

    def _choose_factor(self, model) -> float:
        """Choose what to multiply scores by, on sequences of its own; of equals the least."""
        chosen_at = self.job.evaluation.chosen_at
        best = FACTORS[0]
        highest = -math.inf
        for factor in FACTORS:
            with with_sharper_scores(model, factor):
                _, scores = self._score(model, CONTROL, chosen_at, CURVE_SAMPLES)
            if scores.accuracy > highest:
                best = factor
                highest = scores.accuracy
        return best

    def _find_recall_head(self, model) -> tuple[int, int] | None:
        """Find the layer and head with most weight on right keys at the training length.

        None where the problem names no right keys.
        """
        mass = self._observe(model, 1.0).mass
        if mass is None:
            return None
        layer, head = divmod(int(mass.argmax()), mass.size(1))
        return layer, head

    def _observe(self, model, multiple: float) -> Behaviour:
        length = round(multiple * self.job.training.longest)
        drawn = self._draw((TEST, length), WATCHED, length)
        is_asked = self._tensor(drawn.targets) != NOT_ASKED
        right = self.corpus.problem.right_keys(drawn)
        if right is not None:
            right = torch.tensor(right, device=self.device)
        return observe(model, self._tensor(drawn.inputs), is_asked, right)

    @torch.no_grad()
    def _score(self, model, split: int, multiple: float, samples: int) -> tuple[float, Scores]:
        """Return bits per target, and the scores, at a multiple of the longest training length."""
        length = round(multiple * self.job.training.longest)
        drawn = self._draw((split, length), samples, length)
        was_training = model.training
        model.eval()
        losses = []
        said = np.full_like(drawn.targets, NOT_ASKED)
        at_once = max(1, self.job.evaluation.symbols // drawn.inputs.shape[1])
        for start in range(0, samples, at_once):
            rows = slice(start, start + at_once)
            targets = drawn.targets[rows]
            logits, right = self._answer(model, drawn.inputs[rows], targets)
            losses.append(_loss(logits, right, "sum").item())
            said[rows][targets != NOT_ASKED] = logits.argmax(-1).cpu().numpy()
        model.train(was_training)
        asked = int((drawn.targets != NOT_ASKED).sum())
        return bits(sum(losses) / asked), score(said, drawn.targets)

    def _answer(self, model, inputs: np.ndarray, targets: np.ndarray) -> tuple[Tensor, Tensor]:
        """Return the logits where an answer is asked for, n V, and the right answers, n."""
        # counted here, for to count them on a GPU is to wait for it
        asked = np.flatnonzero(targets != NOT_ASKED)
        right = targets.ravel()[asked]
        with precision(self.job.training, self.device):
            logits = model(self._tensor(inputs), self._tensor(asked))
        return logits, self._tensor(right)

    def _count_macs(self, model) -> MacCounts:
        """Count MACs per symbol of one sequence of the longest training length."""
        drawn = self._draw((TRAIN,), 1, self.job.training.longest)
        symbols = self._tensor(drawn.inputs)
        # by groups of heads on every device: a GPU computes more than it needs
        with computing(model.attentions, Engine("band")):
            dense, executed = macs.sequence(model, symbols)
        return MacCounts(dense=dense, executed=executed)

    def _draw(self, seed: tuple[int, ...], samples: int, length: int) -> Drawn:
        return self.corpus.problem.draw(seed, samples, length)

    def _tensor(self, symbols: np.ndarray) -> Tensor:
        return send(torch.from_numpy(np.ascontiguousarray(symbols, np.int64)), self.device)

    def state_dict(self) -> dict:
        return {"batches": self.batches}

    def load_state_dict(self, state: dict) -> None:
        self.batches = state["batches"]


def _named(split: str, scores: Scores) -> dict[str, float]:
    return {
        f"{split}_accuracy": scores.accuracy,
        f"{split}_exact": scores.exact,
        f"{split}_prefix": scores.prefix,
    }


def _loss(logits: Tensor, targets: Tensor, reduction: str = "mean") -> Tensor:
    """Compute the negative log-likelihood of what is asked, in nats. logits: n V, targets: n."""
    return cross_entropy(in_full(logits), targets, reduction=reduction)
