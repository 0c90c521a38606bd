"""Sequences of symbols drawn by a program: train on short ones, test on ever longer ones.

The job of this task, and what pages say of it. Imports no torch.
"""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from workflow.config.choices import AttentionChoices
from workflow.config.errors import ConfigError
from workflow.config.job import Job, KeyHeads, Share, Training, refuse_uneven_keys
from workflow.config.strict import FrozenModel, PositiveStrictInt
from workflow.tasks.quantities import SCORED, SPANS, Metric, fact
from workflow.tasks.symbols.catalogue import SymbolCatalogue
from workflow.tasks.task import Condition, Curve, TaskSpec

Multiple = Annotated[float, Field(ge=1)]


class DecoderNet(FrozenModel):
    """A decoder of `layers` layers.

    d_model, d_ff: widths of the model and of its feed-forward layers. key_heads: heads of keys and
    values, shared by as many heads of queries each; as many as heads where it is left out.
    """

    name: Literal["decoder"] = "decoder"
    layers: PositiveStrictInt
    d_model: PositiveStrictInt
    heads: PositiveStrictInt
    key_heads: KeyHeads = None
    d_ff: PositiveStrictInt
    dropout: float = Share
    attention_dropout: float = Share

    @model_validator(mode="after")
    def heads_divide_width(self):
        if self.d_model % self.heads:
            raise ConfigError(
                f"heads must divide d_model, got heads = {self.heads}, d_model = {self.d_model}"
            )
        refuse_uneven_keys(self.heads, self.key_heads)
        return self


class SymbolTraining(Training):
    """`batch` sequences an update, all of one length, drawn from `shortest` to `longest`.

    A length is what the problem makes of it: of symbols to sort, of pairs to recall.
    """

    batch: PositiveStrictInt
    shortest: PositiveStrictInt
    longest: PositiveStrictInt

    @model_validator(mode="after")
    def lengths_are_a_range(self):
        if self.shortest > self.longest:
            raise ConfigError(
                f"shortest must be at most longest, got {self.shortest} and {self.longest}"
            )
        if self.batch % (self.accumulate * self.devices):
            raise ConfigError(
                f"accumulate x devices = {self.accumulate} x {self.devices} must divide the batch "
                f"of {self.batch} sequences"
            )
        return self


class SymbolEvaluation(FrozenModel):
    """Scored at `multiples` of the longest training length.

    samples: sequences at each multiple up to `near`; far_samples: at each beyond it. symbols: how
    many symbols are read at once.
    """

    multiples: tuple[Multiple, ...] = Field(min_length=1)
    samples: PositiveStrictInt
    far_samples: PositiveStrictInt
    near: Multiple = 4
    symbols: PositiveStrictInt = 1 << 14

    @model_validator(mode="after")
    def begins_at_the_training_length(self):
        if list(self.multiples) != sorted(set(self.multiples)) or self.multiples[0] != 1:
            listed = ", ".join(f"{each:g}" for each in self.multiples)
            raise ConfigError(f"multiples must rise from 1, got {listed}")
        return self


class SymbolJob(Job):
    task: Literal["symbols"] = "symbols"
    attention: AttentionChoices
    net: DecoderNet
    training: SymbolTraining
    evaluation: SymbolEvaluation


SHARE = (0.0, 100.0)
LOSS = Metric("bits", "bits", better="lower", unit="bits", splits=("train", *SCORED))
METRICS = (
    Metric(
        "accuracy",
        "token accuracy",
        unit="%",
        better="higher",
        claimable=True,
        bounds=SHARE,
        over_condition=True,
    ),
    Metric(
        "exact",
        "exact match",
        unit="%",
        better="higher",
        claimable=True,
        bounds=SHARE,
        over_condition=True,
    ),
    Metric(
        "prefix",
        "correct prefix",
        unit="%",
        better="higher",
        bounds=SHARE,
        over_condition=True,
    ),
    Metric(
        "hard_accuracy",
        "token accuracy with the hard maximum",
        unit="%",
        better="higher",
        splits=("test",),
        bounds=SHARE,
        over_condition=True,
    ),
    Metric(
        "sharper_accuracy",
        "token accuracy with sharper scores",
        unit="%",
        better="higher",
        splits=("test",),
        bounds=SHARE,
        over_condition=True,
    ),
    Metric(
        "entropy",
        "entropy of attention, share of even weights",
        unit="%",
        better="lower",
        splits=("test",),
        bounds=SHARE,
        over_condition=True,
    ),
    Metric(
        "support",
        "keys with weight",
        unit="keys",
        better="lower",
        splits=("test",),
        over_condition=True,
    ),
    Metric(
        "skipped",
        "blocks of 64 x 64 without weight",
        unit="%",
        better="higher",
        splits=("test",),
        bounds=SHARE,
        over_condition=True,
    ),
    Metric(
        "reach",
        "length at 90 % token accuracy",
        unit="doublings",
        better="higher",
        splits=("test",),
        claimable=True,
    ),
)
TASK = TaskSpec(
    job=SymbolJob,
    catalogue=SymbolCatalogue,
    runner="workflow.tasks.symbols.runner:SymbolTask",
    write_corpus="workflow.tasks.symbols.data:write",
    costs="workflow.costs.symbols",
    tokens="symbols",
    prediction="reading",
    curve=Curve(loss=LOSS, title="bits per symbol", columns=("dev_accuracy",)),
    headline=("test_reach", "test_accuracy"),
    scores=("dev_accuracy", "test_accuracy", "test_reach"),
    metrics=METRICS,
    quantities=(
        *SPANS,
        fact("censored", "side on which the length is censored"),
        fact("sharpened", "factor of sharper scores, chosen on dev", number=True),
    ),
    condition=Condition("multiple", "test length, multiples of the training length"),
)
