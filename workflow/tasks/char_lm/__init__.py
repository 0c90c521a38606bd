"""Character language modelling: its job, and what pages say of it. Imports no torch."""

from typing import Literal

from pydantic import Field, model_validator

from workflow.config.choices import AttentionChoices
from workflow.config.errors import ConfigError
from workflow.config.job import Job, LayersNet, Training
from workflow.config.strict import FrozenModel, PositiveStrictInt, StrictInt
from workflow.tasks.char_lm.catalogue import TextCatalogue
from workflow.tasks.quantities import (
    CHANCE,
    SCORED,
    SPANS,
    Metric,
    Quantity,
    fact,
)
from workflow.tasks.task import Curve, TaskSpec


class CharLMNet(LayersNet):
    """A model that reads a stream."""

    name: Literal["char_lm", "transformer_xl"]


class StreamTraining(Training):
    """`block` T characters of each of `batch` B streams a step; `accumulate` splits the batch."""

    block: PositiveStrictInt
    batch: PositiveStrictInt

    @model_validator(mode="after")
    def accumulate_divides_batch(self):
        if self.batch % self.accumulate:
            raise ConfigError(
                f"accumulate must divide batch, got {self.accumulate} and {self.batch}"
            )
        refuse_uneven(self.batch, self.accumulate, self.devices)
        return self

    @property
    def tokens_per_update(self) -> int:
        return self.block * self.batch


def refuse_uneven(batch: int, accumulate: int, devices: int) -> None:
    """Raise `ConfigError` where `devices` processes could not take equal parts of a batch of
    streams.
    """
    if batch % (accumulate * devices):
        product = f"accumulate x devices = {accumulate} x {devices}"
        raise ConfigError(f"devices: {product} must divide the batch of {batch} streams")


class StreamEvaluation(FrozenModel):
    """`streams` are read side by side; `tokens` bounds the part of a split that is scored (0:
    all).
    """

    streams: PositiveStrictInt = 8
    block: PositiveStrictInt
    tokens: StrictInt = Field(0, ge=0)
    dev_tokens: StrictInt = Field(0, ge=0)


class CharLMJob(Job):
    task: Literal["char_lm"] = "char_lm"
    attention: AttentionChoices
    net: CharLMNet
    training: StreamTraining
    evaluation: StreamEvaluation


BITS = Metric(
    "bpc",
    "bpc",
    better="lower",
    unit="bpc",
    splits=("train", *SCORED),
    claimable=True,
)
MACS_PAPER = Quantity(
    "macs_paper",
    "MACs, paper's formula",
    source="run",
    unit="MACs",
    better="lower",
    claimable=True,
    meaning="multiply-accumulate operations (MACs) per predicted character, by the formula of"
    " Adaptive Attention Span",
)
# What the search for the longest span that fits in memory finds.
LONGEST_SPAN = (
    Quantity(
        "longest_S",
        "longest S that fits",
        source="longest_span",
        unit="characters",
        better="higher",
        claimable=True,
    ),
    Quantity("longest_S_ended", "what ended the search", source="longest_span", number=False),
    Quantity("memory_budget_bytes", "memory budget", source="longest_span", unit="bytes"),
)
TASK = TaskSpec(
    job=CharLMJob,
    catalogue=TextCatalogue,
    runner="workflow.tasks.char_lm.runner:CharLMTask",
    write_corpus="workflow.tasks.char_lm.data:write",
    costs="workflow.costs.streams",
    tokens="characters",
    prediction="prediction",
    curve=Curve(loss=BITS, title="bits per character"),
    headline=("dev_bpc", "mean_span"),
    scores=("dev_bpc", "test_bpc", "mean_span"),
    quantities=(
        Quantity("tokens_scored", "characters scored", source="metric"),
        *SPANS,
        CHANCE,
        fact("attention_by_distance", "attention weight by distance"),
        fact("fragment", "span along a passage", "characters"),
        MACS_PAPER,
        *LONGEST_SPAN,
    ),
)
