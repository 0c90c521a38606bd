"""The job of a task that writes a target for a source. Imports no torch."""

from typing import Literal

from pydantic import Field, model_validator

from workflow.config.choices import AttentionChoices
from workflow.config.errors import ConfigError
from workflow.config.job import Gate, Job, KeyHeads, Share, Training, refuse_uneven_keys
from workflow.config.strict import FrozenModel, PositiveStrictInt, StrictInt
from workflow.tasks.quantities import CHANCE, SCORED, Metric, fact
from workflow.tasks.task import Curve


class Seq2SeqAttentionChoices(AttentionChoices):
    """apply_to: where span, selection and normaliser apply; elsewhere all keys and softmax."""

    apply_to: tuple[Literal["encoder", "decoder", "cross"], ...] = ("encoder", "decoder", "cross")

    @model_validator(mode="after")
    def a_span_has_somewhere_to_apply(self):
        name = self.span["name"]
        has_somewhere = "encoder" in self.apply_to or "decoder" in self.apply_to
        if name != "full" and not has_somewhere:
            where = ", ".join(self.apply_to)
            expected = "applies in encoder or decoder alone"
            raise ConfigError(f"span {name} {expected}, got apply_to = {where}")
        return self


class Seq2SeqNet(FrozenModel):
    """Encoder and decoder of `layers` N each.

    d_model, d_ff: widths of the net and of its feed-forward layers; d_k, d_v: of a head's queries
    and keys, and of its values. key_heads: heads of keys and values, shared by as many heads of
    queries each; as many as heads where it is left out. gate: whether the output of attention
    passes through a gate. norm: after or before each sub-layer.
    max_length: pieces that a sentence may have. tie_embeddings: one matrix for source, target and
    output, or three.
    """

    name: Literal["seq2seq"] = "seq2seq"
    layers: PositiveStrictInt
    d_model: PositiveStrictInt
    heads: PositiveStrictInt
    key_heads: KeyHeads = None
    gate: Gate = False
    d_k: PositiveStrictInt
    d_v: PositiveStrictInt
    d_ff: PositiveStrictInt
    dropout: float = Share
    attention_dropout: float = Share
    norm: Literal["post", "pre"] = "post"
    positional_encoding: Literal["sinusoid", "learned", "none"] = "sinusoid"
    max_length: PositiveStrictInt = 256
    tie_embeddings: bool = Field(True, strict=True)

    @model_validator(mode="after")
    def heads_share_keys_alike(self):
        refuse_uneven_keys(self.heads, self.key_heads)
        return self


class SequenceTraining(Training):
    """`tokens`: pieces of source or target in a batch, padding included; an update takes
    `accumulate` batches.

    smoothing: label smoothing. weight_decay: of every parameter, times the rate, at each update.
    average: how many of the last weights, saved `average_every` steps apart, are averaged before
    the test.
    """

    tokens: PositiveStrictInt
    smoothing: float = Share
    weight_decay: float = Share
    average: PositiveStrictInt = 1
    average_every: PositiveStrictInt = 1

    @property
    def decay(self) -> float:
        return self.weight_decay

    @property
    def tokens_per_update(self) -> int:
        return self.tokens * self.accumulate


class SequenceEvaluation(FrozenModel):
    """Beam search of `beam` hypotheses, length penalty alpha, `batch` sentences side by side.

    sentences: how many of dev and how many of test are scored in the end. dev_sentences: how many
    of dev a point of the curve reads. 0: all.
    """

    beam: PositiveStrictInt
    alpha: float = Field(ge=0)
    batch: PositiveStrictInt = 32
    sentences: StrictInt = Field(0, ge=0)
    dev_sentences: StrictInt = Field(0, ge=0)


class SequenceJob(Job):
    """A source and a target that is written for it."""

    attention: Seq2SeqAttentionChoices
    net: Seq2SeqNet
    training: SequenceTraining
    evaluation: SequenceEvaluation

    @model_validator(mode="after")
    def a_sentence_fits_the_cache(self):
        shortest = shortest_cache(self.attention, self.net.max_length)
        if shortest < self.net.max_length:
            sentence = f"a sentence of the model's max_length = {self.net.max_length}"
            raise ConfigError(f"cache = {shortest} is less than {sentence}")
        return self


def shortest_cache(attention: Seq2SeqAttentionChoices, otherwise: int) -> int:
    """Return the fewest keys that a full span sees, in training or evaluation; `otherwise` where it
    has no cache.
    """
    caches = [attention.span.get(key) for key in ("cache", "evaluation_cache")]
    return min((cache for cache in caches if cache), default=otherwise)


# What the `TaskSpec` of every task of sequences declares.
PERPLEXITY = Curve(
    loss=Metric(
        "ppl",
        "perplexity",
        better="lower",
        splits=("train", *SCORED),
        claimable=True,
    ),
    title="perplexity per piece",
    scale="log",
)
QUANTITIES = (
    fact("counts", "counts by sentence"),
    fact("shown", "examples"),
    fact("left_out", "training pairs left out"),
    CHANCE,
)
