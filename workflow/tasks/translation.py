"""Translation with an encoder and a decoder (Attention Is All You Need; Explicit Sparse Transformer): BLEU."""

import math
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.nn.functional import log_softmax

from models.attention import All
from models.decoding import beam
from workflow.choices import Refused
from workflow.corpora import pairs
from workflow.corpora.pairs import PAD
from workflow.jobs import Job
from workflow.measure import graph
from workflow.records import Macs
from workflow.tasks.batches import Batches, sources, targets
from workflow.tasks.maps import attention_maps
from workflow.tasks.scores import counts, scores
from workflow.training.gradients import precision

SHOWN = 10  # sentences that a record quotes, each with its reference and the output


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


def fitting(corpus: pairs.Pairs, longest: int) -> pairs.Split:
    """The training pairs that a net reads whole, their ends counted; `Refused` where there are none."""
    both = zip(corpus.train.source, corpus.train.target, strict=True)
    kept = [pair for pair in both if max(map(len, pair)) < longest]
    if not kept:
        raise Refused(f"data set '{corpus.name}': every pair of train is longer than the net's longest = {longest}")
    return pairs.Split(*map(list, zip(*kept, strict=True)), [], [])


class Translation:
    """Sentence pairs, weights averaged over the last checkpoints, beam search."""

    unit = "ppl"
    scale = staticmethod(math.exp)
    read = staticmethod(pairs.read)

    def __init__(self, job: Job, corpus: pairs.Pairs, device: torch.device):
        self.job, self.corpus, self.device = job, corpus, device
        self._refuse_long_sentences()
        self.train = fitting(corpus, job.net.longest)
        self.batches = Batches(self.train, job.training.tokens, job.seed)
        self.tokens = 0
        self.kept: list[dict[str, Tensor]] = []  # the last weights, oldest first, off the device

    def _refuse_long_sentences(self) -> None:
        """What is scored is scored whole."""
        limit = self.job.net.longest
        for split in ("dev", "test"):
            for side in ("source", "target"):
                for n, sentence in enumerate(getattr(getattr(self.corpus, split), side), start=1):
                    if len(sentence) >= limit:
                        place = f"data set '{self.corpus.name}': {side} sentence {n:,} of {split}"
                        said = f"{place} has {len(sentence) + 1} pieces with its end, the net's longest = {limit}"
                        raise Refused(f"{said}; raise longest and memory in the rung, or break the sentence up")

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

    def glance(self, net) -> dict[str, float]:
        return {"dev_ppl": self._perplexity(net, self.corpus.dev, self.job.evaluation.dev_sentences)}

    def finish(self, net) -> tuple[dict, dict, Macs]:
        """Perplexity and BLEU of the averaged weights, on dev and test; what the attention looked at."""
        net.load_state_dict(averaged(self.kept))
        evaluation, corpus = self.job.evaluation, self.corpus
        parts = {split: (getattr(corpus, split), evaluation.sentences) for split in ("dev", "test")}
        metrics = {f"{split}_ppl": self._perplexity(net, *part) for split, part in parts.items()}
        scored = {split: self._score(net, *part) for split, part in parts.items()}
        metrics |= {f"{split}_{name}": value for split in scored for name, value in scored[split][1].items()}
        if self.job.attention.selection["name"] != "all":
            with every_key(net):
                dense = {split: self._score(net, *part)[1] for split, part in parts.items()}
            metrics |= {
                f"{split}_{name}_every_key": one for split, found in dense.items() for name, one in found.items()
            }
        outputs, _, signatures = scored["test"]
        facts = {name: value for name, value in net.facts().items() if "span" not in name} | {
            "signatures": signatures,
            "left_out": len(corpus.train.source) - len(self.train.source),
            "counts": counts(outputs, corpus.test.target_text[: len(outputs)]),
            "shown": list(zip(corpus.test.source_text, corpus.test.target_text, outputs, strict=False))[:SHOWN],
            "maps": attention_maps(net, corpus),
        }
        lengths = (round(sum(map(len, side)) / len(side)) + 1 for side in (corpus.test.source, corpus.test.target))
        macs = graph.pair(net, *lengths)
        return metrics, facts, Macs(dense=macs, executed=macs)

    @torch.no_grad()
    def _perplexity(self, net, split: pairs.Split, limit: int) -> float:
        """exp of the mean log-loss per piece, ends included, on the first `limit` pairs (0: all)."""
        net.eval()
        total, count = 0.0, 0
        for rows in self._by_length(split.target[: limit or None]):
            source = sources([split.source[i] for i in rows]).to(self.device)
            target = targets([split.target[i] for i in rows]).to(self.device)
            with precision(self.job.training, self.device):
                logits = net(source, target[:, :-1])
            here = pieces(target)
            total, count = total + loss(logits, target[:, 1:], 0.0)[1].item() * here, count + here
        net.train()
        return math.exp(min(total / count, 700.0))

    @torch.no_grad()
    def _score(self, net, split: pairs.Split, limit: int) -> tuple[list[str], dict, dict]:
        """Outputs for the first `limit` sentences (0: all), their scores and signatures."""
        chosen = split.source[: limit or None]
        outputs = self.translate(net, chosen)
        how = {"tokenised": self.corpus.tokenised, "compounds": self.corpus.compounds}
        return outputs, *scores(outputs, split.target_text[: len(chosen)], **how)

    @torch.no_grad()
    def translate(self, net, sentences: list) -> list[str]:
        """Beam search; in the order the sentences came."""
        net.eval()
        evaluation, found = self.job.evaluation, {}
        for rows in self._by_length(sentences):
            source = sources([sentences[i] for i in rows]).to(self.device)
            with precision(self.job.training, self.device):
                ids = beam(net, source, width=evaluation.beam, alpha=evaluation.alpha, longest=self.job.net.longest)
            found |= dict(zip(rows, ids, strict=True))
        net.train()
        return [pairs.decode(self.corpus.symbols, found[i]) for i in range(len(sentences))]

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


@contextmanager
def every_key(net):
    """Let every query keep all its keys, for a net that had top-k in training only (Explicit Sparse, Table 5)."""
    before = [layer.selection for layer in net.attentions]
    try:
        for layer in net.attentions:
            layer.selection = All(layer.shape)
        yield
    finally:
        for layer, selection in zip(net.attentions, before, strict=True):
            layer.selection = selection
