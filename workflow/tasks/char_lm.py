"""Character language modelling (Adaptive Attention Span, section 3): bits per character."""

import torch

from models.attention.engine.stream_cache import Past
from workflow.config.job import Job
from workflow.costs import graph
from workflow.data.text import store
from workflow.papers import formulas
from workflow.results.record import Macs
from workflow.tasks.streams import Streams, bits, evaluate, losses
from workflow.training.backends import computing, engine_of
from workflow.training.gradients import precision
from workflow.training.probes import probe


class CharLM:
    """Language modelling, character by character."""

    unit = "bpc"
    read = staticmethod(store.read)

    def __init__(self, job: Job, corpus: store.Corpus, device: torch.device):
        training, evaluation = job.training, job.evaluation
        corpus.require("train", training.batch, 2 * training.block)
        for split in ("dev", "test"):
            corpus.require(split, evaluation.streams, evaluation.block)
        self.job, self.corpus, self.device = job, corpus, device
        self.streams = Streams(corpus.train, training.batch, training.block, job.seed, device)
        self.past: list[Past] | None = None  # what each layer remembers of the streams
        self.tokens = training.batch * training.block

    def losses(self, net):
        training = self.job.training
        inputs, targets, anew = self.streams.read()
        if anew or self.past is None:
            self.past = net.start(training.batch)
        self.past = yield from losses(net, training, inputs, targets, self.past)

    scale = staticmethod(bits)

    def after_step(self, net, step: int) -> None:
        pass

    def validate(self, net) -> dict[str, float]:
        dev, _ = self._evaluate(net, "dev", self.job.evaluation.dev_tokens)
        facts = net.facts()
        return {"dev_bpc": dev, "mean_span": facts.get("mean_span"), "max_span": facts.get("max_span")}

    def evaluate(self, net) -> tuple[dict, dict, Macs]:
        """bpc on dev and test, facts of the choices with what a probe of dev text shows, and multiply-adds."""
        test, scored = self._evaluate(net, "test", self.job.evaluation.tokens)
        dev, _ = self._evaluate(net, "dev", self.job.evaluation.tokens)
        facts = net.facts()
        with computing(net.attentions, engine_of(net)):
            macs, shown = self._macs(net, facts.get("mean_span", 0.0)), probe(net, self.corpus)
        metrics = {"dev_bpc": dev, "test_bpc": test, "tokens_scored": float(scored)}
        return metrics, {**facts, **shown}, macs

    def _evaluate(self, net, split: str, limit: int) -> tuple[float, int]:
        one = self.job.evaluation
        with precision(self.job.training, self.device):
            return evaluate(net, getattr(self.corpus, split), streams=one.streams, block=one.block, limit=limit)

    def _macs(self, net, span: float) -> Macs:
        block, shape = self.job.training.block, self.job.net
        tokens = self.streams.data[: self.job.evaluation.streams, : 64 * block].to(self.device)
        return Macs(
            paper=formulas.mac(L=shape.layers, d=shape.d_model, ff=shape.d_ff, S=span),
            dense=graph.dense(net, block),
            executed=graph.executed(net, tokens, block),
        )

    def state_dict(self) -> dict:
        return {
            **self.streams.state_dict(),
            "past": [tuple(part.clone() for part in parts) for parts in self.past or []],
        }

    def load_state_dict(self, state: dict) -> None:
        self.streams.load_state_dict(state)
        self.past = state["past"] or None
