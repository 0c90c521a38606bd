"""What identifies a run. Pure: no torch, nothing written."""

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator

from workflow import closed
from workflow.choices import Refused
from workflow.closed import Positive, Whole

VERSION = 1
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
    dropout: float = Field(0.0, ge=0, lt=1)
    attention_dropout: float = Field(0.0, ge=0, lt=1)

    @model_validator(mode="after")
    def heads_divide_width(self):
        if self.width % self.heads:
            raise Refused(f"heads must divide width, got heads = {self.heads}, width = {self.width}")
        return self


class Training(Closed):
    """`block` T characters of each of `batch` B streams a step; `accumulate` splits the batch."""

    block: Positive
    batch: Positive
    accumulate: Positive = 1
    steps: Positive
    optimiser: Literal["adagrad", "adam"]
    lr: float = Field(gt=0)
    warmup: Whole = Field(0, ge=0)
    schedule: Literal["constant", "cosine"] = "constant"
    clip: float = Field(gt=0)
    precision: Literal["fp32", "bf16"] = "fp32"
    threads: Positive = 1
    evaluate_every: Positive
    checkpoint_every: Positive
    time_limit_s: Positive
    loss_bound: float = Field(20.0, gt=0)

    @model_validator(mode="after")
    def accumulate_divides_batch(self):
        if self.batch % self.accumulate:
            raise Refused(f"accumulate must divide batch, got {self.accumulate} and {self.batch}")
        return self


class Evaluation(Closed):
    """`streams` are read side by side; `tokens` bounds the part of a split that is scored (0: all)."""

    streams: Positive = 8
    block: Positive
    tokens: Whole = Field(0, ge=0)
    dev_tokens: Whole = Field(0, ge=0)


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
    seed: Whole = Field(ge=0)

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
