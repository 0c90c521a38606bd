"""Character language modelling (Adaptive Attention Span, section 3): bits per character.

And what a trained net shows of its attention, for Figures 1 and 5.
"""

from copy import deepcopy

import torch

from models import macs
from models.attention import formula
from models.attention.engine.band import band
from models.attention.engine.caches import streams as select_streams
from models.attention.engine.engine import Engine, every_key
from models.attention.layers import computing
from models.attention.variant import Past, farthest
from workflow.config.job import Job
from workflow.tasks.char_lm import refuse_uneven, store
from workflow.tasks.char_lm.catalogue import refuse_short
from workflow.tasks.char_lm.streams import Streams, bits, cut, losses, score_text
from workflow.tasks.formula import mac
from workflow.tasks.frequencies import symbol_entropy
from workflow.tasks.quantities import ON_CURVE
from workflow.tasks.store import SPLITS
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
        lengths = [len(getattr(corpus, split)) for split in SPLITS]
        refuse_short(corpus.name, lengths, corpus.unit, job)
        self.job = job
        self.corpus = corpus
        self.device = device
        self.devices = devices
        self.streams = Streams(
            corpus.train, training.batch, training.block, job.seed, device, devices
        )
        self.past: list[Past] | None = None  # what each layer remembers of the streams
        self.tokens = training.batch * training.block
        self.missing: dict[str, str] = {}

    def losses(self, net):
        """Give the losses of an update, which reads one block of each stream."""
        training = self.job.training
        inputs, targets, begins = self.streams.read()
        # a pass over the corpus ended, or this device has just begun
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
        limit = self.job.evaluation.dev_tokens
        point, _ = self._point(net, limit)
        return point

    def sample(self, net) -> Sample:
        """Score the first block of dev: a point of the curve, metrics and facts.

        They have the names that `validate` and `evaluate` give, for the rehearsal of a run.
        """
        evaluation = self.job.evaluation
        block = evaluation.block + 1  # the first character of a stream is not predicted
        limit = evaluation.streams * block
        point, scored = self._point(net, limit)
        metrics = {"dev_bpc": point["dev_bpc"], "tokens_scored": scored}
        return Sample(point, metrics, net.facts())

    def _point(self, net, limit: int) -> tuple[dict, int]:
        dev, scored = self._score(net, "dev", limit)
        point = {"dev_bpc": dev}
        facts = net.facts()
        for name in ON_CURVE:
            point[name] = facts.get(name)
        return point, scored

    def evaluate(self, net) -> Evaluation:
        """Compute bpc on dev and test, facts of the choices and of a probe of dev, and MACs."""
        evaluation = self.job.evaluation
        metrics: dict = dict.fromkeys(("dev_bpc", "test_bpc", "tokens_scored"))
        with attempt(self.missing, ["test_bpc", "tokens_scored"]):
            test, scored = self._score(net, "test", evaluation.tokens)
            metrics["test_bpc"] = test
            metrics["tokens_scored"] = scored
        with attempt(self.missing, ["dev_bpc"]):
            dev, _ = self._score(net, "dev", evaluation.tokens)
            metrics["dev_bpc"] = dev
        facts = net.facts()
        limit = evaluation.dev_tokens or None
        read = self.corpus.dev[:limit]
        facts["symbol_entropy"] = symbol_entropy(read)
        counts = None
        with computing(net.attentions, _engine_of(net)):
            with attempt(self.missing, ["macs_paper", "macs_dense", "macs_executed"]):
                mean_span = facts.get("mean_span", 0.0)
                counts = self._count_macs(net, mean_span)
            with attempt(self.missing, ["attention_by_distance", "fragment"]):
                facts |= probe(net, self.corpus)
        return Evaluation(metrics, facts, counts)

    def _score(self, net, split: str, limit: int) -> tuple[float, int]:
        """Compute bpc on the first `limit` characters of a split (0: all), and count them."""
        evaluation = self.job.evaluation
        tokens = getattr(self.corpus, split)
        with precision(self.job.training, self.device):
            return score_text(
                net,
                tokens,
                streams=evaluation.streams,
                block=evaluation.block,
                limit=limit,
            )

    def _count_macs(self, net, span: float) -> MacCounts:
        """Count MACs per character; those executed on the first blocks of the training corpus."""
        block = self.job.training.block
        shape = self.job.net
        rows = self.job.evaluation.streams
        tokens = self.streams.data[:rows, : COUNTED * block]
        tokens = tokens.to(self.device)
        # by groups of heads on every device: a GPU computes more than it needs
        with computing(net.attentions, Engine("band")):
            executed = macs.executed(net, tokens, block)
        return MacCounts(
            dense=macs.dense(net, block),
            executed=executed,
            paper=mac(L=shape.layers, d=shape.d_model, ff=shape.d_ff, S=span),
        )

    def state_dict(self) -> dict:
        """Return the place in the streams, and the caches of the streams of all devices."""
        past = []
        for parts in self.past or []:
            joined = tuple(self.devices.join(part, dim=1) for part in parts)
            past.append(joined)
        return {**self.streams.state_dict(), "past": past}

    def load_state_dict(self, state: dict) -> None:
        self.streams.load_state_dict(state)
        own = select_streams(state["past"], self.streams.rows)
        self.past = own or None


def _engine_of(net) -> Engine:
    """Return the engine that a model computes with, or a new one if it computes the definition."""
    for layer in net.attentions:
        if isinstance(layer.implementation, Engine):
            return layer.implementation
    return Engine()


COUNTED = 64  # blocks of each stream whose MACs are counted
BINS = 48  # of distance, on a log scale, so that a long span stays a short list
QUERIES = 64
PLACES = 8  # of what is read off


@torch.no_grad()
def probe(net, corpus) -> dict:
    """Measure on a passage of dev the mean weight per key by distance, and spans of its characters.

    In 64 bits, rounded: torch's products, which sum as each processor likes, leave no trace.
    """
    net = deepcopy(net).double().eval()
    # as many characters before the queries as any layer sees
    longest = 0
    for layer in net.attentions:
        seen = layer.span.limit or layer.span.cache_length(0)
        longest = max(longest, seen)
    length = min(longest + QUERIES, len(corpus.dev))
    tokens = cut(corpus.dev[:length], 1)
    device = next(net.parameters()).device
    tokens = tokens.to(device)
    before = tokens[:, :-QUERIES]
    queries = tokens[:, -QUERIES:]
    # fill the caches, then record how the queries attend to them
    past = net.start(1)
    for block in before.split(QUERIES, 1):
        _, past = net(block, past)
    recorder = _Recorder()
    with computing(net.attentions, recorder):
        net(queries, past)
    facts = {"attention_by_distance": _by_distance(recorder.weights)}
    spans = []
    for layer, z in zip(net.attentions, recorder.extents, strict=True):
        if z is not None and z.dim() == 4:  # it depends on the query: B h T 1
            spans.append(_spans(layer, z))
    if spans:
        over_layers = torch.stack(spans).mean(0)
        facts["fragment"] = {
            "text": [corpus.symbols[token] for token in queries[0].tolist()],
            "span": [round(span, PLACES) for span in over_layers.tolist()],
        }
    return facts


class _Recorder:
    """Computes the definition on the engine's caches; keeps each layer's weights and extents."""

    def __init__(self):
        self.weights: list[torch.Tensor] = []  # B h T K each
        self.extents: list[torch.Tensor | None] = []

    def attend(self, layer, x, past):
        # as `formula.Definition` computes, but on the keys of the engine's caches
        z = layer.span.extent(x)
        k, v = every_key(layer, x, past)
        q = layer.split(layer.query(x))
        reach = farthest(layer, k.size(2))
        weights = formula.weights(q, k, z, layer, reach=reach)
        self.weights.append(weights)
        self.extents.append(z)
        y = weights @ v  # B h T d_v
        return y.transpose(1, 2), past


def _spans(layer, z) -> torch.Tensor:
    """Average the span of each character over the heads of a layer. z: B h T 1."""
    span = z + layer.span.ramp
    span = span.clamp(max=layer.span.limit)
    over_heads = span.mean((0, 1))
    return over_heads[:, 0].cpu()


def _by_distance(layers: list[torch.Tensor]) -> dict:
    """Average the weight on one key over queries and over the distances of a bin:
    weight[layer][head][bin].

    distance: the middle of a bin; keys: how many distances it holds.
    """
    # a layer has the keys of its cache and those of the queries themselves
    keys = max(weights.size(-1) for weights in layers)
    window = keys - QUERIES
    # the first distance of each bin: 1 .. window + 1 on a log scale, without repetition
    last = torch.log10(torch.tensor(window + 1.0))
    edges = torch.logspace(0, last, BINS + 1)
    edges = edges.round().long().unique().tolist()
    firsts = edges[:-1]
    ends = edges[1:]
    bins = list(zip(firsts, ends, strict=True))
    by_layer = []
    for weights in layers:
        heads = _by_rank(weights, window)
        by_head = [_by_bin(head, bins) for head in heads]
        by_layer.append(by_head)
    return {
        "distance": [(low + high - 1) / 2 for low, high in bins],
        "keys": [high - low for low, high in bins],
        "weight": by_layer,
    }


def _by_bin(weights: torch.Tensor, bins: list[tuple[int, int]]) -> list[float]:
    """Average the weights of a head, at x = 1, 2, .., over the distances of each bin.

    bins: the first distance of each, and the one after its last.
    """
    means = []
    for low, high in bins:
        of_bin = weights[low - 1 : high - 1]
        mean = of_bin.mean()
        means.append(round(mean.item(), PLACES))
    return means


def _by_rank(weights: torch.Tensor, window: int) -> torch.Tensor:
    """Average weights B h T K at x = 1 .. window over queries: (h, window).

    They are 0 beyond the layer's own keys.
    """
    own = weights.size(-1) - QUERIES
    keys = weights[..., :-1]  # without the query itself, x = 0
    if not own:
        rows = weights.shape[:-1]
        keys = weights.new_zeros(*rows, QUERIES - 1)
    # skewed, so that a column is a distance from the query
    by_distance = band(keys.contiguous(), own)
    mean = by_distance.mean((0, 2))
    mean = mean.flip(-1)  # the nearest key first
    beyond = window - own
    mean = torch.nn.functional.pad(mean, (0, beyond))
    return mean.cpu()
