"""Character language modelling (Adaptive Attention Span, section 3): bits per character."""

import torch

from models import macs
from models.attention.engine.stream_cache import Past
from models.attention.engine.stream_cache import streams as select_streams
from workflow.config.job import Job
from workflow.config.job_schema import refuse_uneven
from workflow.data.text import store
from workflow.papers import formulas
from workflow.results.record import Macs
from workflow.tasks.probes import probe
from workflow.tasks.streams import Streams, bits, losses, score_text
from workflow.training.backends import computing, engine_of
from workflow.training.devices import ALONE, Devices
from workflow.training.update import precision


class CharLM:
    """Language modelling, character by character."""

    unit = "bpc"
    in_unit = staticmethod(bits)
    read = staticmethod(store.read)

    def __init__(self, job: Job, corpus: store.Corpus, device: torch.device, devices: Devices = ALONE):
        training, evaluation = job.training, job.evaluation
        refuse_uneven(training.batch, training.accumulate, devices.count)
        corpus.require("train", training.batch, 2 * training.block)
        for split in ("dev", "test"):
            corpus.require(split, evaluation.streams, evaluation.block)
        self.job, self.corpus, self.device, self.devices = job, corpus, device, devices
        self.streams = Streams(corpus.train, training.batch, training.block, job.seed, device, devices)
        self.past: list[Past] | None = None  # what each layer remembers of the streams
        self.passes, self.tokens = training.accumulate, training.batch * training.block

    def losses(self, net):
        training = self.job.training
        inputs, targets, begins = self.streams.read()
        if begins or self.past is None:
            self.past = net.start(len(inputs))
        self.past = yield from losses(net, training, inputs, targets, self.past)

    def after_step(self, net, step: int) -> None:
        pass

    def validate(self, net) -> dict[str, float]:
        """What a point of the learning curve says of dev."""
        dev, _ = self._score(net, "dev", self.job.evaluation.dev_tokens)
        facts = net.facts()
        return {"dev_bpc": dev, "mean_span": facts.get("mean_span"), "max_span": facts.get("max_span")}

    def evaluate(self, net) -> tuple[dict, dict, Macs]:
        """bpc on dev and test, facts of the choices with what a probe of dev text shows, and multiply-adds."""
        test, scored = self._score(net, "test", self.job.evaluation.tokens)
        dev, _ = self._score(net, "dev", self.job.evaluation.tokens)
        facts = net.facts()
        with computing(net.attentions, engine_of(net)):
            multiply_adds = self._count_macs(net, facts.get("mean_span", 0.0))
            facts |= probe(net, self.corpus)
        metrics = {"dev_bpc": dev, "test_bpc": test, "tokens_scored": float(scored)}
        return metrics, facts, multiply_adds

    def _score(self, net, split: str, limit: int) -> tuple[float, int]:
        """bpc on the first `limit` characters of a split (0: all), and how many were scored."""
        evaluation, text = self.job.evaluation, getattr(self.corpus, split)
        with precision(self.job.training, self.device):
            return score_text(net, text, streams=evaluation.streams, block=evaluation.block, limit=limit)

    def _count_macs(self, net, span: float) -> Macs:
        block, shape = self.job.training.block, self.job.net
        tokens = self.streams.data[: self.job.evaluation.streams, : 64 * block].to(self.device)
        return Macs(
            paper=formulas.mac(L=shape.layers, d=shape.d_model, ff=shape.d_ff, S=span),
            dense=macs.dense(net, block),
            executed=macs.executed(net, tokens, block),
        )

    def state_dict(self) -> dict:
        """With what is remembered of all streams, whichever device reads them."""
        past = [tuple(self.devices.join(part, dim=1) for part in parts) for parts in self.past or []]
        return {**self.streams.state_dict(), "past": past}

    def load_state_dict(self, state: dict) -> None:
        self.streams.load_state_dict(state)
        self.past = select_streams(state["past"], self.streams.rows) or None
