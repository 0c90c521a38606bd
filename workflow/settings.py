"""The files a person edits, read strictly: an unknown key is refused with the nearest valid name."""

import os
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError, field_validator

from workflow.choices import Refused, refuse_unknown

CONFIG = Path(__file__).parent.parent / "config"
PAPERS = ("adaptive_span", "explicit_sparse", "aiayn")


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Recipe(Closed):
    """A net with its own way of being trained; keys override the rung's."""

    net: dict[str, Any]
    attention: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    training: dict[str, Any] = {}
    evaluation: dict[str, Any] = {}


class Measure(Closed):
    """How costs are measured. seconds: per cell and pass; memory_mb: the budget that `oom` means."""

    passes: PositiveInt
    seconds: float = Field(gt=0)
    predict_batch: PositiveInt = 1
    memory_mb: PositiveInt
    longest_S: PositiveInt


class Rung(Closed):
    """How hard we run: texts, grids of S and k, seeds, nets, steps. settings_at: settings for one S alone."""

    rung: str
    about: str
    corpora: dict[str, str]
    seeds: list[int] = Field(min_length=1)
    S: list[int] = Field(min_length=1)
    k: list[int] = Field(min_length=1)
    settings: dict[str, Any] = {}
    settings_at: dict[int, dict[str, Any]] = {}
    recipes: dict[str, Recipe]
    training: dict[str, Any]
    evaluation: dict[str, Any]
    measure: Measure

    @field_validator("S", "k")
    @classmethod
    def positive(cls, values, info):
        if min(values) < 1:
            raise ValueError(f"{info.field_name} must be at least 1, got {min(values)}")
        return sorted(values)


class Variant(Closed):
    """What differs from the recipe. S and k: a number, a list, `all`, `max` or `min` of the rung's grid."""

    recipe: str = "base"
    span: str | dict | None = None
    selection: str | dict | None = None
    normaliser: str | dict | None = None
    position: str | dict | None = None
    S: int | str | list[int] | None = None
    k: int | str | list[int] | None = None


class Grid(Closed):
    S: int | str | list[int] | None = None
    k: int | str | list[int] | None = None


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
            raise ValueError(f"an ablation is a question; '{text}' does not end in a question mark")
        return text.strip()


class Config(Closed):
    """config/config.yaml, with what `snakemake --config` adds."""

    rung: str
    papers: list[str]
    corpus: str | None = None
    data_dir: str | None = None
    device: str = "auto"

    @field_validator("papers")
    @classmethod
    def papers_exist(cls, papers):
        for paper in papers:
            refuse_unknown("paper", paper, PAPERS)
        return papers

    @field_validator("device")
    @classmethod
    def device_exists(cls, device):
        refuse_unknown("device", device, ("auto", "cpu", "cuda"))
        return device

    def load_rung(self) -> Rung:
        refuse_unknown("rung", self.rung, [path.stem for path in (CONFIG / "rungs").glob("*.yaml")])
        return parse(Rung, read_yaml(CONFIG / "rungs" / f"{self.rung}.yaml"), f"config/rungs/{self.rung}.yaml")


def read_yaml(path: Path) -> dict:
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except yaml.YAMLError as error:
        raise Refused(f"{path}: not YAML: {' '.join(str(error).split())}") from None


def parse(model: type[BaseModel], raw: dict, where: str):
    """`raw` as `model`, or one line: the file, the key, the value, what would be valid."""
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        first = min(
            error.errors(), key=lambda one: one["type"] != "extra_forbidden"
        )  # a misspelt key explains the rest
    place = first["loc"]
    if first["type"] == "extra_forbidden":
        refuse_unknown(f"key in {where}:", str(place[-1]), _model_at(model, place[:-1]).model_fields)
    raise Refused(f"{where}: {'.'.join(map(str, place))} = {first['input']!r}: {first['msg']}")


def _model_at(model: type[BaseModel], place: tuple) -> type[BaseModel]:
    """The model that a path of keys leads to; keys of mappings and places in lists lead on to what they hold."""
    for key in place:
        if key in model.model_fields:
            model = _model_in(model.model_fields[key].annotation) or model
    return model


def _model_in(annotation) -> type[BaseModel] | None:
    """The pydantic model inside an annotation such as dict[str, Recipe]."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for inside in getattr(annotation, "__args__", ()) if (model := _model_in(inside))), None)


def known_ablations() -> list[str]:
    return sorted(path.stem for path in (CONFIG / "ablations").glob("*.yaml"))


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


def load_corpora():
    from workflow.corpora.catalogue import Catalogue

    return parse(Catalogue, read_yaml(CONFIG / "tasks" / "char_lm.yaml"), "config/tasks/char_lm.yaml")
