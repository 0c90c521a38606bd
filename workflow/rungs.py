"""How hard we run: config/rungs/RUNG/TASK.yaml, read strictly."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, field_validator, model_validator

from workflow.choices import Refused, every_setting, refuse_unknown
from workflow.closed import Closed, Positive, Whole, parse, parse_json, read_yaml
from workflow.corpora.caption_catalogue import CaptionCatalogue
from workflow.corpora.catalogue import Catalogue
from workflow.corpora.names import Names
from workflow.corpora.pair_catalogue import PairCatalogue
from workflow.corpora.tree_catalogue import TreeCatalogue

CONFIG = Path(__file__).parent.parent / "config"
CATALOGUES = {
    "char_lm": Catalogue,
    "translation": PairCatalogue,
    "captioning": CaptionCatalogue,
    "parsing": TreeCatalogue,
}


def _taken(offered: dict, info) -> dict:
    """`offered`, or `Refused` where no choice of attention takes one of its keys."""
    for key in offered:
        refuse_unknown(f"setting in {info.field_name}", key, every_setting())
    return offered


Settings = Annotated[dict[str, Any], AfterValidator(_taken)]


class Recipe(Closed):
    """A net with its own way of being trained; keys override the rung's."""

    net: dict[str, Any] = {}
    attention: dict[str, Any] = {}
    settings: Settings = {}
    training: dict[str, Any] = {}
    evaluation: dict[str, Any] = {}


class Engine(Closed):
    """The nets on which the engine is measured against the definition, over `lengths` S.

    far: S of one-step prediction. threads: of a step. rounds: turns of every cell; the definition's cost minutes.
    """

    layers: Positive
    width: Positive
    heads: Positive
    inner: Positive
    block: Positive
    batch: Positive
    lengths: list[Positive] = Field(min_length=2)
    far: Positive
    threads: Positive
    rounds: Positive

    @model_validator(mode="after")
    def sizes_fit(self):
        if self.width % self.heads:
            raise Refused(f"heads must divide width, got heads = {self.heads}, width = {self.width}")
        if self.lengths != sorted(set(self.lengths)):
            raise Refused(f"lengths must rise, got {self.lengths}")
        return self


class Measure(Closed):
    """How costs are measured. seconds: per cell and pass; memory_mb: the budget that `oom` means.

    predict_batch: streams, or sentences, side by side. longest_S: where the search for the longest span ends.
    layer_width, layer_lengths: d and every n of the layers in Table 1 of Attention Is All You Need (translation alone).
    engine: how the engine is measured (char_lm alone), null to leave it out.
    """

    passes: Positive
    seconds: float = Field(gt=0)
    predict_batch: Positive = 1
    memory_mb: Positive
    longest_S: Positive = 1
    layer_width: Positive = 64
    layer_lengths: list[Positive] = Field([32, 128, 256, 512], min_length=2)
    engine: Engine | None = None


def read_measures(text: str) -> dict[str, Measure]:
    """How costs are measured, by task, from JSON."""
    return {task: parse(Measure, one, f"measure of {task}") for task, one in parse_json(text, "measures").items()}


class Rung(Closed):
    """How hard we run: texts, grids of S and k, seeds, nets, steps. settings_at: settings for one S alone.

    corpora: what stands in for a paper's text, null where nothing does: then it is left out. ablations: the questions
    this rung can pay for, null for all. recipes_at: what one paper does otherwise on one of its corpora.
    """

    rung: str
    about: str
    corpora: dict[str, str | None]
    ablations: list[str] | None = None
    seeds: list[Whole] = Field(min_length=1)
    S: list[Whole] = []
    k: list[Whole] = Field(min_length=1)
    settings: Settings = {}
    settings_at: dict[Whole, Settings] = {}
    recipes: dict[str, Recipe]
    recipes_at: dict[str, dict[str, Recipe]] = {}
    training: dict[str, Any]
    evaluation: dict[str, Any]
    measure: Measure

    @field_validator("S", "k")
    @classmethod
    def positive(cls, values, info):
        if min(values, default=1) < 1:
            raise Refused(f"{info.field_name} must be at least 1, got {min(values)}")
        return sorted(values)

    @field_validator("settings_at")
    @classmethod
    def spans_exist(cls, offered, info):
        for S in offered:
            refuse_unknown("S in settings_at", S, info.data.get("S", [S]))
        return offered

    def recipe(self, name: str, paper: str, corpus: str) -> Recipe:
        """A recipe by name, as this paper follows it on this corpus."""
        refuse_unknown("recipe", name, self.recipes)
        here = self.recipes_at.get(paper, {}).get(corpus, Recipe())
        return Recipe(**{key: value | getattr(here, key) for key, value in self.recipes[name]})


def load_rung(rung: str, task: str) -> Rung:
    return _read(Rung, CONFIG / "rungs" / rung / f"{task}.yaml")


def load_corpora(task: str) -> Names:
    """The data sets of a task, by name."""
    return _read(CATALOGUES[task], CONFIG / "tasks" / f"{task}.yaml")


def _read(model, path: Path):
    return parse(model, read_yaml(path), path.relative_to(CONFIG.parent).as_posix())
