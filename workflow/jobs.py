"""What identifies a run. Pure: no torch, nothing written."""

import hashlib
import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from workflow import closed
from workflow.choices import AXES, Refused, fill, refuse_unknown
from workflow.closed import Whole
from workflow.sections import (
    Attention,
    CaptionerNet,
    Closed,
    Decoding,
    Net,
    PairTraining,
    Seq2SeqAttention,
    Seq2SeqNet,
    StreamEvaluation,
    StreamTraining,
)

VERSION = 1


class Job(Closed):
    """All that identifies a run; the tasks below add their sections."""

    version: Literal[1] = VERSION
    rung: str
    corpus: str
    checksum: str
    seed: Whole = Field(ge=0)

    @property
    def digest(self) -> str:
        """Names the run's folder: 12 hexadecimal digits of the canonical JSON."""
        return _digest(self.model_dump(mode="json"))

    @property
    def cell(self) -> str:
        """The digest without the seed: what measures of cost are keyed by."""
        return _digest({**self.model_dump(mode="json"), "seed": None})

    def canonical(self) -> str:
        return _canonical(self.model_dump(mode="json"))


class CharLM(Job):
    task: Literal["char_lm"] = "char_lm"
    attention: Attention
    net: Net
    training: StreamTraining
    evaluation: StreamEvaluation


class Sequences(Job):
    """A source and a target that is written for it."""

    attention: Seq2SeqAttention
    net: Seq2SeqNet
    training: PairTraining
    evaluation: Decoding

    @model_validator(mode="after")
    def a_sentence_fits_the_memory(self):
        memories = [self.attention.span.get(key) for key in ("memory", "evaluation_memory")]
        shortest = min((one for one in memories if one), default=self.net.longest)
        if shortest < self.net.longest:
            raise Refused(f"memory = {shortest} is less than a sentence of the net's longest = {self.net.longest}")
        return self


class Translation(Sequences):
    task: Literal["translation"] = "translation"


class Parsing(Sequences):
    task: Literal["parsing"] = "parsing"


class Captioning(Sequences):
    task: Literal["captioning"] = "captioning"
    net: CaptionerNet

    @model_validator(mode="after")
    def a_picture_fits_the_memory(self):
        if self.net.sees == "pixels":
            refuse_to_cut(self.attention, (self.net.size // self.net.patch) ** 2, "patches")
        return self


def refuse_to_cut(attention: Seq2SeqAttention, count: int, what: str) -> None:
    """A full span sees as far as its memory in evaluation: it must hold a whole picture."""
    memory = min((one for key in ("memory", "evaluation_memory") if (one := attention.span.get(key))), default=count)
    if memory < count:
        raise Refused(f"memory = {memory} is less than the {count} {what} of a picture")


JOBS = {"char_lm": CharLM, "translation": Translation, "captioning": Captioning, "parsing": Parsing}
AnyJob = Annotated[CharLM | Translation | Captioning | Parsing, Field(discriminator="task")]


def section(task: str, name: str) -> type[Closed]:
    """The model of one section, e.g. section("char_lm", "net")."""
    return JOBS[task].model_fields[name].annotation


def _digest(content: dict) -> str:
    return hashlib.sha256(_canonical(content).encode()).hexdigest()[:12]


def _canonical(content: dict) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def read_job(text: str) -> Job:
    """A job from its JSON text or from the path of a job.json; `Refused` where a choice of attention is not here."""
    inline = text.lstrip().startswith("{")
    where = "job" if inline else text
    raw = closed.parse_json(text if inline else Path(text).read_bytes(), where)
    if not isinstance(raw, dict):
        raise Refused(f"{where}: not a job")
    refuse_unknown(f"task in {where}", raw.get("task"), JOBS)
    job = closed.parse(JOBS[raw["task"]], raw, where)
    for axis in AXES:
        fill(axis, getattr(job.attention, axis), {})
    return job
