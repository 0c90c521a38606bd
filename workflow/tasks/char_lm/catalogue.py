"""The texts by name, from config/tasks/char_lm.yaml. Their checksums are known without reading
them.
"""

from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from workflow.config.errors import ConfigError, check_known
from workflow.config.files import user_file
from workflow.config.job import Job
from workflow.config.strict import Name, StrictModel
from workflow.tasks.catalogue import SPLITS, BaseCatalogue
from workflow.tasks.plain_text import user_text_checksum
from workflow.tasks.sources import Checksum, Source


class Topics(StrictModel):
    """Parameters of `workflow.tasks.char_lm.topics`.

    words: size of the lexicon. states: of each topic. durations: characters, on average, until each
    is drawn anew.
    spread: standard deviation of a word's score in a state. noise: share of the words that no topic
    governs, drawn evenly from as many others. seed: of lexicon, scores and text.
    """

    words: int = Field(ge=2, le=1000)
    states: int = Field(ge=1, le=16)
    durations: list[PositiveFloat] = Field(min_length=1, max_length=8)
    spread: PositiveFloat
    noise: float = Field(0.0, ge=0, lt=1)
    seed: PositiveInt


class TextEntry(Source):
    """One text. `checksum` is `sha256:...` or `md5:...` of the plain content.

    embedded: read from an installed package. topics: drawn with the parameters `topics`. file:
    looked for under `files`, then fetched from `urls`; `prefix_of` names an official text whose
    first `bytes` bytes it is.
    """

    kind: Literal["embedded", "topics", "file"]
    title: str
    about: str
    unit: Literal["byte", "character"]
    bytes: PositiveInt
    checksum: Checksum
    prefix_of: str | None = None
    topics: Topics | None = None
    split: list[PositiveInt] | None = Field(None, min_length=3, max_length=3)  # None: 90, 5 and 5 %

    @model_validator(mode="after")
    def has_what_its_kind_needs(self):
        if self.split and sum(self.split) != self.bytes:
            raise ValueError(
                f"split adds up to {sum(self.split):,}, but the file has {self.bytes:,} bytes"
            )
        if (self.kind == "topics") != (self.topics is not None):
            raise ValueError("`topics` is valid only for a corpus of kind topics, which needs it")
        return self


class TextCatalogue(BaseCatalogue):
    user_form: ClassVar[str] = "file:PATH"
    corpora: dict[Name, TextEntry]

    @model_validator(mode="after")
    def prefixes_of_known_texts(self):
        for entry in self.corpora.values():
            if entry.prefix_of:
                check_known("dataset", entry.prefix_of, self.corpora)
        return self

    def user_entry(self, name: str) -> TextEntry:
        path = path_of(name)
        checksum, size = user_text_checksum(path)
        about = f"{path.name}, your own file, split 90/5/5"
        return TextEntry(
            kind="file", title=path.name, about=about, unit="byte", bytes=size, checksum=checksum
        )

    def most_keys(self, name: str, job: Job) -> int:
        """Count the characters of a stream of train; `ConfigError` where the text is too short for
        a job.
        """
        entry = self.entry(name)
        lengths = entry.split
        if lengths is None:
            lengths = [entry.bytes * share // 100 for share in (90, 5, 5)]
        refuse_short(name, lengths, entry.unit, job)
        return lengths[0] // job.training.batch

    def is_part(self, name: str, whole: str) -> bool:
        entry = self.entries.get(name)
        return entry is not None and entry.prefix_of == whole

    def checksum(self, name: str, data_dir: str | None = None) -> str:
        return self.entry(name).checksum


def refuse_short(name: str, lengths: list[int], unit: str, job: Job) -> None:
    """Raise `ConfigError` unless each stream of train, dev and test holds more than is read of it
    at once.
    """
    training = job.training
    evaluation = job.evaluation
    limits = [limit for limit in (evaluation.tokens, evaluation.dev_tokens) if limit]
    for split, length in zip(SPLITS, lengths, strict=True):
        read = min([length, *limits])
        streams = evaluation.streams
        block = evaluation.block
        if split == "train":
            read = length
            streams = training.batch
            block = 2 * training.block
        of_stream = read // streams
        if of_stream <= block:
            to_score = " to score" if read < length else ""
            has = f"{split} has {read:,} {unit}s{to_score}"
            has += f", {of_stream:,} for each of {streams} streams"
            raise ConfigError(f"corpus '{name}': {has}; more than {block:,} are needed")


def path_of(name: str) -> Path:
    """Return PATH of `file:PATH`; a relative path starts in the folder that the suite is run
    from.
    """
    return user_file(name.partition(":")[2], f"corpus '{name}'")
