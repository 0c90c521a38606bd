"""The sections of a job, task by task: attention, net, training, evaluation. Closed; every setting is spelled out."""

from typing import Any, Literal

from pydantic import Field, model_validator

from workflow.config.errors import ConfigError, shown
from workflow.config.strict import FrozenModel, PositiveStrictInt, StrictInt

# Settings that are whole numbers, with the symbols of the papers, and those of them that may be left out.
WHOLE = {
    "limit": "limit S",
    "ramp": "ramp R",
    "k": "k",
    "cache": "cache",
    "evaluation_cache": "evaluation_cache",
    "clamp": "clamp",
}
OPTIONAL = ("evaluation_cache", "clamp")
Share = Field(0.0, ge=0, lt=1)


class AttentionChoices(FrozenModel):
    """One choice per axis, with every setting of it spelled out."""

    span: dict[str, Any]
    selection: dict[str, Any]
    normaliser: dict[str, Any]
    position: dict[str, Any]

    @model_validator(mode="after")
    def in_range(self):
        for choice in (self.span, self.selection, self.position):
            for key, value in choice.items():
                _refuse_out_of_range(key, value)
        if self.span.get("ramp", 1) > self.span.get("limit", float("inf")):
            raise ConfigError(f"ramp R = {self.span['ramp']} must not exceed S = {self.span['limit']}")
        return self


class Seq2SeqAttentionChoices(AttentionChoices):
    """at: where span, selection and normaliser apply; elsewhere all keys and softmax."""

    apply_to: tuple[Literal["encoder", "decoder", "cross"], ...] = ("encoder", "decoder", "cross")

    @model_validator(mode="after")
    def a_span_has_somewhere_to_apply(self):
        if self.span["name"] != "full" and not {"encoder", "decoder"} & set(self.apply_to):
            where = ", ".join(self.apply_to)
            raise ConfigError(f"span {self.span['name']} applies in encoder or decoder alone, got apply_to = {where}")
        return self


def _refuse_out_of_range(key: str, value) -> None:
    """A setting whose name says what it counts, against what it may be."""
    if key in WHOLE and not (value is None and key in OPTIONAL) and (type(value) is not int or value < 1):
        null = ", or null" if key in OPTIONAL else ""
        raise ConfigError(f"{WHOLE[key]} must be a whole number and at least 1{null}, got {shown(value)}")
    if key == "penalty_weight" and (type(value) not in (int, float) or not 0 <= value < float("inf")):
        raise ConfigError(f"penalty_weight must be a number and at least 0, got {shown(value)}")


class CharLMNet(FrozenModel):
    """The net around the attention. d_model, d_ff: widths of the net and of its feed-forward layers."""

    name: Literal["char_lm", "transformer_xl"]
    layers: PositiveStrictInt
    d_model: PositiveStrictInt
    heads: PositiveStrictInt
    d_ff: PositiveStrictInt
    dropout: float = Share
    attention_dropout: float = Share

    @model_validator(mode="after")
    def heads_divide_width(self):
        if self.d_model % self.heads:
            raise ConfigError(f"heads must divide d_model, got heads = {self.heads}, d_model = {self.d_model}")
        return self


class Seq2SeqNet(FrozenModel):
    """Encoder and decoder of `layers` N each.

    d_model, d_ff: widths of the net and of its feed-forward layers; d_k, d_v: of a head's queries and keys, and of its
    values. norm: after or before each sub-layer. max_length: pieces that a sentence may have. tie_embeddings: one
    matrix for source, target and output, or three.
    """

    name: Literal["seq2seq"] = "seq2seq"
    layers: PositiveStrictInt
    d_model: PositiveStrictInt
    heads: PositiveStrictInt
    d_k: PositiveStrictInt
    d_v: PositiveStrictInt
    d_ff: PositiveStrictInt
    dropout: float = Share
    attention_dropout: float = Share
    norm: Literal["post", "pre"] = "post"
    positional_encoding: Literal["sinusoid", "learned"] = "sinusoid"
    max_length: PositiveStrictInt = 256
    tie_embeddings: bool = Field(True, strict=True)


class CaptionerNet(Seq2SeqNet):
    """sees: pixels of pictures `size` wide and high, in patches `patch` wide and high; or `size` features a region."""

    name: Literal["captioner"]
    sees: Literal["pixels", "features"] = "pixels"
    size: PositiveStrictInt
    patch: PositiveStrictInt = 2

    @model_validator(mode="after")
    def patches_fill_the_picture(self):
        if self.sees == "pixels" and (self.size % self.patch or self.patch % 2):
            raise ConfigError(f"patch must be even and divide size, got patch = {self.patch}, size = {self.size}")
        return self


class Training(FrozenModel):
    """What every task has: updates and their rate, precision, when to score and save, when to stop.

    devices: GPUs, or processes on a CPU with `threads` each, that share every update. They come to the numbers of one,
    but for rounding and dropout, so that they do not identify a run.
    """

    accumulate: PositiveStrictInt = 1
    steps: PositiveStrictInt
    optimiser: Literal["adagrad", "adam", "adam_2017"]
    lr: float = Field(gt=0)
    warmup: StrictInt = Field(0, ge=0)
    schedule: Literal["constant", "cosine", "settling", "inverse_sqrt"] = "constant"
    clip: float = Field(gt=0)
    precision: Literal["fp32", "bf16"] = "fp32"
    threads: PositiveStrictInt = 1
    devices: PositiveStrictInt = 1
    evaluate_every: PositiveStrictInt
    checkpoint_every: PositiveStrictInt
    time_limit_s: PositiveStrictInt
    loss_bound: float = Field(20.0, gt=0)

    @property
    def decay(self) -> float:
        return 0.0

    @property
    def cores(self) -> int:
        """Of a CPU, that all processes of the run keep busy."""
        return self.threads * self.devices


def refuse_uneven(batch: int, accumulate: int, devices: int) -> None:
    """`ConfigError` where `devices` processes could not take equal parts of a batch of streams."""
    if batch % (accumulate * devices):
        product = f"accumulate x devices = {accumulate} x {devices}"
        raise ConfigError(f"devices: {product} must divide the batch of {batch} streams")


class StreamTraining(Training):
    """`block` T characters of each of `batch` B streams a step; `accumulate` splits the batch."""

    block: PositiveStrictInt
    batch: PositiveStrictInt

    @model_validator(mode="after")
    def accumulate_divides_batch(self):
        if self.batch % self.accumulate:
            raise ConfigError(f"accumulate must divide batch, got {self.accumulate} and {self.batch}")
        refuse_uneven(self.batch, self.accumulate, self.devices)
        return self


class SequenceTraining(Training):
    """`tokens`: pieces of source or target in a batch, padding included; an update takes `accumulate` batches.

    smoothing: label smoothing. weight_decay: of every parameter, times the rate, at each update. average: how many of
    the last weights, saved `average_every` steps apart, are averaged before the test.
    """

    tokens: PositiveStrictInt
    smoothing: float = Share
    weight_decay: float = Share
    average: PositiveStrictInt = 1
    average_every: PositiveStrictInt = 1

    @property
    def decay(self) -> float:
        return self.weight_decay


class StreamEvaluation(FrozenModel):
    """`streams` are read side by side; `tokens` bounds the part of a split that is scored (0: all)."""

    streams: PositiveStrictInt = 8
    block: PositiveStrictInt
    tokens: StrictInt = Field(0, ge=0)
    dev_tokens: StrictInt = Field(0, ge=0)


class SequenceEvaluation(FrozenModel):
    """Beam search of `beam` hypotheses, length penalty alpha, `batch` sentences side by side.

    sentences: how many of dev and how many of test are scored in the end. dev_sentences: how many of dev a point of
    the curve reads. 0: all.
    """

    beam: PositiveStrictInt
    alpha: float = Field(ge=0)
    batch: PositiveStrictInt = 32
    sentences: StrictInt = Field(0, ge=0)
    dev_sentences: StrictInt = Field(0, ge=0)
