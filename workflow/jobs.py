"""What identifies a run. Pure: no torch, nothing written."""

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field, PositiveInt, model_validator

from workflow import closed
from workflow.choices import Refused

VERSION = 1


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
        for key, symbol in (("limit", "S"), ("ramp", "R"), ("k", "k")):
            for value in (choice[key] for choice in (self.span, self.selection, self.position) if key in choice):
                if type(value) is not int or value < 1:
                    raise Refused(f"{symbol} must be a whole number and at least 1, got {value!r}")
        if self.span.get("ramp", 1) > self.span.get("limit", float("inf")):
            raise Refused(f"ramp R = {self.span['ramp']} must not exceed S = {self.span['limit']}")
        return self


class Net(Closed):
    """The net around the attention. width d, inner ff, `memory`: cached inputs of Transformer-XL."""

    name: Literal["char_lm", "transformer_xl"]
    layers: PositiveInt
    width: PositiveInt
    heads: PositiveInt
    inner: PositiveInt
    dropout: float = Field(0.0, ge=0, lt=1)
    attention_dropout: float = Field(0.0, ge=0, lt=1)

    @model_validator(mode="after")
    def heads_divide_width(self):
        if self.width % self.heads:
            raise Refused(f"heads must divide width, got heads = {self.heads}, width = {self.width}")
        return self


class Training(Closed):
    """`block` T characters of each of `batch` B streams a step; `accumulate` splits the batch."""

    block: PositiveInt
    batch: PositiveInt
    accumulate: PositiveInt = 1
    steps: PositiveInt
    optimiser: Literal["adagrad", "adam"]
    lr: float = Field(gt=0)
    warmup: int = Field(0, ge=0)
    schedule: Literal["constant", "cosine"] = "constant"
    clip: float = Field(gt=0)
    precision: Literal["fp32", "bf16"] = "fp32"
    threads: PositiveInt = 1
    evaluate_every: PositiveInt
    checkpoint_every: PositiveInt
    time_limit_s: PositiveInt
    loss_bound: float = Field(20.0, gt=0)

    @model_validator(mode="after")
    def accumulate_divides_batch(self):
        if self.batch % self.accumulate:
            raise Refused(f"accumulate must divide batch, got {self.accumulate} and {self.batch}")
        return self


class Evaluation(Closed):
    """`streams` are read side by side; `tokens` bounds the part of a split that is scored (0: all)."""

    streams: PositiveInt = 8
    block: PositiveInt
    tokens: int = Field(0, ge=0)
    dev_tokens: int = Field(0, ge=0)


class Job(Closed):
    """All that identifies a run."""

    version: Literal[1] = VERSION
    rung: str
    task: Literal["char_lm"]
    corpus: str
    checksum: str
    attention: Attention
    net: Net
    training: Training
    evaluation: Evaluation
    seed: int = Field(ge=0)

    @property
    def digest(self) -> str:
        """Names the run's folder: 12 hexadecimal digits of the canonical JSON."""
        return _digest(self.model_dump())

    @property
    def cell(self) -> str:
        """The digest without the seed: what measures of cost are keyed by."""
        return _digest({**self.model_dump(), "seed": None})

    def canonical(self) -> str:
        return json.dumps(self.model_dump(), sort_keys=True, separators=(",", ":"))


def _digest(content: dict) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def read_job(text: str) -> Job:
    """A job from its JSON text or from the path of a job.json."""
    inline = text.lstrip().startswith("{")
    where = "job" if inline else text
    return closed.parse(Job, closed.parse_json(text if inline else Path(text).read_bytes(), where), where)
