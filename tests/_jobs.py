"""Small jobs on a small text, for tests of the loop."""

from functools import partial

import numpy as np

from workflow.config.choices import AttentionChoices
from workflow.tasks.char_lm import CharLMJob, CharLMNet, StreamEvaluation, StreamTraining
from workflow.tasks.char_lm.store import Corpus
from workflow.tasks.sequence_job import Seq2SeqAttentionChoices, SequenceTraining
from workflow.tasks.spec import JOBS, section
from workflow.tasks.store import Pairs, Split
from workflow.tasks.symbols import SymbolJob

ADAPTIVE = {"name": "adaptive", "limit": 24, "ramp": 4, "penalty_weight": 1e-4}
TOY = {"scale": "test", "corpus": "toy", "checksum": "sha256:toy"}
ALL = {"name": "all"}
SOFTMAX = {"name": "softmax"}
FULL = {"name": "full", "cache": 16, "evaluation_cache": None}
SIDES = ("encoder", "decoder", "cross")


def corpus(length=6000, symbols=7, seed=0) -> Corpus:
    """Make a corpus with something to learn: each symbol is often followed by the next."""
    generator = np.random.default_rng(seed)
    steps = generator.choice([1, 2], size=length, p=[0.8, 0.2])
    ids = (np.cumsum(steps) % symbols).astype(np.uint16)
    first = int(0.8 * length)
    second = int(0.9 * length)
    names = [chr(97 + i) for i in range(symbols)]
    parts = (ids[:first], ids[first:second], ids[second:])
    return Corpus("toy", *parts, names, "sha256:toy", "character", "a toy")


SIZES = {
    "name": "char_lm",
    "layers": 2,
    "d_model": 16,
    "heads": 2,
    "d_ff": 32,
    "dropout": 0.1,
    "attention_dropout": 0.1,
}
TRAINING = {
    "block": 16,
    "batch": 4,
    "steps": 12,
    "optimiser": "adagrad",
    "lr": 0.07,
    "warmup": 4,
    "clip": 0.03,
    "evaluate_every": 4,
    "checkpoint_every": 4,
    "time_limit_s": 60,
}


def job(
    span=None,
    selection=None,
    normaliser=None,
    position=None,
    score_scale=None,
    net=None,
    seed=1,
    **training,
) -> CharLMJob:
    """Make a job of a language model; None: as by default."""
    scale = {"score_scale": score_scale} if score_scale else {}
    attention = AttentionChoices(
        span=span or ADAPTIVE,
        selection=selection or ALL,
        normaliser=normaliser or SOFTMAX,
        position=position or {"name": "relative", "limit": 24},
        **scale,
    )
    return CharLMJob(
        **TOY,
        training=StreamTraining(**TRAINING | training),
        evaluation=StreamEvaluation(streams=2, block=16),
        attention=attention,
        net=CharLMNet(**SIZES | (net or {})),
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
        "span": FULL,
        "position": {"name": "transformer_xl", "clamp": None},
        "net": {"name": "transformer_xl"},
    },
}


def bitext(count=400, longest=7, seed=0) -> Pairs:
    """Make sentences of letters, translated by their next letters in the alphabet, in reverse."""
    generator = np.random.default_rng(seed)
    names = ["<pad>", "<bos>", "<eos>", "<unk>", *(f"\u2581{letter}" for letter in "abcdefghi")]
    source = []
    for _ in range(count):
        letters = generator.integers(4, 12, generator.integers(1, longest + 1))
        source.append(letters.astype(np.uint16))
    target = [(sentence[::-1] + 1).astype(np.uint16) for sentence in source]

    def words(sentences: list) -> list[str]:
        return [" ".join(names[i][1:] for i in sentence) for sentence in sentences]

    def held(part: slice) -> Split:
        return Split(source[part], target[part], words(source[part]), words(target[part]))

    train = Split(source[:-40], target[:-40])
    dev, test = held(slice(-40, -20)), held(slice(-20, None))
    return Pairs("toy", "xx", "yy", train, dev, test, names, "sha256:toy", "a toy")


SEQUENCE_SIZES = {
    "layers": 2,
    "d_model": 16,
    "heads": 2,
    "d_k": 8,
    "d_v": 8,
    "d_ff": 32,
    "dropout": 0.1,
    "max_length": 16,
}
SEQUENCE_TRAINING = {
    "tokens": 80,
    "steps": 6,
    "optimiser": "adam_2017",
    "lr": 0.01,
    "warmup": 4,
    "schedule": "inverse_sqrt",
    "clip": 1.0,
    "smoothing": 0.1,
    "average": 2,
    "average_every": 2,
    "evaluate_every": 3,
    "checkpoint_every": 2,
    "time_limit_s": 60,
}


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
    """Make a job of a task with a source and a target. scored: settings of its evaluation."""
    attention = Seq2SeqAttentionChoices(
        span=span or FULL,
        selection=selection or ALL,
        normaliser=normaliser or SOFTMAX,
        position={"name": "none"},
        apply_to=apply_to if not span or span["name"] == "full" else ("encoder",),
    )
    return JOBS[task](
        **TOY,
        training=SequenceTraining(**SEQUENCE_TRAINING | training),
        evaluation=section(task, "evaluation")(beam=2, alpha=0.6, batch=8, **dict(scored)),
        attention=attention,
        net=section(task, "net")(**SEQUENCE_SIZES | (net or {})),
        seed=seed,
    )


translation = partial(sequences, "translation")
parsing = partial(sequences, "parsing")


def captioning(net=None, meteor="nltk", **changes):
    """Make a job whose METEOR is nltk's: the Java program takes seconds to start."""
    net = {"name": "captioner", "size": 16, "patch": 8, **(net or {})}
    return sequences("captioning", net=net, scored={"meteor": meteor}, **changes)


SYMBOL_SIZES = SIZES | {"name": "decoder"}
SYMBOL_ATTENTION = {
    "span": FULL | {"cache": 4096},
    "selection": ALL,
    "normaliser": SOFTMAX,
    "position": {"name": "nape"},
}
SYMBOL_TRAINING = {
    "batch": 4,
    "shortest": 3,
    "longest": 5,
    "steps": 4,
    "optimiser": "adam",
    "lr": 0.01,
    "clip": 1.0,
    "evaluate_every": 2,
    "checkpoint_every": 2,
    "time_limit_s": 60,
}


def symbols(seed=1, **training) -> SymbolJob:
    """Make a job of sequences of symbols that takes a second."""
    return SymbolJob(
        **TOY | {"corpus": "reverse"},
        training=SYMBOL_TRAINING | training,
        evaluation={"multiples": (1, 2, 30), "samples": 6, "far_samples": 3},
        attention=SYMBOL_ATTENTION,
        net=SYMBOL_SIZES,
        seed=seed,
    )


TRANSLATORS = {name: VARIANTS[name] for name in ("sparsemax", "entmax15", "entmax_alpha")}
TRANSLATORS = {"softmax": {}, "top_k": {"selection": {"name": "top_k", "k": 2}}, **TRANSLATORS}
