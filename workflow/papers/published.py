"""What the papers print, cell by cell, from config/published. Tables join it by id."""

from functools import cache
from inspect import signature
from typing import Literal

import pandas as pd
from pydantic import Field, model_validator

from workflow.config.errors import ConfigError, check_known
from workflow.config.files import ROOT, config_file
from workflow.config.strict import StrictModel, parse, read_yaml
from workflow.papers import known_papers
from workflow.papers.formulas import FORMULAS

FOLDER = ROOT / "config" / "published"


class Published(StrictModel):
    """One published number. inferred, digitised: not printed. conflict: what is known of two sources that disagree."""

    id: str
    where: str
    row: str
    column: str
    value: float | str | list
    unit: str
    kind: Literal["analytic", "trained", "speed", "memory", "cited", "setting"]
    note: str | None = None
    inferred: bool = False
    digitised: bool = False
    conflict: str | None = None
    paper: str = ""

    @property
    def source(self) -> Literal["published", "inferred", "digitised"]:
        """What stands behind the value: digits of the paper, what follows from others, or a plot."""
        return "digitised" if self.digitised else "inferred" if self.inferred else "published"


class Artefact(StrictModel):
    """What makes a table or figure of a paper. drawing: why nothing does."""

    tables: list[str] = []
    figures: list[str] = []
    drawing: str | None = None

    @model_validator(mode="after")
    def is_made_or_explained(self):
        if bool(self.drawing) == bool(self.tables or self.figures):
            raise ValueError("takes tables or figures, or drawing, which says why nothing makes it")
        return self


class Paper(StrictModel):
    """artefacts: every table and figure of the paper, by its name there."""

    paper: str
    title: str
    artefacts: dict[str, Artefact] = {}
    values: list[Published]


class Recomputed(StrictModel):
    formula: str
    inputs: dict[str, float]
    times: float = 1
    note: str | None = None

    @model_validator(mode="after")
    def inputs_are_the_formulas(self):
        check_known("formula", self.formula, FORMULAS)
        known = signature(FORMULAS[self.formula]).parameters
        for name in self.inputs:
            check_known(f"input of {self.formula}", name, known)
        for name, parameter in known.items():
            if parameter.default is parameter.empty and name not in self.inputs:
                raise ConfigError(f"formula '{self.formula}' needs a value for '{name}'")
        return self

    @property
    def result(self) -> float:
        inputs = {key: int(value) if float(value).is_integer() else value for key, value in self.inputs.items()}
        return FORMULAS[self.formula](**inputs) * self.times


class Analytic(StrictModel):
    """recomputed: id -> formula and inputs. open: id -> why it cannot be computed."""

    recomputed: dict[str, Recomputed]
    open: dict[str, str] = Field(default_factory=dict)


@cache
def papers() -> dict[str, Paper]:
    return {name: _read(Paper, name) for name in known_papers()}


def _read(model, name: str):
    place = f"published/{name}.yaml"
    return parse(model, read_yaml(config_file(place)), f"config/{place}")


@cache
def load() -> dict[str, Published]:
    """Every published value by id. `ConfigError` where two values have the same id."""
    values: dict[str, Published] = {}
    for name, paper in papers().items():
        for value in paper.values:
            if value.id in values:
                raise ConfigError(f"config/published/{name}.yaml: id '{value.id}' appears twice")
            values[value.id] = value.model_copy(update={"paper": name})
    return values


@cache
def load_analytic() -> Analytic:
    """How the values that need no training are computed again."""
    analytic = _read(Analytic, "analytic")
    for key in (*analytic.recomputed, *analytic.open):
        find(key)
    return analytic


def find(key: str) -> Published:
    """`ConfigError` with the nearest id where there is none."""
    if key not in load():
        family = [other for other in load() if other.split(".")[:2] == key.split(".")[:2]]
        check_known("published value", key, family or load())
    return load()[key]


def value(key: str) -> float:
    return find(key).value


def join(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells (see `workflow.report.tables._cells`) with what the paper prints; the difference where comparable.

    published_source: published | inferred | digitised. difference_pct: in per cent.
    """
    rows = []
    for cell in cells.to_dict("records"):
        key = cell.get("published")
        published = find(key) if isinstance(key, str) else None
        cell["published_value"] = published.value if published else None
        for column in ("unit", "kind", "where", "note", "source"):
            cell[f"published_{column}"] = getattr(published, column) if published else None
        cell["conflict"] = published.conflict if published else None
        cell["comparable"] = bool(published) and is_comparable(cell, published)
        cell["difference_pct"] = _difference(cell, published) if cell["comparable"] else None
        rows.append(cell)
    return pd.DataFrame(rows)


def is_comparable(cell: dict, published: Published) -> bool:
    """Whether a difference in per cent to what the paper prints says anything. Decided here, for tables and pages.

    What a formula gives does, where the paper has it by other means; so does a ratio of costs. A score or a span does
    where nets and text are the paper's: of smaller nets, or of a text that stands in, never. Times and memory belong
    to a machine, and a setting is chosen, not found.
    """
    if cell["kind"] == "analytic":
        return published.source != "inferred"
    if cell["kind"] != "measured":
        return False
    return cell["unit"] == "x" or published.kind == "trained" and cell["as_the_paper"]


def _difference(cell: dict, published: Published) -> float | None:
    value, printed = cell["value"], published.value
    numbers = all(isinstance(side, int | float) and not isinstance(side, bool) for side in (value, printed))
    return 100 * (value / printed - 1) if numbers and printed and value == value else None


def load_digitised_spans() -> pd.DataFrame:
    """Adaptive Attention Span, Figure 4, read off the plot: layer, head_rank, span (about 10 % exact)."""
    return pd.read_csv(FOLDER / "as_fig4_digitised.csv")
