"""Read questions, studies/*/questions/NAME.yaml: a question, its variants, the tables and figures
that answer it.
"""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, field_validator, model_validator

from workflow.config.errors import ConfigError, check_known
from workflow.config.strict import Name, PositiveStrictInt, StrictModel, one_of, parse, read_yaml
from workflow.config.studies import (
    KINDS,
    known_studies,
    part_of,
    shown_path,
    study_file,
    study_files,
)
from workflow.config.trials import Trials
from workflow.tasks.spec import TASKS, UNFINISHED, check_task, section
from workflow.tasks.task import TaskSpec

# Rules are targets too. Those written in a loop have names that no file can have, or are named
# after what they make.
RULES = (
    "all",
    "audit",
    "bundle",
    "bundle_archive",
    "cards",
    "choose",
    "corpus",
    "costs",
    "evidence",
    "layers",
    "longest_span",
    "optimal_predictor",
    "plan",
    "precomputed",
    "reference",
    "report",
    "throughput",
    "topic_borders",
    "train",
    "train_again",
    "unknown_target",
)
PaperName = Annotated[str, one_of("paper", known_studies)]
Values = PositiveStrictInt | str | Annotated[list[PositiveStrictInt], Field(min_length=1)] | None


class Variant(StrictModel):
    """How a variant differs from the recipe. S and k: a number, a list, `all`, `max` or `min` of
    the scale's grid.

    largest_S: the grid ends there for this variant, for instance because a paper trained nothing
    longer. net and training replace keys of the recipe, `times` multiplies sizes of its net.
    trials: in place of the question's, as many.
    apply_to: see `Seq2SeqAttentionChoices`. baseline: the variant that it is compared with, in
    place of the first. label, colour: the variant's in tables and figures, in place of its name and
    the colour of its attention. No job knows these three.
    """

    recipe: str = "base"
    span: str | dict | None = None
    selection: str | dict | None = None
    normaliser: str | dict | None = None
    position: str | dict | None = None
    score_scale: str | dict | None = None
    S: Values = None
    largest_S: PositiveStrictInt | None = None
    k: Values = None
    apply_to: list[str] | None = None
    net: dict[str, Any] = {}
    times: dict[str, float] = {}
    training: dict[str, Any] = {}
    trials: Trials | None = None
    baseline: Name | None = None
    label: Annotated[str, Field(min_length=1, max_length=60)] | None = None
    colour: Annotated[str, Field(pattern="^#[0-9a-f]{6}$")] | None = None


class Grid(StrictModel):
    """S and k of every variant that sets none of its own: numbers, or `all`, `max` or `min` of the
    scale's grid.
    """

    S: Values = None
    k: Values = None


class Question(StrictModel):
    """One question, its variants, and the tables and figures that answer it.

    paper: the study on whose page it is listed; by default the one whose folder holds the file.
    seeds: how many of the scale's seeds it takes at least, null for all. by_name: whether it is
    left out unless the `questions` of config or scale name it. trials: factors of settings that are
    tried for every variant at scales that have a seed for trials. tuning: `first_corpus`, where
    each variant is tuned on its first corpus, and run with the recipe's settings as well;
    `each_corpus`, where it is tuned on each, and run with the chosen settings alone.
    sizes: of models besides the scale's, which is 1 (`workflow.plan.jobs`). score: the quantity
    that answers it, in place of the task's.
    """

    question: str
    paper: PaperName
    task: Annotated[str, one_of("task", TASKS)] = "char_lm"
    score: Name | None = None
    corpora: list[str] = Field(min_length=1)
    variants: dict[Name, Variant] = Field(min_length=1)
    grid: Grid = Grid()
    seeds: PositiveStrictInt | None = None
    by_name: bool = False
    trials: Trials | None = None
    tuning: Literal["first_corpus", "each_corpus"] = "first_corpus"
    sizes: list[Annotated[float, Field(gt=0, allow_inf_nan=False)]] = [1.0]
    tables: list[str] = []
    figures: list[str] = []

    @field_validator("question")
    @classmethod
    def asks(cls, text):
        if not text.strip().endswith("?"):
            raise ConfigError(f"'{text}' does not end in a question mark")
        return text.strip()

    @field_validator("score")
    @classmethod
    def is_measured(cls, score, info):
        task = info.data.get("task")
        if score and task:
            quantities = TASKS[task].known.values()
            known = {each.name for each in quantities if each.source == "metric" and each.better}
            check_known("score", score, known)
        return score

    @property
    def spec(self) -> TaskSpec:
        """Its task, with the quantity that answers it as the task's score."""
        task = TASKS[self.task]
        return replace(task, headline=(self.score, *task.headline)) if self.score else task

    @field_validator("sizes")
    @classmethod
    def include_the_scale(cls, sizes):
        if 1 not in sizes:
            raise ConfigError(f"sizes = {sizes}: must include 1, the scale's own size")
        return sorted(sizes)

    @field_validator("variants")
    @classmethod
    def labels_differ(cls, variants):
        seen: dict[str, str] = {}
        for name, variant in variants.items():
            shown = variant.label or name
            if shown in seen:
                raise ConfigError(
                    f"variants {seen[shown]} and {name} have the same label '{shown}'; change one"
                )
            seen[shown] = name
        return variants

    @field_validator("variants")
    @classmethod
    def baselines_exist(cls, variants):
        for name, variant in variants.items():
            if variant.baseline:
                check_known(f"baseline of {name}", variant.baseline, {*variants} - {name})
        return variants

    @model_validator(mode="after")
    def tuned_on_each_corpus_at_one_size(self):
        if self.tuning == "each_corpus" and (self.trials is None or len(self.sizes) > 1):
            raise ConfigError("tuning: each_corpus is valid only with trials, and without sizes")
        return self

    @model_validator(mode="after")
    def variants_are_tried_alike(self):
        own = [name for name, variant in self.variants.items() if variant.trials]
        if own and self.trials is None:
            raise ConfigError(
                f"variants.{own[0]}.trials: valid only if the question has trials, "
                "which these replace"
            )
        return self

    @field_validator("tables", "figures")
    @classmethod
    def builders_exist(cls, names, info):
        for name in names:
            study_file(info.field_name, name)
        return names


def known_questions() -> list[str]:
    """Name the questions of all studies, in order; not those of unfinished tasks."""
    left_out = questions_left_out()
    return [name for name in study_files("questions") if name not in left_out]


def questions_left_out() -> dict[str, str]:
    """Map each question of an unfinished task to the task."""
    if not UNFINISHED:
        return {}
    left_out = {}
    for name, (_, path) in study_files("questions").items():
        task = _task_of(path)
        if task in UNFINISHED:
            left_out[name] = task
    return left_out


@cache
def _task_of(path: Path) -> str:
    return str(read_yaml(path).get("task"))


def check_question(what: str, name: str) -> None:
    """Raise `ConfigError` unless this is a question: with the reason where its task is
    unfinished.
    """
    if task := questions_left_out().get(name):
        check_task(f"{what} '{name}': its task", task)
    check_known(what, name, known_questions())


@cache
def load_question(name: str) -> Question:
    """Read a question; `ConfigError` where there is none of that name, or where its file breaks the
    schema.
    """
    path = study_file("questions", name)
    raw = {"paper": path.parents[1].name} | read_yaml(path)
    return parse(Question, raw, shown_path(path), elsewhere=_parts_of_variants(raw))


def _parts_of_variants(raw: dict) -> dict[str, type[BaseModel]]:
    """Map the places of nets and training in a question's file to their models, which are its
    task's.
    """
    task = str(raw.get("task", Question.model_fields["task"].default))
    return {
        f"under variants.NAME.{part}": section(task, part)
        for part in ("net", "training")
        if task in TASKS
    }


def check_owners(questions: dict[str, Question]) -> None:
    """Refuse a table or figure that more than one of the questions name."""
    for kind in ("tables", "figures"):
        owners: dict[str, list[str]] = {}
        for owner, question in questions.items():
            for name in dict.fromkeys(getattr(question, kind)):
                owners.setdefault(name, []).append(owner)
        for name, listed in owners.items():
            if len(listed) > 1:
                raise ConfigError(
                    f"{kind} {name}: listed by {' and '.join(listed)}; it may belong to only one"
                )


def find_owners() -> dict[str, str]:
    """Map each name, in small letters, to what has it: the workflow, or a file of a study.

    A question shares its name with the table and figure that it names; `ConfigError` for any other
    name of two things.
    """
    # claims may be about formulas
    owners = dict.fromkeys(["formulas", *RULES], "the workflow itself")
    asked = {name: load_question(name) for name in known_questions()}
    answers = set()
    for name, question in asked.items():
        for kind in ("tables", "figures"):
            if name in getattr(question, kind):
                answers.add((kind, name))
    things = [("studies", name, part_of(name, "study.yaml")) for name in known_studies()]
    left_out = questions_left_out()
    for kind in KINDS:
        for name, (_, path) in study_files(kind).items():
            if kind != "questions" or name not in left_out:
                things.append((kind, name, path))
    for kind, name, path in things:
        if (kind, name) in answers:
            continue
        shown = shown_path(path)
        owner = owners.setdefault(name.lower(), shown)
        if owner != shown:
            raise ConfigError(f"{shown}: {owner} has this name already; choose another")
    return owners
