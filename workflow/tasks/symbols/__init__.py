"""Sequences of symbols drawn by a program: train on short ones, test on ever longer ones.

The job of this task, and what pages say of it. Imports no torch.
"""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from workflow.config.choices import AttentionChoices
from workflow.config.errors import ConfigError
from workflow.config.job import Job, LayersNet, Training
from workflow.config.strict import FrozenModel, PositiveStrictInt
from workflow.tasks.quantities import SPANS, fact
from workflow.tasks.symbols.catalogue import SymbolCatalogue
from workflow.tasks.symbols.metrics import LOSS, METRICS
from workflow.tasks.task import Condition, Curve, Selection, Solved, TaskSpec

Multiple = Annotated[float, Field(ge=1)]
CHOSEN_AT = 2.0  # unless the recipe says otherwise
LEARNED = 99.0  # % token accuracy at the training length: a model that has less is wrong there


class DecoderNet(LayersNet):
    """A decoder of sequences.

    embedding_std: the standard deviation of its embedding before training.
    """

    name: Literal["decoder"] = "decoder"
    embedding_std: Annotated[float, Field(gt=0, exclude_if=lambda value: value == 1)] = 1.0


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

    @property
    def tokens_per_update(self) -> int:
        """Count about two symbols for each of a length: what is given, and the answer."""
        return self.batch * (self.shortest + self.longest)


class SymbolEvaluation(FrozenModel):
    """Scored at `multiples` of the longest training length.

    samples: sequences at each multiple up to `near`; far_samples: at each beyond it. chosen_at: the
    multiple at which learning rates and factors of controls are chosen, on dev. symbols: how many
    symbols are read at once.
    """

    multiples: tuple[Multiple, ...] = Field(min_length=1)
    samples: PositiveStrictInt
    far_samples: PositiveStrictInt
    near: Multiple = 4
    chosen_at: Annotated[Multiple, Field(exclude_if=lambda value: value == CHOSEN_AT)] = CHOSEN_AT
    symbols: PositiveStrictInt = 1 << 14

    @model_validator(mode="after")
    def begins_at_the_training_length(self):
        if list(self.multiples) != sorted(set(self.multiples)) or self.multiples[0] != 1:
            listed = ", ".join(f"{each:g}" for each in self.multiples)
            raise ConfigError(f"multiples must rise from 1, got {listed}")
        if self.chosen_at > self.near:
            raise ConfigError(
                f"chosen_at = {self.chosen_at:g}: dev is scored up to near = {self.near:g}"
            )
        return self


class SymbolJob(Job):
    task: Literal["symbols"] = "symbols"
    attention: AttentionChoices
    net: DecoderNet
    training: SymbolTraining
    evaluation: SymbolEvaluation


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
    condition=Condition("length", "test length, multiples of the training length"),
    # `dev_accuracy` is that at the multiple `chosen_at`.
    tuned_by=Selection(
        "dev_accuracy",
        better="higher",
        tie=1.0,
        learned=LEARNED,
        title="dev accuracy at the tuning length",
    ),
    not_tuned_by=(
        Selection("dev_bits", better="lower", at=1.0, title="dev loss at 1×"),
        Selection("dev_accuracy", better="higher", tie=1.0, at=4.0, title="dev accuracy at 4×"),
    ),
    # A model that is wrong within the training length says nothing of longer ones.
    solved=Solved("test_accuracy", least=LEARNED, title="not solved at 1×"),
    pooled=True,
)
