"""Character language modelling (Adaptive Attention Span, section 3): bits per character.

And what a trained net shows of its attention, for Figures 1 and 5.
"""

from copy import deepcopy
from functools import partial

import torch

from models import macs
from models.attention import formula
from models.attention.engine.band import band
from models.attention.engine.caches import streams as select_streams
from models.attention.engine.engine import Engine, every_key
from models.attention.variant import Past, farthest
from workflow.config.job import Job
from workflow.tasks.char_lm import refuse_uneven, store
from workflow.tasks.char_lm.catalogue import refuse_short
from workflow.tasks.char_lm.streams import Streams, bits, cut, losses, score_text
from workflow.tasks.formula import mac
from workflow.tasks.frequencies import symbol_entropy
from workflow.tasks.quantities import ON_CURVE
from workflow.tasks.store import SPLITS
from workflow.tasks.weights import computing
from workflow.training.evaluation import Evaluation, MacCounts, Sample
from workflow.training.failures import attempt
from workflow.training.hardware import precision
from workflow.training.processes import ALONE, Devices


class CharLMTask:
    """Language modelling, character by character. missing: why a score or fact could not be had."""

    read = staticmethod(store.read)

    def __init__(
        self, job: Job, corpus: store.Corpus, device: torch.device, devices: Devices = ALONE
    ):
        training = job.training
        refuse_uneven(training.batch, training.accumulate, devices.count)
        refuse_short(
            corpus.name, [len(getattr(corpus, split)) for split in SPLITS], corpus.unit, job
        )
        self.job, self.corpus, self.device, self.devices = job, corpus, device, devices
        self.streams = Streams(
            corpus.train, training.batch, training.block, job.seed, device, devices
        )
        self.past: list[Past] | None = None  # what each layer remembers of the streams
        self.tokens, self.missing = training.batch * training.block, {}

    def losses(self, net):
        training = self.job.training
        inputs, targets, begins = self.streams.read()
        if begins or self.past is None:
            self.past = net.start(len(inputs))
        self.past = yield from losses(net, training, inputs, targets, self.past)

    def after_step(self, net, step: int) -> None:
        pass

    def train_point(self, nats: float) -> dict[str, float]:
        """Return the loss in training, in bits per character, for a point of the learning curve."""
        return {"train_bpc": bits(nats)}

    def validate(self, net) -> dict[str, float]:
        """Score dev for a point of the learning curve."""
        return self._point(net, self.job.evaluation.dev_tokens)[0]

    def sample(self, net) -> Sample:
        """Score the first block of dev: a point of the curve, metrics and facts.

        They have the names that `validate` and `evaluate` give, for the rehearsal of a run.
        """
        evaluation = self.job.evaluation
        point, scored = self._point(net, evaluation.streams * (evaluation.block + 1))
        metrics = {"dev_bpc": point["dev_bpc"], "tokens_scored": scored}
        return Sample(point, metrics, net.facts())

    def _point(self, net, limit: int) -> tuple[dict, int]:
        dev, scored = self._score(net, "dev", limit)
        facts = net.facts()
        on_curve = {name: facts.get(name) for name in ON_CURVE}
        return {"dev_bpc": dev, **on_curve}, scored

    def evaluate(self, net) -> Evaluation:
        """Compute bpc on dev and test, facts of the choices and of a probe of dev, and MACs."""
        known = partial(attempt, self.missing)
        limit = self.job.evaluation.tokens
        unknown = (None, None)
        score_test = partial(self._score, net, "test", limit)
        test, scored = known(["test_bpc", "tokens_scored"], score_test, unknown)
        dev, _ = known(["dev_bpc"], partial(self._score, net, "dev", limit), unknown)
        facts = net.facts()
        read = self.corpus.dev[: self.job.evaluation.dev_tokens or None]
        facts["symbol_entropy"] = symbol_entropy(read)
        with computing(net.attentions, _engine_of(net)):
            counts = ["macs_paper", "macs_dense", "macs_executed"]
            count = partial(self._count_macs, net, facts.get("mean_span", 0.0))
            found = known(counts, count)
            look = partial(probe, net, self.corpus)
            facts |= known(["attention_by_distance", "fragment"], look, {})
        metrics = {"dev_bpc": dev, "test_bpc": test, "tokens_scored": scored}
        return Evaluation(metrics, facts, found)

    def _score(self, net, split: str, limit: int) -> tuple[float, int]:
        """Compute bpc on the first `limit` characters of a split (0: all), and count them."""
        evaluation = self.job.evaluation
        with precision(self.job.training, self.device):
            return score_text(
                net,
                getattr(self.corpus, split),
                streams=evaluation.streams,
                block=evaluation.block,
                limit=limit,
            )

    def _count_macs(self, net, span: float) -> MacCounts:
        block = self.job.training.block
        shape = self.job.net
        tokens = self.streams.data[: self.job.evaluation.streams, : 64 * block].to(self.device)
        return MacCounts(
            dense=macs.dense(net, block),
            executed=macs.executed(net, tokens, block),
            paper=mac(L=shape.layers, d=shape.d_model, ff=shape.d_ff, S=span),
        )

    def state_dict(self) -> dict:
        """Return the place in the streams, and what is remembered of all of them, whichever device
        reads them.
        """
        past = [
            tuple(self.devices.join(part, dim=1) for part in parts) for parts in self.past or []
        ]
        return {**self.streams.state_dict(), "past": past}

    def load_state_dict(self, state: dict) -> None:
        self.streams.load_state_dict(state)
        self.past = select_streams(state["past"], self.streams.rows) or None


def _engine_of(net) -> Engine:
    """Return the engine that a model computes with, or a new one if it computes the definition."""
    for layer in net.attentions:
        if isinstance(layer.implementation, Engine):
            return layer.implementation
    return Engine()


BINS = 48  # of distance, on a log scale, so that a long span stays a short list
QUERIES = 64
PLACES = 8  # of what is read off


@torch.no_grad()
def probe(net, corpus) -> dict:
    """Read facts off one stretch of dev text: mean weight per key by distance, and spans that
    depend on the input.

    In 64 bits, rounded: torch's products, which sum as each processor likes, leave no trace.
    """
    net = deepcopy(net).double().eval()
    longest = max(layer.span.limit or layer.span.cache_length(0) for layer in net.attentions)
    length = min(longest + QUERIES, len(corpus.dev))
    tokens = cut(corpus.dev[:length], 1).to(next(net.parameters()).device)
    past = net.start(1)
    for block in tokens[:, :-QUERIES].split(QUERIES, 1):
        _, past = net(block, past)
    recorder = _Recorder()
    with computing(net.attentions, recorder):
        net(tokens[:, -QUERIES:], past)
    facts = {"attention_by_distance": _by_distance(recorder.weights)}
    pairs = zip(net.attentions, recorder.extents, strict=True)
    spans = [_spans(layer, z) for layer, z in pairs if z is not None and z.dim() == 4]
    if spans:
        text = [corpus.symbols[token] for token in tokens[0, -QUERIES:].tolist()]
        facts["fragment"] = {
            "text": text,
            "span": [round(span, PLACES) for span in torch.stack(spans).mean(0).tolist()],
        }
    return facts


class _Recorder:
    """Computes the definition on the engine's caches, and keeps weights B h T K and extents z of
    every layer.
    """

    def __init__(self):
        self.weights: list[torch.Tensor] = []
        self.extents: list[torch.Tensor | None] = []

    def attend(self, layer, x, past):
        z, (k, v) = layer.span.extent(x), every_key(layer, x, past)
        reach = farthest(layer, k.size(2))
        weights = formula.weights(layer.split(layer.query(x)), k, z, layer, reach=reach)
        self.weights.append(weights)
        self.extents.append(z)
        return (weights @ v).transpose(1, 2), past


def _spans(layer, z) -> torch.Tensor:
    """Average the span of each character over the heads of a layer."""
    return (z + layer.span.ramp).clamp(max=layer.span.limit).mean((0, 1))[:, 0].cpu()


def _by_distance(layers: list[torch.Tensor]) -> dict:
    """Average the weight on one key over queries and over the distances of a bin:
    weight[layer][head][bin].

    distance: the middle of a bin; keys: how many distances it holds.
    """
    window = max(weights.size(-1) for weights in layers) - QUERIES
    edges = (
        torch.logspace(0, torch.log10(torch.tensor(window + 1.0)), BINS + 1).round().long().unique()
    )
    means = [_by_rank(weights, window) for weights in layers]
    pairs = list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
    return {
        "distance": [(low + high - 1) / 2 for low, high in pairs],
        "keys": [high - low for low, high in pairs],
        "weight": [
            [
                [round(row[low - 1 : high - 1].mean().item(), PLACES) for low, high in pairs]
                for row in mean
            ]
            for mean in means
        ],
    }


def _by_rank(weights: torch.Tensor, window: int) -> torch.Tensor:
    """Average the weight at x = 1 .. window over queries, 0 beyond the layer's own keys: (h,
    window).
    """
    own = weights.size(-1) - QUERIES
    keys = weights[..., :-1] if own else weights.new_zeros(*weights.shape[:-1], QUERIES - 1)
    mean = band(keys.contiguous(), own).mean((0, 2)).flip(-1)
    return torch.nn.functional.pad(mean, (0, window - own)).cpu()
