"""What the catalogues of all kinds share: named entries, and a form in which users name their own data."""

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from workflow.config.errors import check_known
from workflow.config.strict import StrictModel

SplitName = Literal["train", "dev", "test"]
VocabularySize = Annotated[int, Field(strict=True, ge=8, le=1 << 16)]


class BaseCatalogue(StrictModel):
    """The data sets of one task. user_form: how users name their own data, a word with a colon and what follows it.

    Every entry has a `title`, the few words on a badge, and `about`, the line that explains it: `workflow.plan.texts`.
    A subclass gives the entries by name, the entry of a user's data, and the checksum that identifies a data set.
    """

    user_form: ClassVar[str]
    metric: str

    @classmethod
    def user_prefix(cls) -> str:
        return cls.user_form.partition(":")[0] + ":"

    @property
    def entries(self) -> dict[str, Any]:
        """The entries by name."""
        raise NotImplementedError

    def user_entry(self, name: str) -> Any:
        """The entry of a user's data, made from the files as they are now."""
        raise NotImplementedError

    def checksum(self, name: str, data_dir: str | None = None) -> str:
        """What identifies a data set in a job, whichever folder it lies in."""
        raise NotImplementedError

    @property
    def choices(self) -> list[str]:
        """The valid names, the user's form last."""
        return [*self.entries, self.user_form]

    def title(self, name: str) -> str:
        """What a data set is, in a few words: of the user's, the names of its files, which may be gone by now."""
        if name.startswith(self.user_prefix()):
            files = name.removeprefix(self.user_prefix()).split(",")
            return " and ".join(Path(file.strip()).name for file in files)
        return self.entries[name].title if name in self.entries else name

    def about(self, name: str) -> str:
        """One line on a data set; nothing of one that is not named here."""
        if name.startswith(self.user_prefix()):
            return "data of the user's own"
        return self.entries[name].about if name in self.entries else ""

    def is_part(self, name: str, whole: str) -> bool:
        """Whether a data set is the beginning of another."""
        return False

    def knows(self, name: str) -> bool:
        return name in self.entries or name.startswith(self.user_prefix())

    def entry(self, name: str) -> Any:
        """The entry of a name; `ConfigError` with the nearest valid name where there is none."""
        if name.startswith(self.user_prefix()):
            return self.user_entry(name)
        check_known("data set", name, self.choices)
        return self.entries[name]

    def slug(self, name: str) -> str:
        """The file name under results/data/: the name itself, or the form's word and 8 digits of the checksum."""
        if not name.startswith(self.user_prefix()):
            return name
        return f"{self.user_prefix()[:-1]}-{self.checksum(name).split(':')[1][:8]}"
