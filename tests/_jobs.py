"""Small jobs on a small text, for tests of the loop."""

from functools import partial

import numpy as np

from workflow.config.choices import AttentionChoices
from workflow.tasks.char_lm import CharLMJob, CharLMNet, StreamEvaluation, StreamTraining
from workflow.tasks.char_lm.store import Corpus
from workflow.tasks.sequence_job import Seq2SeqAttentionChoices, SequenceTraining
from workflow.tasks.spec import JOBS, section
from workflow.tasks.store import Pairs, Split

ADAPTIVE = {"name": "adaptive", "limit": 24, "ramp": 4, "penalty_weight": 1e-4}
TOY = {"scale": "test", "corpus": "toy", "checksum": "sha256:toy"}
ALL, SOFTMAX = {"name": "all"}, {"name": "softmax"}
FULL = {"name": "full", "cache": 16, "evaluation_cache": None}
SIDES = ("encoder", "decoder", "cross")


def corpus(length=6000, symbols=7, seed=0) -> Corpus:
    """Make a text with something to learn: each symbol is often followed by the next."""
    generator = np.random.default_rng(seed)
    steps = generator.choice([1, 2], size=length, p=[0.8, 0.2])
    ids = (np.cumsum(steps) % symbols).astype(np.uint16)
    first, second = int(0.8 * length), int(0.9 * length)
    names = [chr(97 + i) for i in range(symbols)]
    return Corpus(
        "toy",
        ids[:first],
        ids[first:second],
        ids[second:],
        names,
        "sha256:toy",
        "character",
        "a toy",
    )


def job(
    span=None, selection=None, normaliser=None, position=None, net=None, seed=1, **training
) -> CharLMJob:
    sizes = {"name": "char_lm", "layers": 2, "d_model": 16, "heads": 2, "d_ff": 32, "dropout": 0.1}
    sizes |= {"attention_dropout": 0.1}
    given = {
        "block": 16,
        "batch": 4,
        "steps": 12,
        "optimiser": "adagrad",
        "lr": 0.07,
        "warmup": 4,
        "clip": 0.03,
    }
    given |= {"evaluate_every": 4, "checkpoint_every": 4, "time_limit_s": 60, **training}
    choices = {
        "span": span or ADAPTIVE,
        "selection": selection or ALL,
        "normaliser": normaliser or SOFTMAX,
    }
    choices |= {"position": position or {"name": "relative", "limit": 24}}
    about = {
        "training": StreamTraining(**given),
        "evaluation": StreamEvaluation(streams=2, block=16),
        "seed": seed,
    }
    return CharLMJob(
        **TOY, **about, attention=AttentionChoices(**choices), net=CharLMNet(**sizes | (net or {}))
    )


VARIANTS = {
    "fixed": {"span": {"name": "fixed", "limit": 24}},
    "adaptive": {},
    "dynamic": {"span": {**ADAPTIVE, "name": "dynamic", "start": -1.0}},
    "top_k": {"selection": {"name": "top_k", "k": 4}},
    **{name: {"normaliser": {"name": name}} for name in ("sparsemax", "entmax15", "entmax_alpha")},
    "transformer_xl": {"span": FULL, "position": {"name": "transformer_xl", "clamp": None}},
}
VARIANTS["transformer_xl"] |= {"net": {"name": "transformer_xl"}}


def bitext(count=400, longest=7, seed=0) -> Pairs:
    """Sentences of the letters a to h, translated by their next letters in the alphabet, in reverse
    order.
    """
    generator = np.random.default_rng(seed)
    names = ["<pad>", "<bos>", "<eos>", "<unk>", *(f"\u2581{letter}" for letter in "abcdefghi")]
    source = [
        generator.integers(4, 12, generator.integers(1, longest + 1)).astype(np.uint16)
        for _ in range(count)
    ]
    sides = source, [(sentence[::-1] + 1).astype(np.uint16) for sentence in source]
    texts = [[" ".join(names[i][1:] for i in one) for one in side] for side in sides]
    held = [
        Split(*(each[cut] for each in (*sides, *texts)))
        for cut in (slice(-40, -20), slice(-20, None))
    ]
    return Pairs(
        "toy",
        "xx",
        "yy",
        Split(*(side[:-40] for side in sides)),
        *held,
        names,
        "sha256:toy",
        "a toy",
    )


def sequences(
    task,
    selection=None,
    normaliser=None,
    apply_to=SIDES,
    net=None,
    seed=1,
    span=None,
    scored=(),
    **training,
):
    """Make a job of a task with a source and a target. scored: further settings of its
    evaluation.
    """
    sizes = {
        "layers": 2,
        "d_model": 16,
        "heads": 2,
        "d_k": 8,
        "d_v": 8,
        "d_ff": 32,
        "dropout": 0.1,
        "max_length": 16,
    }
    given = {
        "tokens": 80,
        "steps": 6,
        "optimiser": "adam_2017",
        "lr": 0.01,
        "warmup": 4,
        "schedule": "inverse_sqrt",
    }
    given |= {"clip": 1.0, "smoothing": 0.1, "average": 2, "average_every": 2}
    given |= {"evaluate_every": 3, "checkpoint_every": 2, "time_limit_s": 60, **training}
    choices = {
        "span": span or FULL,
        "selection": selection or ALL,
        "normaliser": normaliser or SOFTMAX,
    }
    choices |= {
        "position": {"name": "none"},
        "apply_to": apply_to if not span or span["name"] == "full" else ("encoder",),
    }
    evaluation = section(task, "evaluation")(beam=2, alpha=0.6, batch=8, **dict(scored))
    about = {"training": SequenceTraining(**given), "evaluation": evaluation}
    about |= {
        "attention": Seq2SeqAttentionChoices(**choices),
        "net": section(task, "net")(**sizes | (net or {})),
    }
    return JOBS[task](**TOY, **about, seed=seed)


translation = partial(sequences, "translation")
parsing = partial(sequences, "parsing")


def captioning(net=None, meteor="nltk", **changes):
    """Make a job whose METEOR is nltk's: the Java program takes seconds to start."""
    net = {"name": "captioner", "size": 16, "patch": 8, **(net or {})}
    return sequences("captioning", net=net, scored={"meteor": meteor}, **changes)


TRANSLATORS = {"softmax": {}, "top_k": {"selection": {"name": "top_k", "k": 2}}}
TRANSLATORS |= {name: VARIANTS[name] for name in ("sparsemax", "entmax15", "entmax_alpha")}
