"""What tasks with an encoder and a decoder share: batches of pairs, smoothed loss, averaged weights, beam search."""

import math

import torch
from torch import Tensor
from torch.nn.functional import log_softmax

from models.decoding import beam
from workflow.config.errors import ConfigError
from workflow.config.job import Job
from workflow.costs import graph
from workflow.data.pairs import store as pairs
from workflow.data.pairs.store import PAD
from workflow.results.record import Macs
from workflow.tasks.batches import Batches, sources, targets
from workflow.training.gradients import precision


def loss(logits: Tensor, following: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """Smoothed loss and log-loss in nats, means over the pieces that are there.

    Of a piece's target 1 - smoothing lies on the piece and the rest evenly on all V (section 5.4).
    """
    there = following != PAD
    logs = log_softmax(logits[there].float(), -1)
    told = -logs.gather(1, following[there][:, None]).mean()
    return (1 - smoothing) * told - smoothing * logs.mean(), told


def pieces(target: Tensor) -> int:
    """How many pieces of targets B T + 1 are to be predicted: all but <bos> and padding."""
    return int((target[:, 1:] != PAD).sum())


def losses(net, training, batches: list[tuple[Tensor, Tensor]]):
    """(loss, log-loss, weight) of each batch; it weighs as much as it has pieces to predict."""
    counts = [pieces(target) for _, target in batches]
    for (source, target), count in zip(batches, counts, strict=True):
        with precision(training, source.device):
            logits = net(source, target[:, :-1])
        smoothed, told = loss(logits, target[:, 1:], training.smoothing)
        yield smoothed, told, count / sum(counts)


def fitting(corpus: pairs.Pairs, max_length: int) -> pairs.Split:
    """The training pairs that a net reads whole, their ends counted; `ConfigError` where there are none."""
    both = zip(corpus.train.source, corpus.train.target, strict=True)
    kept = [pair for pair in both if max(map(len, pair)) < max_length]
    if not kept:
        raise ConfigError(
            f"data set '{corpus.name}': every pair of train is longer than the net's max_length = {max_length}"
        )
    return pairs.Split(*map(list, zip(*kept, strict=True)), [], [])


SPANS = ("mean_span", "max_span")  # what a point of a learning curve tells of learned spans


class Sequences:
    """Pairs of source and target, weights averaged over the last checkpoints, beam search.

    A task says in `score` what its outputs are worth. extra: tokens that an output may have beyond its source's.
    """

    extra = 50  # Attention Is All You Need, section 6.1

    unit = "ppl"
    scale = staticmethod(math.exp)
    read = staticmethod(pairs.read)

    def __init__(self, job: Job, corpus: pairs.Pairs, device: torch.device):
        self.job, self.corpus, self.device = job, corpus, device
        self._refuse_long_sentences()
        self.train = fitting(corpus, job.net.max_length)
        self.batches = Batches(self.train, job.training.tokens, job.seed, self.sources)
        self.tokens = 0
        self.kept: list[dict[str, Tensor]] = []  # the last weights, oldest first, off the device

    def _refuse_long_sentences(self) -> None:
        """What is scored is scored whole."""
        limit = self.job.net.max_length
        for split in ("dev", "test"):
            for side in ("source", "target"):
                for n, sentence in enumerate(getattr(getattr(self.corpus, split), side), start=1):
                    if len(sentence) >= limit:
                        place = f"data set '{self.corpus.name}': {side} sentence {n:,} of {split}"
                        said = f"{place} has {len(sentence) + 1} pieces with its end, the net's max_length = {limit}"
                        raise ConfigError(f"{said}; raise max_length and cache in the scale, or break the sentence up")

    def sources(self, sentences: list) -> Tensor:
        """What the net reads, one row a sentence."""
        return sources(sentences)

    def losses(self, net):
        """An update takes `accumulate` batches."""
        training = self.job.training
        read = [self.batches.read() for _ in range(training.accumulate)]
        self.tokens = sum(pieces(target) for _, target in read)
        return losses(net, training, [(source.to(self.device), target.to(self.device)) for source, target in read])

    def after_step(self, net, step: int) -> None:
        """Keep the weights that are averaged in the end."""
        training = self.job.training
        turns, rest = divmod(training.steps - step, training.average_every)
        if rest == 0 and turns < training.average:
            self.kept.append({name: one.detach().to("cpu", copy=True) for name, one in net.state_dict().items()})

    def validate(self, net) -> dict[str, float]:
        dev = self._perplexity(net, self.corpus.dev, self.job.evaluation.dev_sentences)
        return {"dev_ppl": dev, **{name: value for name, value in net.facts().items() if name in SPANS}}

    def evaluate(self, net) -> tuple[dict, dict, Macs]:
        """Perplexity and scores of the averaged weights, on dev and test, and facts of what was written for test."""
        net.load_state_dict(averaged(self.kept))
        metrics, facts = {}, net.facts()
        for split in ("dev", "test"):
            metrics[f"{split}_ppl"] = self._perplexity(net, getattr(self.corpus, split), self.job.evaluation.sentences)
            found, told = self.score(split, self.outputs(net, split))
            metrics |= {f"{split}_{name}": value for name, value in found.items()}
        facts |= {"left_out": len(self.corpus.train.source) - len(self.train.source), **told}
        macs = graph.pair(net, *self.lengths())
        return metrics, facts, Macs(dense=macs, executed=macs)

    def lengths(self) -> tuple[int, int]:
        """Of a test source and its target on average, ends counted."""
        test = self.corpus.test
        source, target = (round(sum(map(len, side)) / len(side)) + 1 for side in (test.source, test.target))
        return source, target

    def score(self, split: str, outputs: list[list[int]]) -> tuple[dict[str, float], dict]:
        """Scores of what was written for the first sentences of a split, and facts worth keeping."""
        raise NotImplementedError

    @torch.no_grad()
    def _perplexity(self, net, split: pairs.Split, limit: int) -> float:
        """exp of the mean log-loss per piece, ends included, on the first `limit` pairs (0: all)."""
        net.eval()
        total, count = 0.0, 0
        for rows in self._by_length(split.target[: limit or None]):
            source = self.sources([split.source[i] for i in rows]).to(self.device)
            target = targets([split.target[i] for i in rows]).to(self.device)
            with precision(self.job.training, self.device):
                logits = net(source, target[:, :-1])
            here = pieces(target)
            total, count = total + loss(logits, target[:, 1:], 0.0)[1].item() * here, count + here
        net.train()
        return math.exp(min(total / count, 700.0))

    def outputs(self, net, split: str) -> list[list[int]]:
        """What beam search writes for the first sentences of a split, in their order."""
        return self.write(net, self.asked(split))

    def asked(self, split: str) -> list:
        """The sources of a split that are decoded."""
        return getattr(self.corpus, split).source[: self.job.evaluation.sentences or None]

    @torch.no_grad()
    def write(self, net, sentences: list) -> list[list[int]]:
        net.eval()
        how, found = self.job.evaluation, {}
        options = {"width": how.beam, "alpha": how.alpha, "max_length": self.job.net.max_length, "extra": self.extra}
        for rows in self._by_length(sentences):
            source = self.sources([sentences[i] for i in rows]).to(self.device)
            with precision(self.job.training, self.device):
                found |= dict(zip(rows, beam(net, source, **options), strict=True))
        net.train()
        return [found[i] for i in range(len(sentences))]

    def _by_length(self, sentences: list) -> list[list[int]]:
        """Places of the sentences in batches, those of like length side by side."""
        size, order = self.job.evaluation.batch, sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
        return [order[start : start + size] for start in range(0, len(order), size)]

    def state_dict(self) -> dict:
        return {**self.batches.state_dict(), "kept": self.kept}

    def load_state_dict(self, state: dict) -> None:
        self.batches.load_state_dict(state)
        self.kept = [{name: one.cpu() for name, one in kept.items()} for kept in state["kept"]]


def averaged(kept: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of each tensor over checkpoints (section 6.1)."""
    return {name: torch.stack([one[name] for one in kept]).mean(0) for name in kept[0]}
