"""Read the battery of a card, studies/own/battery.yaml, and the variant that runs it.

A card compares one variant with the baseline on every part of the battery. The variant is given to
the config: the name of a choice, a mapping of axes to choices, or a YAML file with that mapping.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator

from workflow.config.choices import (
    AXES,
    check_settings,
    choice_names,
    choice_settings,
    has_kernel,
)
from workflow.config.errors import ConfigError, check_known, shown
from workflow.config.files import user_path
from workflow.config.places import UNKNOWN, find_named, placed_by_name
from workflow.config.strict import (
    Name,
    PositiveStrictInt,
    StrictModel,
    load_yaml,
    one_of,
    parse,
    read_yaml,
)
from workflow.config.studies import part_of, shown_path
from workflow.settings.questions import Grid, Question, Variant
from workflow.settings.scales import Scale
from workflow.tasks.catalogue import BaseCatalogue
from workflow.tasks.spec import TASKS

STUDY = "own"
FILE = "battery.yaml"
BASELINE = "baseline"
ALL_CARDS = "index"  # the page of all cards, in the folder of their pages
TAKEN = (BASELINE, ALL_CARDS)  # names that no variant has
# settings of a model that go with every variant of attention
OF_NET = ("gate", "key_heads")
TEXTS = ("name", "title")  # keys of a variant whose values are words, whatever they look like
LONGEST_NAME = 60
LONGEST_TITLE = 60
# it names files, so it begins with no dot, which could lead out of their folder
VALID_NAME = re.compile(r"\w[\w.-]*", re.ASCII)


class Part(StrictModel):
    """A part of the battery: what a variant is compared with the baseline on.

    title: a few words that are true at every scale; left out, it is the title of the dataset that
    the scale reads (`with_titles`). corpus: as questions name it; the scale says what is read.
    score: the quantity that decides, at this value of the task's condition where it has one.
    margin: a difference within it is none, in the score's unit. baseline: how it differs from the
    recipe; a variant differs from the baseline. grid: the one S and the one k of choices that need
    them. own_corpus: whether the corpus that the config names is read in place of this part's.
    costs_at: limits S at which costs are measured besides.
    """

    title: Annotated[str, Field(min_length=1, max_length=LONGEST_TITLE)] | None = None
    task: Annotated[str, one_of("task", TASKS)]
    corpus: Name
    score: Name
    at: float | None = None
    margin: Annotated[float, Field(gt=0)]
    baseline: Variant = Variant()
    grid: Grid = Grid()
    own_corpus: bool = False
    costs_at: list[PositiveStrictInt] = []

    @field_validator("score")
    @classmethod
    def is_a_score(cls, score, info):
        task = info.data.get("task")
        if task:
            quantities = TASKS[task].known.values()
            known = {each.name for each in quantities if each.source == "metric" and each.better}
            check_known("score", score, known)
        return score

    @field_validator("at")
    @classmethod
    def has_a_condition(cls, at, info):
        task = info.data.get("task")
        if at is not None and task and TASKS[task].condition is None:
            raise ConfigError(f"at = {at:g}: task '{task}' has one score for a run; leave it out")
        return at

    @model_validator(mode="after")
    def compares_one_model(self):
        for where in (self.grid, self.baseline):
            for key in ("S", "k"):
                value = getattr(where, key)
                if value == "all" or isinstance(value, list):
                    raise ConfigError(
                        f"{key} = {shown(value)}: a part has one; valid: a number, max or min"
                    )
        return self


class Battery(StrictModel):
    """What a card measures. seeds: of the variant on each part."""

    about: str
    seeds: PositiveStrictInt
    parts: dict[Name, Part] = Field(min_length=1)


class ChosenAxes(StrictModel):
    """What a variant chooses on some axes, and settings of `OF_NET`; any names."""

    span: str | dict | None = None
    selection: str | dict | None = None
    normaliser: str | dict | None = None
    position: str | dict | None = None
    score_scale: str | dict | None = None
    net: dict[str, Any] = {}

    @field_validator("net")
    @classmethod
    def goes_with_attention(cls, net):
        for key in net:
            check_known("key of net", key, OF_NET)
        return net

    @property
    def axes(self) -> dict[str, str | dict]:
        """Map each axis on which something is chosen to the choice."""
        given = {axis: getattr(self, axis) for axis in AXES}
        return {axis: choice for axis, choice in given.items() if choice is not None}


class Choices(ChosenAxes):
    """A variant as a card is asked for it; its choices exist here."""

    name: Name | None = None
    title: Annotated[str, Field(min_length=1, max_length=LONGEST_TITLE)] | None = None

    @field_validator(*AXES)
    @classmethod
    def exists(cls, choice, info):
        if choice is not None:
            _check_choice(info.field_name, choice)
        return choice


def _check_choice(axis: str, choice: str | dict) -> None:
    """Refuse a choice or a setting that does not exist, and a value out of its range."""
    told = {"name": choice} if isinstance(choice, str) else choice
    if "name" not in told:
        valid = ", ".join(choice_names(axis))
        raise ConfigError(f"{axis} = {shown(choice)}: 'name' is missing; valid: {valid}")
    name = told["name"]
    check_known(axis, name, choice_names(axis))
    for key in told.keys() - {"name"}:
        check_known(f"setting of {axis} '{name}'", key, choice_settings(axis, name))
    check_settings(axis, told)


@dataclass(frozen=True)
class Carded:
    """The variant of a card. name: of its files and runs. title: as the card writes it."""

    name: str
    title: str
    choices: Choices

    @property
    def has_kernels(self) -> bool:
        """Whether compiled code knows all its choices."""
        for axis, choice in self.choices.axes.items():
            name = choice if isinstance(choice, str) else choice["name"]
            if not has_kernel(axis, name):
                return False
        return True

    def question(self, part: Part, seeds: int, size: float = 1.0) -> Question:
        """Ask what it changes on a part: a question of two variants, the baseline first.

        size: of models that are trained besides those of the scale's size, which is 1.
        """
        changes: dict[str, Any] = dict(self.choices.axes)
        if self.choices.net:
            changes["net"] = part.baseline.net | self.choices.net
        own = part.baseline.model_copy(update=changes | {"label": self.title})
        return Question(
            question=f"What does {self.title} change: {part.title}?",
            paper=STUDY,
            task=part.task,
            corpora=[part.corpus],
            variants={BASELINE: part.baseline, self.name: own},
            grid=part.grid,
            seeds=seeds,
            sizes=sorted({1.0, size}),
        )


def check_corpora(
    battery: Battery, catalogues: Mapping[str, BaseCatalogue], questions: Iterable[Question]
) -> None:
    """Refuse a corpus of a part that neither the datasets of its task nor a question names.

    catalogues: by task; parts of other tasks are not planned. questions: of all studies.
    """
    named: dict[str, set[str]] = {task: set(each.entries) for task, each in catalogues.items()}
    for question in questions:
        named.setdefault(question.task, set()).update(question.corpora)
    for name, part in battery.parts.items():
        if part.task not in catalogues:
            continue
        try:
            check_known("corpus", part.corpus, named[part.task])
        except ConfigError as error:
            raise place_in_battery(error, name) from None


def place_in_battery(error: ConfigError, part: str) -> ConfigError:
    """Begin an error about a part with the file of the battery, and the line that it names."""
    path = part_of(STUDY, FILE)
    content = read_yaml(path)["parts"].get(part, {})
    unknown = UNKNOWN.search(str(error))
    if unknown and error.place is None:
        error.place = find_named(content, unknown[1])
    return placed_by_name(error, content, f"{shown_path(path)}: part '{part}'")


def dataset_of(corpus: str, scale: Scale, catalogue: BaseCatalogue) -> str | None:
    """Name the dataset that a card reads for a corpus at a scale; None where there is none."""
    stand_in = scale.corpora.get(corpus, corpus)
    # A program draws it, so a card can have it where questions have no records of it yet.
    is_drawn = corpus in catalogue.entries and catalogue.entries[corpus].kind == "drawn"
    return corpus if stand_in is None and is_drawn else stand_in


def with_titles(
    battery: Battery, scales: Mapping[str, Scale], catalogues: Mapping[str, BaseCatalogue]
) -> Battery:
    """Name each part without a title after the dataset that it reads at a scale.

    scales, catalogues: by task. Where there is nothing to read, the part's own corpus names it.
    """
    parts = {}
    for name, part in battery.parts.items():
        title = part.title or part.corpus
        if part.title is None and part.task in scales:
            catalogue = catalogues[part.task]
            read = dataset_of(part.corpus, scales[part.task], catalogue) or part.corpus
            title = catalogue.title(read)[:LONGEST_TITLE]
        parts[name] = part.model_copy(update={"title": title})
    return battery.model_copy(update={"parts": parts})


def with_corpus(
    battery: Battery, corpus: str | None, catalogues: Mapping[str, BaseCatalogue]
) -> Battery:
    """Name the parts that read the config's corpus after it; no other part is `own_corpus` then.

    catalogues: by task. `ConfigError` where no part reads it.
    """
    if corpus is None:
        return battery
    parts = {}
    for name, part in battery.parts.items():
        changes: dict[str, Any] = {"own_corpus": False}
        if part.own_corpus and part.task in catalogues and catalogues[part.task].knows(corpus):
            changes = {"title": catalogues[part.task].title(corpus)[:LONGEST_TITLE]}
        parts[name] = part.model_copy(update=changes)
    if not any(part.own_corpus for part in parts.values()):
        raise ConfigError(f"corpus '{corpus}': no part of the battery reads it (own_corpus: true)")
    return battery.model_copy(update={"parts": parts})


def name_part(part: str) -> str:
    """Name the question that a part of the battery asks of a variant."""
    return f"card_{part}"


@cache
def load_battery() -> Battery:
    """Read the battery; `ConfigError` where there is none."""
    path = part_of(STUDY, FILE)
    if path is None:
        raise ConfigError(f"studies/{STUDY}/{FILE}: there is no such file")
    return parse(Battery, read_yaml(path), shown_path(path))


def read_variant(told: str | dict) -> Carded:
    """Read the variant of a card.

    told: the name of a choice on any axis, a mapping, or the path of a YAML file. `ConfigError`
    with the nearest name, or the key that is wrong.
    """
    if isinstance(told, dict):
        told = _typed(told)
        return _carded(parse(Choices, told, "variant"))
    if told.endswith((".yaml", ".yml")):
        path = user_path(told, "variant")
        if not path.is_file():
            raise ConfigError(f"variant = '{told}': there is no such file")
        choices = parse(Choices, read_yaml(path), shown_path(path))
        return _carded(choices, default=Path(told).stem)
    return _carded(Choices(**{_axis_of(told): told}), default=told)


def _axis_of(name: str) -> str:
    """Find the axis that a choice is on; `ConfigError` where there is none, or more than one."""
    axes: dict[str, list[str]] = {}
    for axis in AXES:
        for each in choice_names(axis):
            axes.setdefault(each, []).append(axis)
    check_known("variant", name, axes)
    found = axes[name]
    if len(found) > 1:
        raise ConfigError(
            f"variant = '{name}': a choice on {' and '.join(found)}; "
            f"say which: '{{{found[0]}: {name}}}'"
        )
    return found[0]


def _typed(value):
    """Read numbers and words in a mapping as YAML does: Snakemake gives those of its command line
    as text.
    """
    if isinstance(value, dict):
        return {key: each if key in TEXTS else _typed(each) for key, each in value.items()}
    return load_yaml(value) if isinstance(value, str) else value


def _carded(choices: Choices, default: str | None = None) -> Carded:
    if not choices.axes and not choices.net:
        valid = ", ".join([*AXES, "net"])
        raise ConfigError(f"variant: nothing is chosen; valid: a choice for one of {valid}")
    name = choices.name or default or _name_of(choices)
    is_valid = VALID_NAME.fullmatch(name) and len(name) <= LONGEST_NAME
    if name in TAKEN or not is_valid:
        raise ConfigError(
            f"variant: name {shown(name)}: expected at most {LONGEST_NAME} letters, digits, _, . "
            f"and -, a letter or digit first, and neither {' nor '.join(TAKEN)}; "
            "give it another with the key name"
        )
    return Carded(name, choices.title or name.replace("_", " "), choices)


def _name_of(choices: Choices) -> str:
    """Name a variant after its choices: `adaptive-256-entmax15`, `gate`, `no-gate`."""
    words = []
    for choice in choices.axes.values():
        settings = choice if isinstance(choice, dict) else {"name": choice}
        words += [str(value) for value in settings.values()]
    for key, value in choices.net.items():
        if not value:
            words.append(f"no-{key}")
        else:
            words.append(key if value is True else f"{key}-{value}")
    name = "-".join(words)
    return re.sub(r"[^\w.-]", "", name, flags=re.ASCII)[:LONGEST_NAME]
