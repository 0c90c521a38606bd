"""The catalogue of a task's datasets: what every one of them offers. Imports no torch."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from workflow.config.errors import ConfigError, check_known
from workflow.config.job import Job
from workflow.config.strict import StrictModel

SplitName = Literal["train", "dev", "test"]
SPLITS = ("train", "dev", "test")
VocabularySize = Annotated[int, Field(strict=True, ge=8, le=1 << 16)]


class BaseCatalogue(StrictModel):
    """The datasets of one task: one mapping from names to entries, next to the metric.

    Every entry has a `title`, the few words on a badge, and `about`, a line about it.
    user_form: how users name their own data, a word with a colon and what follows it; a task
    without one takes none.

    A subclass has the method `checksum(name, data_dir)`, which identifies a dataset in a job,
    whichever folder it is in; with a user_form also `user_entry(name)`, which makes an entry from
    the files as they are now.
    """

    user_form: ClassVar[str] = ""
    metric: str

    @property
    def entries(self) -> dict[str, Any]:
        """Return the entries by name, whatever the catalogue calls its mapping."""
        (name,) = type(self).model_fields.keys() - {"metric"}
        return getattr(self, name)

    @classmethod
    def user_word(cls) -> str:
        """Return the word that begins the name of a user's data; empty where a task takes none."""
        return cls.user_form.partition(":")[0]

    @classmethod
    def is_users(cls, name: str) -> bool:
        """Say whether a name is that of a user's own data."""
        return bool(cls.user_form) and name.startswith(f"{cls.user_word()}:")

    def choices(self, name: str) -> list[str]:
        """List the valid names, the user's form last.

        Where `name` is a path of the user's that only lacks the form, the full name comes first.
        """
        choices = list(self.entries)
        if not self.user_form:
            return choices
        choices.append(self.user_form)
        path = name.rpartition(":")[2]
        guess = f"{self.user_word()}:{path}"
        with suppress(ConfigError):
            self.user_entry(guess)
            return [guess, *choices]
        return choices

    def title(self, name: str) -> str:
        """Say in a few words what a dataset is.

        A user's is called by the names of its files, which may be gone by now.
        """
        if self.is_users(name):
            files = name.partition(":")[2].split(",")
            return " and ".join(Path(file.strip()).name for file in files)
        if name in self.entries:
            return self.entries[name].title
        return name

    def about(self, name: str) -> str:
        """Describe a dataset in one line; return an empty line for an unknown one."""
        if self.is_users(name):
            return "your own data"
        if name in self.entries:
            return self.entries[name].about
        return ""

    def most_keys(self, name: str, job: Job) -> int:
        """Count the keys that a query can see at most: here those of the longest sentence."""
        return job.net.max_length

    def is_part(self, name: str, whole: str) -> bool:
        """Say whether a dataset is the beginning of another."""
        return False

    def knows(self, name: str) -> bool:
        return name in self.entries or self.is_users(name)

    def entry(self, name: str) -> Any:
        """Return the entry of a name; `ConfigError` with the nearest valid name if unknown."""
        if self.is_users(name):
            return self.user_entry(name)
        check_known("dataset", name, self.choices(name))
        return self.entries[name]

    def slug(self, name: str) -> str:
        """Name its file under results/data/.

        It is the name itself; of a user's data the form's word and 8 digits of the checksum.
        """
        if not self.is_users(name):
            return name
        digits = self.checksum(name).partition(":")[2]
        return f"{self.user_word()}-{digits[:8]}"
