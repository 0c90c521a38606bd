"""Read how much is run: config/scales/SCALE/TASK.yaml, each key checked.

What wins where several files say something; each entry of a line overrides those before it:

    files of a scale     config/scales/TASK.yaml, which a task's scales share; the scale that it is
                         `based_on`; its own file. Mappings merge key by key (`merge`).
    recipe of a variant  the scale's `recipes`; over it `recipes_at` the corpus, or in place of
                         these `recipes_of` the question at the corpus (`Scale.recipe`)
    model                the recipe's `net`; the variant's `times`, which multiplies; its `net`
    training             the scale's; the recipe's; the variant's
    evaluation           the scale's; the recipe's
    choices of attention all keys and softmax; the recipe's `attention`; the variant's
    their settings       the default in the choice's file; the scale's `settings`; the recipe's; the
                         scale's `settings_at` this S; S and k of the grid; the variant's
    S and k              the question's `grid`; the variant's, up to its `largest_S`
    seeds                the scale's `seeds`, or its `seeds_at` the corpus; of these as many as the
                         question's `seeds`, or the scale's `seeds_of` the question
    corpora              the question's; what the scale's `corpora` reads in place; the config's
    questions            all but those `by_name`; the scale's `questions`; the config's

Sizes and then trials multiply what comes of it. `workflow.plan.jobs` follows this order for jobs,
`workflow.settings.config` for questions and seeds, `workflow.plan.plan` for corpora.
"""

import math
from collections.abc import Iterator
from functools import cache, reduce
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    PrivateAttr,
    WrapValidator,
    field_validator,
    model_validator,
)

from workflow.config.choices import AXES, choice_names, choice_settings
from workflow.config.errors import ConfigError, check_known
from workflow.config.files import ROOT, config_file, list_folder
from workflow.config.places import Place, find, place_of_name, placed, words_of
from workflow.config.strict import (
    PositiveStrictInt,
    StrictInt,
    StrictModel,
    parse,
    parse_json,
    read_yaml,
)
from workflow.tasks.catalogue import BaseCatalogue
from workflow.tasks.spec import UNFINISHED, section


def _known_settings(settings: dict, handler, info) -> dict:
    """Refuse settings that a choice of attention does not have, and choices that do not exist."""
    checked = handler(settings)
    # no two axes share a choice
    axes = {}
    for axis in AXES:
        axes |= dict.fromkeys(choice_names(axis), axis)
    for name, values in settings.items():
        check_known("choice of attention", name, axes)
        known = choice_settings(axes[name], name)
        for key, value in values.items():
            check_known(f"setting of {axes[name]} '{name}' in {info.field_name}", key, known)
            refusal = known[key].refusal(key, value, values)
            if refusal:
                error = ConfigError(f"{info.field_name}.{name}: {refusal}")
                error.place = find(settings, [name, key])
                raise error
    return checked


# by name of the choice
Settings = Annotated[dict[str, dict[str, Any]], WrapValidator(_known_settings)]
Sizes = Annotated[list[PositiveStrictInt], AfterValidator(sorted)]


def _differ(seeds: list[int]) -> list[int]:
    for seed in seeds:
        if seeds.count(seed) > 1:
            raise ConfigError(f"seeds: {seed} is listed twice")
    return seeds


Seeds = Annotated[list[StrictInt], Field(min_length=1), AfterValidator(_differ)]


class Recipe(StrictModel):
    """A model and how it is trained; its keys override the scale's."""

    net: dict[str, Any] = {}
    attention: dict[str, Any] = {}
    settings: Settings = {}
    training: dict[str, Any] = {}
    evaluation: dict[str, Any] = {}


class Measure(StrictModel):
    """How costs are measured.

    seconds: per cell and pass. memory_mb: the budget beyond which a step counts as `oom`.
    predict_batch: streams, or sentences, at once. longest_S: where the search for the longest span
    ends. layer_width, layer_lengths: d and every n of the layers in Table 1 of Attention Is All You
    Need (translation alone).
    """

    passes: PositiveStrictInt
    seconds: float = Field(gt=0)
    predict_batch: PositiveStrictInt = 1
    memory_mb: PositiveStrictInt
    longest_S: PositiveStrictInt = 1
    layer_width: PositiveStrictInt = 64
    layer_lengths: list[PositiveStrictInt] = Field([32, 128, 256, 512], min_length=2)


def read_measure(text: str) -> Measure:
    """Read how costs are measured, from JSON."""
    return parse(Measure, parse_json(text, "measure"), "measure")


class Scale(StrictModel):
    """How much is run: corpora, grids of S and k, seeds, models, updates.

    based_on: the scale that this one changes, null for what the scales of its task share. corpora:
    what is read in place of a paper's corpus; null where there is nothing, and the corpus is left
    out. questions: those this scale has time for, null for all. variants: by question, those of its
    variants that this scale has time for. seeds_at: by corpus, seeds that take the place of
    `seeds`. seeds_of: by question, how many seeds it takes here.
    train_first: questions whose first seed is trained here although its record ships with the
    project. settings_at: settings for one S alone. recipes_at: by corpus, what changes in every
    recipe there. recipes_of: the same by question and corpus. trial_seed: of the trials of
    questions that have some, null for no trials. follows_papers: whether each recipe is its
    paper's, so that variants may differ in training settings that their question does not name
    (`workflow.plan.same_training`).
    """

    scale: str
    based_on: str | None = None
    about: str
    corpora: dict[str, str | None]
    questions: list[str] | None = None
    variants: dict[str, list[str]] = {}
    train_first: list[str] = []
    seeds: Seeds
    seeds_at: dict[str, Seeds] = {}
    seeds_of: dict[str, PositiveStrictInt] = {}
    trial_seed: StrictInt | None = None
    follows_papers: bool = False
    S: Sizes = []
    k: Annotated[Sizes, Field(min_length=1)]
    settings: Settings = {}
    settings_at: dict[StrictInt, Settings] = {}
    recipes: dict[str, Recipe]
    recipes_at: dict[str, Recipe] = {}
    recipes_of: dict[str, dict[str, Recipe]] = {}
    training: dict[str, Any]
    evaluation: dict[str, Any]
    measure: Measure
    # what each of its files says, the shared one first and its own last
    _contents: list[dict] = PrivateAttr(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def trials_are_of_questions(cls, raw):
        if isinstance(raw, dict) and "trials" in raw:
            raise ConfigError(
                "trials belong to a question (studies/*/questions); "
                "a scale runs them if it sets trial_seed, which must not be one of its seeds"
            )
        return raw

    @field_validator("trial_seed")
    @classmethod
    def judges_nothing(cls, seed, info):
        at_corpora = info.data.get("seeds_at", {}).values()
        judging = {*info.data.get("seeds", []), *chain.from_iterable(at_corpora)}
        if seed in judging:
            raise ConfigError(f"trial_seed = {seed}: also an evaluation seed; valid: any other")
        return seed

    @field_validator("settings_at")
    @classmethod
    def spans_exist(cls, offered, info):
        for S in offered:
            check_known("S in settings_at", S, info.data.get("S") or [S])
        return offered

    def recipe(self, name: str, question: str, corpus: str) -> Recipe:
        """Look up a recipe by name, as this question follows it on this corpus."""
        check_known("recipe", name, self.recipes)
        of_question = self.recipes_of.get(question, {})
        here = of_question.get(corpus) or self.recipes_at.get(corpus, Recipe())
        sections = {}
        for key, value in self.recipes[name]:
            sections[key] = value | getattr(here, key)
        return Recipe(**sections)

    @property
    def work(self) -> float:
        """Estimate the MACs of training its first model.

        What it learns from, times layers, times width squared.
        """
        recipe = next(iter(self.recipes.values()))
        training = self.training | recipe.training
        factors = [training.get(key, 1) for key in ("steps", "block", "batch", "tokens")]
        learned = math.prod(factors)
        layers = recipe.net["layers"]
        width = recipe.net["d_model"]
        return learned * layers * width**2

    @property
    def contents(self) -> list[dict]:
        """Return what each of its files says, as read: values know their places."""
        return self._contents

    def places_of_settings(self, line: str) -> dict[str, Place]:
        """Find where the settings are that a line about merged settings names, in its order."""
        words = words_of(line)
        places: dict[str, Place] = {}
        for content in self._contents:
            for _, given in _sections_in(content):
                for key in given:
                    place = find(given, [key])
                    if place and key != "name" and key in words:
                        places[key] = place
        return {key: places[key] for key in sorted(places, key=words.index)}


def known_scales() -> list[str]:
    """List the scales: folders of config/scales/, of the suite and of where it is run."""
    names = set()
    for base in (ROOT, Path()):
        for folder in list_folder(base / "config" / "scales"):
            if list_folder(folder, ".yaml"):
                names.add(folder.name)
    return sorted(names)


def tasks_of_scale(scale: str) -> list[str]:
    """List the tasks that a scale has a file for, in the suite or in the folder where it is run.

    Unfinished ones are left out.
    """
    tasks = set()
    for base in (ROOT, Path()):
        for path in list_folder(base / "config" / "scales" / scale, ".yaml"):
            tasks.add(path.stem)
    return sorted(tasks - UNFINISHED.keys())


def load_scale(scale: str, task: str) -> Scale:
    """Merge the files of a scale and read the result.

    Each file is also checked by itself, so that errors name it.
    """
    files = _files_of(scale, task)
    elsewhere = _parts_of_recipes(task)
    for place, content in files.items():
        where = f"config/{place}"
        parse(Scale, content, where, part=True, elsewhere=elsewhere)
        _check_sections(content, task, where)
    merged = reduce(merge, files.values(), {}) | {"scale": scale}
    read = parse(Scale, merged, f"config/scales/{scale}/{task}.yaml")
    read._contents = list(files.values())
    return read


def merge(base: dict, changes: dict) -> dict:
    """Put changes over a base: mappings are merged key by key, everything else is replaced."""
    merged = {}
    for key, new in changes.items():
        old = base.get(key)
        are_mappings = isinstance(old, dict) and isinstance(new, dict)
        merged[key] = merge(old, new) if are_mappings else new
    return base | merged


def _files_of(scale: str, task: str, above: tuple[str, ...] = ()) -> dict[str, dict]:
    """Read the files behind a scale, the shared one first and its own last.

    above: the scales that are based on it.
    """
    place = f"scales/{scale}/{task}.yaml"
    content = read_yaml(config_file(place))
    based_on = content.get("based_on")
    if based_on is not None:
        _check_base(based_on, content, (*above, scale), task)
        return {**_files_of(based_on, task, (*above, scale)), place: content}
    shared = f"scales/{task}.yaml"
    if not config_file(shared).exists():
        return {place: content}
    return {shared: read_yaml(config_file(shared)), place: content}


def _check_base(based_on: str, content: dict, above: tuple[str, ...], task: str) -> None:
    """Refuse a base that does not exist, or is based on what names it.

    above: the scales that are based on it, the nearest last.
    """
    where = f"config/scales/{above[-1]}/{task}.yaml"
    if based_on in above:
        circle = " -> ".join([*above, based_on])
        line = f"based_on = {based_on}: a scale cannot be based on itself: {circle}"
        raise placed(line, where, find(content, ["based_on"]))
    others = []
    for other in known_scales():
        if other not in above and task in tasks_of_scale(other):
            others.append(other)
    try:
        check_known(f"scale in {where}, based_on:", based_on, others)
    except ConfigError as error:
        raise place_of_name(error, content) from None


def _parts_of_recipes(task: str) -> dict[str, type[BaseModel]]:
    """Map the places of net, training and evaluation in a scale's file to the task's models."""
    return {
        "under recipes.NAME.net": section(task, "net"),
        "under training": section(task, "training"),
        "under evaluation": section(task, "evaluation"),
    }


def _sections_in(content: dict) -> Iterator[tuple[str, dict]]:
    """Yield each net, training and evaluation that a file gives, its own and its recipes'."""
    of_questions = content.get("recipes_of") or {}
    of_recipes = [content.get("recipes"), content.get("recipes_at"), *of_questions.values()]
    parts = [content]
    for recipes in of_recipes:
        parts += (recipes or {}).values()
    for part in parts:
        for name in ("net", "training", "evaluation"):
            if part.get(name):
                yield name, part[name]


def _check_sections(content: dict, task: str, where: str) -> None:
    """Refuse unknown keys of nets, training and evaluation, and values that they cannot have."""
    elsewhere = {"at the top": Scale, **_parts_of_recipes(task)}
    for name, given in _sections_in(content):
        model = section(task, name)
        parse(model, given, f"{where}: {name}", part=True, elsewhere=elsewhere)


def find_task(corpus: str, catalogues: dict[str, BaseCatalogue]) -> str:
    """Find the task whose datasets know a name; `ConfigError` with the nearest name if none does.

    catalogues: datasets by task.
    """
    choices = []
    for task, catalogue in catalogues.items():
        if catalogue.knows(corpus):
            return task
        choices += catalogue.choices(corpus)
    check_known("dataset", corpus, choices)


@cache
def strength(scale: str) -> float:
    """Return the largest `Scale.work` among the tasks of a scale; 0 where there is none."""
    works = [load_scale(scale, task).work for task in tasks_of_scale(scale)]
    return max(works, default=0.0)
