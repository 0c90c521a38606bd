"""What identifies a run: what the jobs of all tasks share. Closed; every setting is spelled out.
Imports no torch.
"""

import hashlib
import json
from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field, StrictBool, model_validator

from workflow.config.errors import ConfigError
from workflow.config.strict import FrozenModel, Name, PositiveStrictInt, StrictInt, parse
from workflow.config.trials import Factors, multiply

VERSION = 2
Share = Field(0.0, ge=0, lt=1)
# of a net
KeyHeads = Annotated[PositiveStrictInt | None, Field(exclude_if=lambda value: value is None)]
Gate = Annotated[StrictBool, Field(exclude_if=lambda value: not value)]


class Job(FrozenModel):
    """All that identifies a run; each task adds its name and its sections in its own folder.

    trials: by the digests of their runs, the trials one of which decides on some settings, which
    are the recipe's here.
    """

    version: Literal[2] = VERSION
    scale: Name
    corpus: Name
    checksum: str
    seed: StrictInt = Field(ge=0)
    trials: Annotated[dict[Name, Factors] | None, Field(exclude_if=lambda value: value is None)] = (
        None
    )

    @cached_property
    def digest(self) -> str:
        """Name the run's folder: 12 hexadecimal digits of the canonical JSON."""
        return _digest(self._identity())

    @cached_property
    def configuration(self) -> str:
        """Digest the job without its seed: measures of cost are keyed by it."""
        return _digest({**self._identity(), "seed": None})

    def varied(self, factors: Factors, **changes) -> "Job":
        """Return the job with these factors of its settings, and without trials. changes: other
        keys.
        """
        content = self.model_dump(exclude={"trials"})
        return parse(type(self), {**multiply(content, factors), **changes}, "trial")

    def following(self, trial: str | None) -> "Job":
        """Return the job with the settings of one of its trials, by the digest of its run; None: it
        has none.
        """
        if trial is None:
            return self
        return self.varied(self.trials[trial])

    def model_copy(self, **changes) -> "Job":
        """Copy the job; the copy has digests of its own."""
        copied = super().model_copy(**changes)
        for name in ("digest", "configuration"):
            copied.__dict__.pop(name, None)
        return copied

    def _identity(self) -> dict:
        """Return all that numbers depend on: on how many devices they are computed is left out."""
        return self.model_dump(mode="json", exclude={"training": {"devices"}})


def _digest(content: dict) -> str:
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:12]


def refuse_uneven_keys(heads: int, key_heads: int | None) -> None:
    """Raise `ConfigError` where heads of queries could not share heads of keys alike."""
    if key_heads and heads % key_heads:
        raise ConfigError(
            f"key_heads must divide heads, got key_heads = {key_heads}, heads = {heads}"
        )


class LayersNet(FrozenModel):
    """A model of one stack of `layers` layers.

    d_model, d_ff: widths of the model and of its feed-forward layers. key_heads: heads of keys and
    values, shared by as many heads of queries each; as many as heads where it is left out. gate:
    whether the output of attention passes through a gate.
    """

    name: str
    layers: PositiveStrictInt
    d_model: PositiveStrictInt
    heads: PositiveStrictInt
    key_heads: KeyHeads = None
    gate: Gate = False
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


class Training(FrozenModel):
    """What every task has: updates and their rate, precision, when to score and save, when to stop.

    devices: GPUs, or processes on a CPU with `threads` each, that share every update. They come to
    the numbers of one, but for rounding and dropout, so that they do not identify a run.
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
    def tokens_per_update(self) -> int:
        """Count the tokens that an update learns from, padding included."""
        raise NotImplementedError

    @property
    def cores(self) -> int:
        """Count the cores of a CPU that all processes of the run keep busy."""
        return self.threads * self.devices
