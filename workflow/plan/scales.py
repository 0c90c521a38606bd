"""How hard we run: config/scales/SCALE/TASK.yaml, read strictly."""

import math
from functools import cache
from typing import Annotated, Any

from pydantic import AfterValidator, Field, field_validator, model_validator

from workflow.config.choices import axis_of, choice_settings
from workflow.config.errors import ConfigError, check_known
from workflow.config.files import config_file, config_names
from workflow.config.strict import PositiveStrictInt, StrictInt, StrictModel, parse, parse_json, read_yaml
from workflow.data.sources.catalogue import BaseCatalogue
from workflow.tasks.spec import TASKS


def _known_settings(settings: dict, info) -> dict:
    """`settings`, or `ConfigError` where there is no such choice of attention, or it has no such setting."""
    for name, values in settings.items():
        axis = axis_of(name)
        for key in values:
            check_known(f"setting of {axis} '{name}' in {info.field_name}", key, choice_settings(axis, name))
    return settings


Settings = Annotated[dict[str, dict[str, Any]], AfterValidator(_known_settings)]  # by name of the choice


class Recipe(StrictModel):
    """A net with its own way of being trained; keys override the scale's."""

    net: dict[str, Any] = {}
    attention: dict[str, Any] = {}
    settings: Settings = {}
    training: dict[str, Any] = {}
    evaluation: dict[str, Any] = {}


class Engine(StrictModel):
    """The nets on which the engine is measured against the definition, over `lengths` S.

    far: S of one-step prediction. threads: of a step. rounds: turns of every cell; the definition's cost minutes.
    """

    layers: PositiveStrictInt
    d_model: PositiveStrictInt
    heads: PositiveStrictInt
    d_ff: PositiveStrictInt
    block: PositiveStrictInt
    batch: PositiveStrictInt
    lengths: list[PositiveStrictInt] = Field(min_length=2)
    far: PositiveStrictInt
    threads: PositiveStrictInt
    rounds: PositiveStrictInt

    @model_validator(mode="after")
    def sizes_fit(self):
        if self.d_model % self.heads:
            raise ConfigError(f"heads must divide d_model, got heads = {self.heads}, d_model = {self.d_model}")
        if self.lengths != sorted(set(self.lengths)):
            raise ConfigError(f"lengths must rise, got {self.lengths}")
        return self


class Measure(StrictModel):
    """How costs are measured. seconds: per cell and pass; memory_mb: the budget that `oom` means.

    predict_batch: streams, or sentences, side by side. longest_S: where the search for the longest span ends.
    layer_width, layer_lengths: d and every n of the layers in Table 1 of Attention Is All You Need (translation alone).
    engine: how the engine is measured (char_lm alone), null to leave it out.
    """

    passes: PositiveStrictInt
    seconds: float = Field(gt=0)
    predict_batch: PositiveStrictInt = 1
    memory_mb: PositiveStrictInt
    longest_S: PositiveStrictInt = 1
    layer_width: PositiveStrictInt = 64
    layer_lengths: list[PositiveStrictInt] = Field([32, 128, 256, 512], min_length=2)
    engine: Engine | None = None


def read_measure(text: str) -> Measure:
    """How costs are measured, from JSON."""
    return parse(Measure, parse_json(text, "measure"), "measure")


def read_sizes(text: str) -> Engine:
    """The nets on which the engine is timed, from JSON."""
    return parse(Engine, parse_json(text, "sizes"), "sizes")


class Scale(StrictModel):
    """How hard we run: texts, grids of S and k, seeds, nets, steps. settings_at: settings for one S alone.

    corpora: what stands in for a paper's text, null where nothing does: then it is left out. ablations: the questions
    this scale can pay for, null for all. variants: by ablation, those of its variants that this scale can pay for.
    seeds_of: by ablation, how many of the seeds it takes here, where not as many as its own file says. train_first:
    ablations whose first seed is trained here although its record came with the project. recipes_at: by corpus, what
    every recipe changes there. recipes_of: by ablation and corpus, what stands in place of that.
    """

    scale: str
    about: str
    corpora: dict[str, str | None]
    ablations: list[str] | None = None
    variants: dict[str, list[str]] = {}
    train_first: list[str] = []
    seeds: list[StrictInt] = Field(min_length=1)
    seeds_of: dict[str, PositiveStrictInt] = {}
    S: list[StrictInt] = []
    k: list[StrictInt] = Field(min_length=1)
    settings: Settings = {}
    settings_at: dict[StrictInt, Settings] = {}
    recipes: dict[str, Recipe]
    recipes_at: dict[str, Recipe] = {}
    recipes_of: dict[str, dict[str, Recipe]] = {}
    training: dict[str, Any]
    evaluation: dict[str, Any]
    measure: Measure

    @field_validator("S", "k")
    @classmethod
    def positive(cls, values, info):
        if min(values, default=1) < 1:
            raise ConfigError(f"{info.field_name} must be at least 1, got {min(values)}")
        return sorted(values)

    @field_validator("settings_at")
    @classmethod
    def spans_exist(cls, offered, info):
        for S in offered:
            check_known("S in settings_at", S, info.data.get("S", [S]))
        return offered

    def recipe(self, name: str, ablation: str, corpus: str) -> Recipe:
        """A recipe by name, as this ablation follows it on this corpus."""
        check_known("recipe", name, self.recipes)
        here = self.recipes_of.get(ablation, {}).get(corpus) or self.recipes_at.get(corpus, Recipe())
        return Recipe(**{key: value | getattr(here, key) for key, value in self.recipes[name]})

    @property
    def work(self) -> float:
        """Of training its first net, roughly, in multiply-adds: what it learns from x layers x width squared."""
        recipe = next(iter(self.recipes.values()))
        training = self.training | recipe.training
        learned = math.prod(training.get(key, 1) for key in ("steps", "block", "batch", "tokens"))
        return learned * recipe.net["layers"] * recipe.net["d_model"] ** 2


def load_scale(scale: str, task: str) -> Scale:
    return _read(Scale, f"scales/{scale}/{task}.yaml")


def load_corpora(task: str) -> BaseCatalogue:
    """The data sets of a task, by name."""
    return _read(TASKS[task].catalogue, f"tasks/{task}.yaml")


@cache
def strength(scale: str) -> float:
    """The work of the largest training of a scale; 0 where no such scale is known."""
    return max((load_scale(scale, task).work for task in config_names(f"scales/{scale}")), default=0.0)


def _read(model, place: str):
    return parse(model, read_yaml(config_file(place)), f"config/{place}")
