"""What all catalogues of data sets share: names of its own, and a form in which a user names theirs."""

from typing import Any, ClassVar

from workflow.config.errors import check_known
from workflow.config.strict import StrictModel


class Names(StrictModel):
    """A catalogue. form: how a user's own data is named, a word with a colon and what follows it.

    A subclass says what identifies a data set (`checksum`) and makes an entry of a user's own (`of_user`).
    """

    form: ClassVar[str]
    metric: str

    @classmethod
    def prefix(cls) -> str:
        return cls.form.partition(":")[0] + ":"

    @property
    def named(self) -> dict[str, Any]:
        """The entries by name."""
        raise NotImplementedError

    def of_user(self, name: str) -> Any:
        """The entry of a name in the user's form, made from the files as they are now."""
        raise NotImplementedError

    def checksum(self, name: str, data_dir: str | None = None) -> str:
        """What identifies a data set in a job, whichever folder it lies in."""
        raise NotImplementedError

    @property
    def choices(self) -> list[str]:
        """What can be asked for."""
        return [*self.named, self.form]

    def knows(self, name: str) -> bool:
        return name in self.named or name.startswith(self.prefix())

    def entry(self, name: str) -> Any:
        """The entry of a name; `ConfigError` with the nearest one for a name that is not there."""
        if name.startswith(self.prefix()):
            return self.of_user(name)
        check_known("data set", name, self.choices)
        return self.named[name]

    def slug(self, name: str) -> str:
        """A name for results/data/: the set's own, or the form's word and the first 8 digits of its checksum."""
        if not name.startswith(self.prefix()):
            return name
        return f"{self.prefix()[:-1]}-{self.checksum(name).split(':')[1][:8]}"
