"""What identifies a run. Pure: no torch, nothing written."""

import hashlib
import json
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from workflow.config.choices import AXES, complete_choice
from workflow.config.errors import ConfigError, check_known
from workflow.config.job_schema import (
    AttentionChoices,
    CaptionerNet,
    CharLMNet,
    Seq2SeqAttentionChoices,
    Seq2SeqNet,
    SequenceEvaluation,
    SequenceTraining,
    StreamEvaluation,
    StreamTraining,
)
from workflow.config.strict import FrozenModel, Name, StrictInt, parse, read_json

VERSION = 2


class Job(FrozenModel):
    """All that identifies a run; the tasks below add their sections."""

    version: Literal[2] = VERSION
    scale: Name
    corpus: Name
    checksum: str
    seed: StrictInt = Field(ge=0)

    @cached_property
    def digest(self) -> str:
        """Names the run's folder: 12 hexadecimal digits of the canonical JSON."""
        return _digest(self._identity())

    @cached_property
    def configuration(self) -> str:
        """The digest without the seed: what measures of cost are keyed by."""
        return _digest({**self._identity(), "seed": None})

    def model_copy(self, **changes) -> "Job":
        """Another job, whose digests are its own."""
        copied = super().model_copy(**changes)
        for name in ("digest", "configuration"):
            copied.__dict__.pop(name, None)
        return copied

    def _identity(self) -> dict:
        """All but what leaves the numbers what they are: on how many devices they are computed."""
        return self.model_dump(mode="json", exclude={"training": {"devices"}})

    def canonical(self) -> str:
        return _canonical(self.model_dump(mode="json"))


class CharLM(Job):
    task: Literal["char_lm"] = "char_lm"
    attention: AttentionChoices
    net: CharLMNet
    training: StreamTraining
    evaluation: StreamEvaluation


class Sequences(Job):
    """A source and a target that is written for it."""

    attention: Seq2SeqAttentionChoices
    net: Seq2SeqNet
    training: SequenceTraining
    evaluation: SequenceEvaluation

    @model_validator(mode="after")
    def a_sentence_fits_the_cache(self):
        caches = [self.attention.span.get(key) for key in ("cache", "evaluation_cache")]
        shortest = min((cache for cache in caches if cache), default=self.net.max_length)
        if shortest < self.net.max_length:
            raise ConfigError(
                f"cache = {shortest} is less than a sentence of the net's max_length = {self.net.max_length}"
            )
        return self


class Translation(Sequences):
    task: Literal["translation"] = "translation"


class Parsing(Sequences):
    task: Literal["parsing"] = "parsing"


class Captioning(Sequences):
    task: Literal["captioning"] = "captioning"
    net: CaptionerNet

    @model_validator(mode="after")
    def a_picture_fits_the_cache(self):
        if self.net.sees == "pixels":
            refuse_to_cut(self.attention, (self.net.size // self.net.patch) ** 2, "patches")
        return self


def refuse_to_cut(attention: Seq2SeqAttentionChoices, count: int, what: str) -> None:
    """A full span sees as far as its cache in evaluation: it must hold a whole picture."""
    cache = min((cache for key in ("cache", "evaluation_cache") if (cache := attention.span.get(key))), default=count)
    if cache < count:
        raise ConfigError(f"cache = {cache} is less than the {count} {what} of a picture")


JOBS = {"char_lm": CharLM, "translation": Translation, "captioning": Captioning, "parsing": Parsing}
AnyJob = Annotated[CharLM | Translation | Captioning | Parsing, Field(discriminator="task")]


def section(task: str, name: str) -> type[FrozenModel]:
    """The model of one section, e.g. section("char_lm", "net")."""
    return JOBS[task].model_fields[name].annotation


def _digest(content: dict) -> str:
    return hashlib.sha256(_canonical(content).encode()).hexdigest()[:12]


def _canonical(content: dict) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def read_job(path: Path) -> Job:
    """The job of a job.json; `ConfigError` where it is none, or names a choice of attention that is not here."""
    where = str(path)
    raw = read_json(path)
    if not isinstance(raw, dict):
        raise ConfigError(f"{where}: not a job")
    check_known(f"task in {where}", raw.get("task"), JOBS)
    job = parse(JOBS[raw["task"]], raw, where)
    for axis in AXES:
        complete_choice(axis, getattr(job.attention, axis), {}, {})
    return job
