"""What tasks with an encoder and a decoder share.

Batches of pairs, smoothed loss, averaged weights, beam search.
"""

from copy import copy

import numpy as np
import torch
from torch import Tensor

from models import macs
from models.decoding import beam
from workflow.config.errors import ConfigError
from workflow.config.job import Job
from workflow.tasks import store as pairs
from workflow.tasks.batches import Batches, count_pieces, loss, losses, perplexity, sources, targets
from workflow.tasks.frequencies import symbol_entropy
from workflow.tasks.quantities import ON_CURVE
from workflow.tasks.spec import TASKS
from workflow.training.evaluation import Evaluation, MacCounts, Sample, Score
from workflow.training.failures import attempt
from workflow.training.hardware import precision
from workflow.training.processes import ALONE, Devices


def select_fitting(corpus: pairs.Pairs, max_length: int) -> pairs.Split:
    """Select the training pairs that a model reads whole, ends counted.

    `ConfigError` where there are none.
    """
    kept = pairs.Split()
    train = corpus.train
    for source, target in zip(train.source, train.target, strict=True):
        longer = max(len(source), len(target))
        if longer < max_length:
            kept.source.append(source)
            kept.target.append(target)
    if not kept.source:
        fault = f"every training pair is longer than the model's max_length = {max_length}"
        raise ConfigError(f"dataset '{corpus.name}': {fault}")
    return kept


SAMPLED = 2  # sentences that are scored before the first update
SHOWN = 10  # outputs that a record quotes, each with its source and what is right


class SequenceTask:
    """Pairs of source and target, weights averaged over the last checkpoints, beam search.

    A task says in `score` what its outputs are worth.

    extra: tokens that an output may have beyond its source's. scored: splits whose sentences must
    fit the model. missing: why a score or fact could not be had.
    """

    extra = 50  # Attention Is All You Need, section 6.1
    scored = ("dev", "test")

    read = staticmethod(pairs.read)

    def __init__(
        self, job: Job, corpus: pairs.Pairs, device: torch.device, devices: Devices = ALONE
    ):
        self.job = job
        self.corpus = corpus
        self.device = device
        self.devices = devices
        self._refuse_long_sentences()
        self.train = select_fitting(corpus, job.net.max_length)
        tokens = job.training.tokens
        self.batches = Batches(self.train, tokens, job.seed, self.sources)
        self.tokens = 0
        self.missing: dict[str, str] = {}
        # the last weights, oldest first, off the device
        self.checkpoints: list[dict[str, Tensor]] = []

    def _refuse_long_sentences(self) -> None:
        """Refuse sentences that the model would have to cut: what is scored is scored whole."""
        for split in self.scored:
            part = getattr(self.corpus, split)
            self._refuse_long(part.source, f"source sentence {{}} of {split}")
            self._refuse_long(part.target, f"target sentence {{}} of {split}")

    def _refuse_long(self, sentences: list, what: str) -> None:
        limit = self.job.net.max_length
        for number, sentence in enumerate(sentences, start=1):
            length = len(sentence)
            if length >= limit:
                which = what.format(f"{number:,}")
                where = f"dataset '{self.corpus.name}': {which}"
                fault = f"{where} has {length + 1} pieces with its end token"
                hint = f"the model's max_length is {limit}; raise max_length and cache in the scale"
                raise ConfigError(f"{fault}; {hint}, or split the sentence")

    def sources(self, sentences: list) -> Tensor:
        """Stack what the model reads, one row a sentence."""
        return sources(sentences)

    @staticmethod
    def random_sources(
        job: Job, batch: int, length: int, symbols: int, generator: torch.Generator
    ) -> Tensor:
        """Draw sources of no meaning for measures of cost, all of one length: sentences B N."""
        shape = (batch, length)
        first = pairs.EOS + 1  # the tokens before it are in no sentence
        return torch.randint(first, symbols, shape, generator=generator)

    def losses(self, net):
        """Give the losses of an update, which takes `accumulate` batches."""
        training = self.job.training
        self.tokens = 0
        batches = []
        for _ in range(training.accumulate):
            source, target = self.batches.read()
            self.tokens += count_pieces(target)
            batches.append((source, target))
        return losses(net, training, batches, self.devices)

    def after_step(self, net, step: int) -> None:
        """Keep the weights that are averaged in the end.

        After the last step the model has their average.
        """
        training = self.job.training
        # weights are kept every `average_every` steps, counted back from the last
        steps_left = training.steps - step
        to_come, rest = divmod(steps_left, training.average_every)
        if rest == 0 and to_come < training.average:
            kept = {}
            for name, tensor in net.state_dict().items():
                kept[name] = tensor.detach().to("cpu", copy=True)
            self.checkpoints.append(kept)
        if step == training.steps:
            averaged = average(self.checkpoints)
            net.load_state_dict(averaged)

    def train_point(self, nats: float) -> dict[str, float]:
        """Return the perplexity in training, for a point of the learning curve."""
        return {"train_ppl": perplexity(nats)}

    def validate(self, net) -> dict[str, float]:
        """Score dev for a point of the learning curve."""
        limit = self.job.evaluation.dev_sentences
        dev = self._perplexity(net, self.corpus.dev, limit)
        point = {"dev_ppl": dev}
        for name, value in net.facts().items():
            if name in ON_CURVE:
                point[name] = value
        return point

    def evaluate(self, net) -> Evaluation:
        """Score on dev and test, perplexity too, and keep facts of what was written for test."""
        metrics = {}
        facts = net.facts()
        limit = self.job.evaluation.sentences
        for split in ("dev", "test"):
            name = f"{split}_ppl"
            part = getattr(self.corpus, split)
            metrics[name] = None
            with attempt(self.missing, [name]):
                metrics[name] = self._perplexity(net, part, limit)
            scores, examples = self.score_split(net, split)
            metrics |= scores
        pairs_in_all = len(self.corpus.train.source)
        facts["left_out"] = pairs_in_all - len(self.train.source)
        facts |= examples  # of test
        facts["symbol_entropy"] = self._symbol_entropy()
        counts = None
        with attempt(self.missing, ["macs_dense", "macs_executed"]):
            counts = self._macs(net)
        return Evaluation(metrics, facts, counts)

    def _macs(self, net) -> MacCounts:
        """Count MACs; the engine trims nothing of whole sentences, so both readings are equal."""
        read, written = self.lengths()
        count = macs.pair(net, read, written)
        return MacCounts(dense=count, executed=count)

    def sample(self, net) -> Sample:
        """Score sentences of dev as if the model had written their targets.

        The names are those that `validate` and `evaluate` give, for the rehearsal of a run.
        """
        # the same task, but with fewer sentences to score
        few = copy(self)
        counts = {"sentences": SAMPLED, "dev_sentences": SAMPLED}
        evaluation = self.job.evaluation.model_copy(update=counts)
        few.job = self.job.model_copy(update={"evaluation": evaluation})
        count = len(few.sources_to_decode("dev"))
        right = self.corpus.dev.target[:count]
        written = [target.tolist() for target in right]
        scores, facts = few.score("dev", written)
        return Sample(
            point=few.validate(net),
            metrics={f"dev_{name}": score for name, score in scores.items()},
            facts={**net.facts(), **facts},
        )

    def score_split(self, net, split: str, suffix: str = "") -> tuple[dict[str, Score], dict]:
        """Decode a split and score it: metrics, and facts.

        The metrics have the split before their names and the suffix behind. Both are empty if one
        fails.
        """
        lost = []  # what then has no value
        for name in TASKS[self.job.task].known:
            if name.startswith(f"{split}_") and name.endswith(suffix):
                lost.append(name)
        with attempt(self.missing, lost):
            read = self.sources_to_decode(split)
            outputs = self.write(net, read)
            scores, facts = self.score(split, outputs)
            metrics = {}
            for name, score in scores.items():
                metrics[f"{split}_{name}{suffix}"] = score
            return metrics, facts
        return {}, {}

    def _symbol_entropy(self) -> float:
        """Compute the entropy of single pieces, ends included.

        Of the part of dev that a point of the curve reads.
        """
        limit = self.job.evaluation.dev_sentences or None
        sentences = []
        for target in self.corpus.dev.target[:limit]:
            sentences.append([*target, pairs.EOS])
        pieces = np.concatenate(sentences)
        return symbol_entropy(pieces)

    def lengths(self) -> tuple[int, int]:
        """Average the lengths of a test source and of its target, ends counted."""
        test = self.corpus.test
        source = mean_length(test.source)
        target = mean_length(test.target)
        return source, target

    def score(self, split: str, outputs: list[list[int]]) -> tuple[dict[str, Score], dict]:
        """Score what was written for the first sentences of a split; return facts worth keeping."""
        raise NotImplementedError

    @torch.no_grad()
    def _perplexity(self, net, split: pairs.Split, limit: int) -> float:
        """Compute exp of the mean log-loss per piece, ends included.

        limit: how many pairs of the split are read, 0: all.
        """
        net.eval()
        total = 0.0  # nats
        pieces = 0
        read = split.target[: limit or None]
        for rows in self._by_length(read):
            to_read = [split.source[row] for row in rows]
            to_write = [split.target[row] for row in rows]
            source = self.sources(to_read).to(self.device)
            target = targets(to_write).to(self.device)
            # the model sees <bos> and all pieces before the one that it predicts
            given = target[:, :-1]
            following = target[:, 1:]
            with precision(self.job.training, self.device):
                logits = net(source, given)
            _, log_loss = loss(logits, following, smoothing=0.0)
            # a mean over the pieces of these rows, which differ from batch to batch
            count = count_pieces(target)
            total += log_loss.item() * count
            pieces += count
        net.train()
        return perplexity(total / pieces)

    def sources_to_decode(self, split: str) -> list:
        """Select the sources of a split that are decoded."""
        limit = self.job.evaluation.sentences or None
        sources = getattr(self.corpus, split).source
        return sources[:limit]

    @torch.no_grad()
    def write(self, net, sentences: list) -> list[list[int]]:
        """Write by beam search for these sources, in their order."""
        net.eval()
        evaluation = self.job.evaluation
        outputs: dict[int, list[int]] = {}
        for rows in self._by_length(sentences):
            read = [sentences[row] for row in rows]
            source = self.sources(read).to(self.device)
            with precision(self.job.training, self.device):
                written = beam(
                    net,
                    source,
                    width=evaluation.beam,
                    alpha=evaluation.alpha,
                    extra=self.extra,
                    max_length=self.job.net.max_length,
                )
            # back to the order that was asked for
            for row, output in zip(rows, written, strict=True):
                outputs[row] = output
        net.train()
        return [outputs[row] for row in range(len(sentences))]

    def _by_length(self, sentences: list) -> list[list[int]]:
        """Batch the indices of the sentences, those of like length together."""
        size = self.job.evaluation.batch
        count = len(sentences)
        lengths = [len(sentence) for sentence in sentences]
        order = sorted(range(count), key=lengths.__getitem__)
        starts = range(0, count, size)
        return [order[start : start + size] for start in starts]

    def state_dict(self) -> dict:
        return {**self.batches.state_dict(), "checkpoints": self.checkpoints}

    def load_state_dict(self, state: dict) -> None:
        self.batches.load_state_dict(state)
        self.checkpoints = []
        for weights in state["checkpoints"]:
            on_cpu = {}
            for name, tensor in weights.items():
                on_cpu[name] = tensor.cpu()
            self.checkpoints.append(on_cpu)


def average(checkpoints: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Average each tensor over checkpoints (section 6.1)."""
    means = {}
    for name in checkpoints[0]:
        tensors = [weights[name] for weights in checkpoints]
        means[name] = torch.stack(tensors).mean(0)
    return means


def mean_length(sentences: list) -> int:
    """Average the lengths of sentences, ends counted, to a whole number."""
    total = 0
    for sentence in sentences:
        total += len(sentence)
    mean = round(total / len(sentences))
    return mean + 1
