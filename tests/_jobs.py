"""Small jobs on a small text, for tests of the loop."""

import numpy as np

from workflow.corpora.store import Corpus
from workflow.jobs import CharLM
from workflow.sections import Attention, Net, StreamEvaluation, StreamTraining

ADAPTIVE = {"name": "adaptive", "limit": 24, "ramp": 4, "loss": 1e-4}


def corpus(length=6000, symbols=7, seed=0) -> Corpus:
    """A text with something to learn: each symbol is often followed by the next."""
    generator = np.random.default_rng(seed)
    steps = generator.choice([1, 2], size=length, p=[0.8, 0.2])
    ids = (np.cumsum(steps) % symbols).astype(np.uint16)
    first, second = int(0.8 * length), int(0.9 * length)
    names = [chr(97 + i) for i in range(symbols)]
    return Corpus("toy", ids[:first], ids[first:second], ids[second:], names, "sha256:toy", "character", "a toy")


def job(span=None, selection=None, normaliser=None, position=None, net=None, seed=1, **training) -> CharLM:
    given = {"block": 16, "batch": 4, "steps": 12, "optimiser": "adagrad", "lr": 0.07, "warmup": 4, "clip": 0.03}
    given |= {"evaluate_every": 4, "checkpoint_every": 4, "time_limit_s": 60, **training}
    sizes = {
        "name": "char_lm",
        "layers": 2,
        "width": 16,
        "heads": 2,
        "inner": 32,
        "dropout": 0.1,
        "attention_dropout": 0.1,
    }
    return CharLM(
        rung="test",
        corpus="toy",
        checksum="sha256:toy",
        attention=Attention(
            span=span or ADAPTIVE,
            selection=selection or {"name": "all"},
            normaliser=normaliser or {"name": "softmax"},
            position=position or {"name": "relative", "limit": 24},
        ),
        net=Net(**{**sizes, **(net or {})}),
        training=StreamTraining(**given),
        evaluation=StreamEvaluation(streams=2, block=16),
        seed=seed,
    )


VARIANTS = {
    "fixed": {"span": {"name": "fixed", "limit": 24}},
    "adaptive": {},
    "dynamic": {"span": {**ADAPTIVE, "name": "dynamic", "start": -1.0}},
    "top_k": {"selection": {"name": "top_k", "k": 4}},
    "sparsemax": {"normaliser": {"name": "sparsemax"}},
    "entmax15": {"normaliser": {"name": "entmax15"}},
    "entmax_alpha": {"normaliser": {"name": "entmax_alpha"}},
    "transformer_xl": {
        "span": {"name": "full", "memory": 16, "evaluation_memory": None},
        "position": {"name": "transformer_xl", "clamp": None},
        "net": {"name": "transformer_xl"},
    },
}
