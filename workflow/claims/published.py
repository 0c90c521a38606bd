"""Read what the papers print, cell by cell, and their formulas: studies/*/study.yaml and
formulas.py.

The cells of tables name a printed value by its id.
"""

from collections.abc import Callable
from functools import cache
from inspect import getmembers, isfunction, signature
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from workflow.config.errors import ConfigError, check_known
from workflow.config.strict import StrictModel, UniqueKeyLoader, parse, read_yaml
from workflow.config.studies import known_studies, load_module, part_of, shown_path
from workflow.results.numbers import Printed, number


@cache
def formulas() -> dict[str, Callable[..., float]]:
    """Import the functions of every study's formulas.py, by name. `ConfigError` where two have the
    same name.
    """
    found: dict[str, Callable[..., float]] = {}
    for study in known_studies():
        path = part_of(study, "formulas.py")
        if path is None:
            continue
        for name, function in getmembers(load_module(path), isfunction):
            if found.setdefault(name, function) is not function:
                what = f"formula '{name}' is another study's too"
                raise ConfigError(f"{shown_path(path)}: {what}; choose another name")
    return found


class Recomputed(StrictModel):
    """A formula by its name, and the inputs with which it gives a printed number. times: a factor
    of its result.
    """

    formula: str
    inputs: dict[str, float]
    times: float = 1
    note: str | None = None

    @model_validator(mode="after")
    def inputs_are_the_formulas(self):
        check_known("formula", self.formula, formulas())
        known = signature(formulas()[self.formula]).parameters
        for name in self.inputs:
            check_known(f"input of {self.formula}", name, known)
        for name, parameter in known.items():
            if parameter.default is parameter.empty and name not in self.inputs:
                raise ConfigError(f"formula '{self.formula}' needs a value for '{name}'")
        return self

    @property
    def result(self) -> float:
        inputs = {}
        for key, value in self.inputs.items():
            inputs[key] = int(value) if float(value).is_integer() else value
        formula = formulas()[self.formula]
        return formula(**inputs) * self.times


class AsPrinted(UniqueKeyLoader):
    """Reads YAML that keeps the text of `value`: 0.50 with its zero."""

    def construct_mapping(self, node, deep=False):
        for key, value in node.value:
            if key.value == "value" and value.tag in NUMBERS:
                value.tag = "tag:yaml.org,2002:str"
        return super().construct_mapping(node, deep)


NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")


def read_value(value):
    """Read a number with its printed digits; leave lists and other text as they are."""
    if isinstance(value, list):
        return value
    text = value if isinstance(value, str) else repr(value).removesuffix(".0")
    return Printed.read(text) or value


# in YAML: a number, a text or a list
Value = Annotated[
    Printed | str | list[int | float | str],
    BeforeValidator(read_value),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string"}, {"type": "array"}]}),
]


# where a number or a claim was seen, and what pages say of it
Origin = Literal["paper", "code", "replication", "second_hand"]
ORIGINS: dict[Origin, str] = {
    "paper": "",
    "code": "in the released code",
    "replication": "as reported by an independent replication",
    "second_hand": "second-hand",
}


class Published(StrictModel):
    """One published value: a number as it is printed, a text, or several of them.

    value: `0.50` or `1.0M`; a whole 42000000 is printed as 42M.

    origin: where it was seen, one of `ORIGINS`; a replication may quote the paper or have measured
    it, and `where` says which.

    inferred, digitised: not printed. conflict: what is known of two sources that disagree.
    recomputed: the formula that gives it without training; not_recomputed: why none does.
    """

    id: str
    where: str
    row: str
    column: str
    value: Value
    unit: str
    kind: Literal["analytic", "trained", "speed", "memory", "cited", "setting"]
    origin: Origin = "paper"
    note: str | None = None
    inferred: bool = False
    digitised: bool = False
    conflict: str | None = None
    recomputed: Recomputed | None = None
    not_recomputed: str | None = None

    @property
    def number(self) -> float:
        """Return the number; `ConfigError` for a text or a list."""
        if not isinstance(self.value, Printed):
            raise ConfigError(f"published value '{self.id}': {self.value} is no number")
        return self.value.value

    @property
    def is_number(self) -> bool:
        return isinstance(self.value, Printed)

    @property
    def plain(self) -> float | str | list[int | float | str]:
        """Return the value without its digits, as tables keep it."""
        return self.number if self.is_number else self.value

    @property
    def place(self) -> float:
        """Return the place of the last printed digit: 0.01 of `0.50`."""
        return self.value.place

    @property
    def text(self) -> str:
        """Write the value as it is printed."""
        if not self.is_number or self.unit == "bytes":
            return number(self.plain, self.unit)
        return self.value.text

    def is_rounded(self, result: float) -> bool:
        """Whether a result rounds to the printed digits; `ConfigError` for a text or a list."""
        if not isinstance(self.value, Printed):
            what = f"{self.value} is no number that a result could round to"
            raise ConfigError(f"published value '{self.id}': {what}")
        return self.value.is_rounded(result)

    @property
    def place_seen(self) -> str:
        """Write where it is printed, with its origin unless that is the paper."""
        return with_origin(self.where, self.origin)

    @property
    def source(self) -> Literal["published", "inferred", "digitised"]:
        """Say where the value comes from: printed digits, other printed values, or a plot that was
        read off.
        """
        if self.digitised:
            return "digitised"
        return "inferred" if self.inferred else "published"


def with_origin(where: str, origin: Origin) -> str:
    """Write a place with its origin, unless that is the paper."""
    return f"{where} ({ORIGINS[origin]})" if ORIGINS[origin] else where


class Artefact(StrictModel):
    """A table or figure of a paper, and the modules that make it. drawing: why none does."""

    tables: list[str] = []
    figures: list[str] = []
    drawing: str | None = None

    @model_validator(mode="after")
    def is_made_or_explained(self):
        if bool(self.drawing) == bool(self.tables or self.figures):
            raise ValueError("takes tables or figures, or drawing, which says why nothing makes it")
        return self


class Study(StrictModel):
    """A paper, or your own questions, which have no authors. artefacts: the paper's tables and
    figures, by name.
    """

    title: str = Field(min_length=1)
    authors: str | None = None
    artefacts: dict[str, Artefact] = {}
    values: list[Published] = []

    @property
    def heading(self) -> str:
        """Write the title with its authors."""
        return f"{self.title} ({self.authors})" if self.authors else self.title


@cache
def studies() -> dict[str, Study]:
    """Read what every study says of itself."""
    found = {}
    for name in known_studies():
        path = part_of(name, "study.yaml")
        content = read_yaml(path, AsPrinted)
        found[name] = parse(Study, content, shown_path(path))
    return found


@cache
def load() -> dict[str, Published]:
    """Read every published value, by id. `ConfigError` where two values have the same id."""
    values: dict[str, Published] = {}
    for name, study in studies().items():
        for value in study.values:
            if value.id in values:
                raise ConfigError(
                    f"study {name}: id '{value.id}' is another value's too; choose another"
                )
            values[value.id] = value
    return values


def ids_by_formula() -> list[str]:
    """List the ids of the values that a formula gives."""
    return [key for key, value in load().items() if value.recomputed]


def find(key: str) -> Published:
    """Find a value; `ConfigError` with the nearest id where there is none."""
    if key not in load():
        family = [other for other in load() if other.split(".")[:2] == key.split(".")[:2]]
        check_known("published value", key, family or load())
    return load()[key]


def value(key: str) -> float:
    """Find a published number."""
    return find(key).number
