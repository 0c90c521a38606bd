"""The sections of a job, task by task: attention, net, training, evaluation. Closed; every setting is spelled out."""

from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator

from workflow import closed
from workflow.choices import Refused
from workflow.closed import Positive, Whole

# Settings that are whole numbers, with the symbols of the papers, and those of them that may be left out.
WHOLE = {
    "limit": "limit S",
    "ramp": "ramp R",
    "k": "k",
    "memory": "memory",
    "evaluation_memory": "evaluation_memory",
    "clamp": "clamp",
}
OPTIONAL = ("evaluation_memory", "clamp")
Share = Field(0.0, ge=0, lt=1)


class Closed(closed.Closed):
    model_config = ConfigDict(frozen=True)


class Attention(Closed):
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
            raise Refused(f"ramp R = {self.span['ramp']} must not exceed S = {self.span['limit']}")
        return self


class Seq2SeqAttention(Attention):
    """at: where span, selection and normaliser apply; elsewhere all keys and softmax."""

    at: tuple[Literal["encoder", "decoder", "cross"], ...] = ("encoder", "decoder", "cross")

    @model_validator(mode="after")
    def a_span_has_somewhere_to_apply(self):
        if self.span["name"] != "full" and not {"encoder", "decoder"} & set(self.at):
            raise Refused(
                f"span {self.span['name']} applies in encoder or decoder alone, got at = {', '.join(self.at)}"
            )
        return self


def _refuse_out_of_range(key: str, value) -> None:
    """A setting whose name says what it counts, against what it may be."""
    if key in WHOLE and not (value is None and key in OPTIONAL) and (type(value) is not int or value < 1):
        null = ", or null" if key in OPTIONAL else ""
        raise Refused(f"{WHOLE[key]} must be a whole number and at least 1{null}, got {value!r}")
    if key == "loss" and (type(value) not in (int, float) or not 0 <= value < float("inf")):
        raise Refused(f"loss must be a number and at least 0, got {value!r}")


class Net(Closed):
    """The net around the attention. width d, inner ff, `memory`: cached inputs of Transformer-XL."""

    name: Literal["char_lm", "transformer_xl"]
    layers: Positive
    width: Positive
    heads: Positive
    inner: Positive
    dropout: float = Share
    attention_dropout: float = Share

    @model_validator(mode="after")
    def heads_divide_width(self):
        if self.width % self.heads:
            raise Refused(f"heads must divide width, got heads = {self.heads}, width = {self.width}")
        return self


class Seq2SeqNet(Closed):
    """Encoder and decoder of `layers` N each. width d, inner ff; key, value: widths d_k and d_v of a head.

    norm: after or before each sub-layer. longest: pieces a sentence may have. share: one matrix for source, target
    and output, or three.
    """

    name: Literal["seq2seq"] = "seq2seq"
    layers: Positive
    width: Positive
    heads: Positive
    key: Positive
    value: Positive
    inner: Positive
    dropout: float = Share
    attention_dropout: float = Share
    norm: Literal["post", "pre"] = "post"
    places: Literal["sinusoid", "learned"] = "sinusoid"
    longest: Positive = 256
    share: Literal["all", "none"] = "all"


class CaptionerNet(Seq2SeqNet):
    """sees: pixels of pictures `size` wide and high, in patches `patch` wide and high; or `size` features a region."""

    name: Literal["captioner"]
    sees: Literal["pixels", "features"] = "pixels"
    size: Positive
    patch: Positive = 2

    @model_validator(mode="after")
    def patches_fill_the_picture(self):
        if self.sees == "pixels" and (self.size % self.patch or self.patch % 2):
            raise Refused(f"patch must be even and divide size, got patch = {self.patch}, size = {self.size}")
        return self


class Training(Closed):
    """What every task has: updates and their rate, precision, when to score and save, when to stop."""

    accumulate: Positive = 1
    steps: Positive
    optimiser: Literal["adagrad", "adam", "adam_2017"]
    lr: float = Field(gt=0)
    warmup: Whole = Field(0, ge=0)
    schedule: Literal["constant", "cosine", "inverse_sqrt"] = "constant"
    clip: float = Field(gt=0)
    precision: Literal["fp32", "bf16"] = "fp32"
    threads: Positive = 1
    evaluate_every: Positive
    checkpoint_every: Positive
    time_limit_s: Positive
    loss_bound: float = Field(20.0, gt=0)

    @property
    def decay(self) -> float:
        return 0.0


class StreamTraining(Training):
    """`block` T characters of each of `batch` B streams a step; `accumulate` splits the batch."""

    block: Positive
    batch: Positive

    @model_validator(mode="after")
    def accumulate_divides_batch(self):
        if self.batch % self.accumulate:
            raise Refused(f"accumulate must divide batch, got {self.accumulate} and {self.batch}")
        return self


class PairTraining(Training):
    """`tokens`: pieces of source or target in a batch, padding included; an update takes `accumulate` batches.

    smoothing: label smoothing. weight_decay: of every parameter, times the rate, at each update. average: how many of
    the last weights, saved `average_every` steps apart, are averaged before the test.
    """

    tokens: Positive
    smoothing: float = Share
    weight_decay: float = Share
    average: Positive = 1
    average_every: Positive = 1

    @property
    def decay(self) -> float:
        return self.weight_decay


class StreamEvaluation(Closed):
    """`streams` are read side by side; `tokens` bounds the part of a split that is scored (0: all)."""

    streams: Positive = 8
    block: Positive
    tokens: Whole = Field(0, ge=0)
    dev_tokens: Whole = Field(0, ge=0)


class Decoding(Closed):
    """Beam search of `beam` hypotheses, length penalty alpha, `batch` sentences side by side.

    sentences: how many of dev and how many of test are scored in the end. dev_sentences: how many of dev a point of
    the curve reads. 0: all.
    """

    beam: Positive
    alpha: float = Field(ge=0)
    batch: Positive = 32
    sentences: Whole = Field(0, ge=0)
    dev_sentences: Whole = Field(0, ge=0)
