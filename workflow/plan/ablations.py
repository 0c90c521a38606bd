"""The files a person edits, read strictly."""

import os
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, field_validator

from workflow.config.environment import BACKENDS
from workflow.config.errors import ConfigError, check_known
from workflow.config.job import JOBS
from workflow.config.strict import PositiveStrictInt, StrictInt, StrictModel, one_of, parse, read_yaml
from workflow.plan.scales import CONFIG, Scale, load_scale

ROOT = Path(__file__).parents[2]
PAPERS = ("adaptive_span", "explicit_sparse", "aiayn")
TASKS = tuple(JOBS)
PaperName = Annotated[str, one_of("paper", PAPERS)]
Values = StrictInt | str | list[StrictInt] | None


class Variant(StrictModel):
    """What differs from the recipe. S and k: a number, a list, `all`, `max` or `min` of the scale's grid.

    net and training replace sizes of the recipe, `times` multiplies sizes of its net; apply_to: see `Seq2SeqAttentionChoices`.
    """

    recipe: str = "base"
    span: str | dict | None = None
    selection: str | dict | None = None
    normaliser: str | dict | None = None
    position: str | dict | None = None
    S: Values = None
    k: Values = None
    apply_to: list[str] | None = None
    net: dict[str, Any] = {}
    times: dict[str, float] = {}
    training: dict[str, Any] = {}


class Grid(StrictModel):
    S: Values = None
    k: Values = None


class Ablation(StrictModel):
    """One question, its variants, and the tables and figures that answer it.

    seeds: how many of the scale's seeds, null for all.
    """

    question: str
    paper: PaperName
    task: Annotated[str, one_of("task", TASKS)] = "char_lm"
    corpora: list[str] = Field(min_length=1)
    variants: dict[str, Variant] = Field(min_length=1)
    grid: Grid = Grid()
    seeds: PositiveStrictInt | None = None
    tables: list[str] = []
    figures: list[str] = []

    @field_validator("question")
    @classmethod
    def asks(cls, text):
        if not text.strip().endswith("?"):
            raise ConfigError(f"an ablation is a question; '{text}' does not end in a question mark")
        return text.strip()

    @field_validator("tables", "figures")
    @classmethod
    def builders_exist(cls, names, info):
        for name in names:
            check_known(
                info.field_name.removesuffix("s"), name, known(ROOT / "workflow" / "report" / info.field_name, "py")
            )
        return names


class Config(StrictModel):
    """config/config.yaml, with what `snakemake --config` adds."""

    scale: str
    papers: list[str] = Field(min_length=1)
    tasks: list[str] = Field(list(TASKS), min_length=1)
    ablations: list[str] | None = None
    corpus: str | None = None
    data_dir: str | None = None
    device: Annotated[str, one_of("device", ("auto", "cpu", "cuda"))] = "auto"
    engine: Annotated[str, one_of("engine", BACKENDS)] = "auto"

    @field_validator("papers", "tasks", "ablations")
    @classmethod
    def names_exist(cls, names, info):
        valid = {"papers": PAPERS, "tasks": TASKS, "ablations": known_ablations()}[info.field_name]
        for name in names or []:
            check_known(info.field_name.removesuffix("s"), name, valid)
        return names

    def load_ablations(self) -> dict[str, "Ablation"]:
        """The ablations that are asked for, by name; all of config/ablations/ is read, so that none stays broken.

        A scale that has no file for a task, or does not name an ablation, leaves it out.
        """
        found = {name: load_ablation(name) for name in known_ablations()}
        wanted = found if self.ablations is None else self.ablations
        scales = self.load_scales()
        for scale in scales.values():
            for name in scale.ablations or []:
                check_known(f"ablation in config/scales/{self.scale}", name, found)
        paid = {task: found if scale.ablations is None else scale.ablations for task, scale in scales.items()}
        return {
            name: one
            for name, one in found.items()
            if one.paper in self.papers and name in wanted and name in paid.get(one.task, ())
        }

    def load_scales(self) -> dict[str, Scale]:
        """The scale's settings by task, of the tasks that are asked for."""
        check_known("scale", self.scale, known_scales())
        files = known(CONFIG / "scales" / self.scale)
        for name in files:
            check_known(f"task in config/scales/{self.scale}", name, TASKS)
        return {name: load_scale(self.scale, name) for name in files if name in self.tasks}


def known(folder: Path, ending: str = "yaml") -> list[str]:
    """The names that the files of a folder give, those that start with _ left out."""
    return sorted(path.stem for path in folder.glob(f"*.{ending}") if not path.stem.startswith("_"))


def known_scales() -> list[str]:
    return sorted(path.name for path in (CONFIG / "scales").iterdir() if path.is_dir())


def known_ablations() -> list[str]:
    return known(CONFIG / "ablations")


@cache
def load_ablation(name: str) -> Ablation:
    check_known("ablation", name, known_ablations())
    return parse(Ablation, read_yaml(CONFIG / "ablations" / f"{name}.yaml"), f"config/ablations/{name}.yaml")


def load_config(raw: dict) -> Config:
    """The mapping that Snakemake holds, checked. The environment's ATTENTION_DATA_DIR stands in for data_dir."""
    config = parse(Config, raw, "config")
    if config.data_dir is None:
        config.data_dir = os.environ.get("ATTENTION_DATA_DIR")
    return config
