"""The files a person edits, read strictly."""

import os
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, field_validator

from workflow.choices import Refused, every_setting, refuse_unknown
from workflow.closed import Closed, Positive, Whole, parse, read_yaml
from workflow.corpora.catalogue import Catalogue
from workflow.corpora.pair_catalogue import PairCatalogue

ROOT = Path(__file__).parent.parent
CONFIG = ROOT / "config"
PAPERS = ("adaptive_span", "explicit_sparse", "aiayn")
Values = Whole | str | list[Whole] | None


def _taken(offered: dict, info) -> dict:
    """`offered`, or `Refused` where no choice of attention takes one of its keys."""
    for key in offered:
        refuse_unknown(f"setting in {info.field_name}", key, every_setting())
    return offered


Settings = Annotated[dict[str, Any], AfterValidator(_taken)]


class Recipe(Closed):
    """A net with its own way of being trained; keys override the rung's."""

    net: dict[str, Any]
    attention: dict[str, Any] = {}
    settings: Settings = {}
    training: dict[str, Any] = {}
    evaluation: dict[str, Any] = {}


class Measure(Closed):
    """How costs are measured. seconds: per cell and pass; memory_mb: the budget that `oom` means."""

    passes: Positive
    seconds: float = Field(gt=0)
    predict_batch: Positive = 1
    memory_mb: Positive
    longest_S: Positive


class Rung(Closed):
    """How hard we run: texts, grids of S and k, seeds, nets, steps. settings_at: settings for one S alone."""

    rung: str
    about: str
    corpora: dict[str, str]
    seeds: list[Whole] = Field(min_length=1)
    S: list[Whole] = Field(min_length=1)
    k: list[Whole] = Field(min_length=1)
    settings: Settings = {}
    settings_at: dict[Whole, Settings] = {}
    recipes: dict[str, Recipe]
    training: dict[str, Any]
    evaluation: dict[str, Any]
    measure: Measure

    @field_validator("S", "k")
    @classmethod
    def positive(cls, values, info):
        if min(values) < 1:
            raise Refused(f"{info.field_name} must be at least 1, got {min(values)}")
        return sorted(values)

    @field_validator("settings_at")
    @classmethod
    def spans_exist(cls, offered, info):
        for S in offered:
            refuse_unknown("S in settings_at", S, info.data.get("S", [S]))
        return offered


class Variant(Closed):
    """What differs from the recipe. S and k: a number, a list, `all`, `max` or `min` of the rung's grid."""

    recipe: str = "base"
    span: str | dict | None = None
    selection: str | dict | None = None
    normaliser: str | dict | None = None
    position: str | dict | None = None
    S: Values = None
    k: Values = None


class Grid(Closed):
    S: Values = None
    k: Values = None


class Ablation(Closed):
    """One question, its variants, and the tables and figures that answer it."""

    question: str
    paper: str
    corpora: list[str] = Field(min_length=1)
    variants: dict[str, Variant] = Field(min_length=1)
    grid: Grid = Grid()
    tables: list[str] = []
    figures: list[str] = []

    @field_validator("question")
    @classmethod
    def asks(cls, text):
        if not text.strip().endswith("?"):
            raise Refused(f"an ablation is a question; '{text}' does not end in a question mark")
        return text.strip()

    @field_validator("paper")
    @classmethod
    def paper_exists(cls, paper):
        refuse_unknown("paper", paper, PAPERS)
        return paper

    @field_validator("tables", "figures")
    @classmethod
    def builders_exist(cls, names, info):
        for name in names:
            refuse_unknown(info.field_name.removesuffix("s"), name, known(ROOT / "workflow" / info.field_name, "py"))
        return names


class Config(Closed):
    """config/config.yaml, with what `snakemake --config` adds."""

    rung: str
    papers: list[str] = Field(min_length=1)
    ablations: list[str] | None = None
    corpus: str | None = None
    data_dir: str | None = None
    device: str = "auto"

    @field_validator("papers")
    @classmethod
    def papers_exist(cls, papers):
        for paper in papers:
            refuse_unknown("paper", paper, PAPERS)
        return papers

    @field_validator("ablations")
    @classmethod
    def ablations_exist(cls, names):
        for name in names or []:
            refuse_unknown("ablation", name, known_ablations())
        return names

    @field_validator("device")
    @classmethod
    def device_exists(cls, device):
        refuse_unknown("device", device, ("auto", "cpu", "cuda"))
        return device

    def load_ablations(self) -> dict[str, "Ablation"]:
        """The ablations that are asked for, by name; all of config/ablations/ is read, so that none stays broken."""
        found = {name: load_ablation(name) for name in known_ablations()}
        wanted = found if self.ablations is None else self.ablations
        return {name: one for name, one in found.items() if one.paper in self.papers and name in wanted}

    def load_rung(self) -> Rung:
        refuse_unknown("rung", self.rung, known(CONFIG / "rungs"))
        return parse(Rung, read_yaml(CONFIG / "rungs" / f"{self.rung}.yaml"), f"config/rungs/{self.rung}.yaml")


def known(folder: Path, ending: str = "yaml") -> list[str]:
    """The names that the files of a folder give, those that start with _ left out."""
    return sorted(path.stem for path in folder.glob(f"*.{ending}") if not path.stem.startswith("_"))


def known_ablations() -> list[str]:
    return known(CONFIG / "ablations")


@cache
def load_ablation(name: str) -> Ablation:
    refuse_unknown("ablation", name, known_ablations())
    return parse(Ablation, read_yaml(CONFIG / "ablations" / f"{name}.yaml"), f"config/ablations/{name}.yaml")


def load_config(raw: dict) -> Config:
    """The mapping that Snakemake holds, checked. The environment's ATTENTION_DATA_DIR stands in for data_dir."""
    config = parse(Config, raw, "config")
    if config.data_dir is None:
        config.data_dir = os.environ.get("ATTENTION_DATA_DIR")
    return config


def load_corpora() -> Catalogue:
    return parse(Catalogue, read_yaml(CONFIG / "tasks" / "char_lm.yaml"), "config/tasks/char_lm.yaml")


def load_pairs() -> PairCatalogue:
    return parse(PairCatalogue, read_yaml(CONFIG / "tasks" / "translation.yaml"), "config/tasks/translation.yaml")
