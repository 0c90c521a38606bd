"""Read the configuration once: config.yaml, the scale, its datasets and the questions asked for.

`load_setup` reads all of it into one frozen `Setup`, which a plan and its targets pass down.
"""

import os
import shutil
import sys
from dataclasses import dataclass
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Annotated

from pydantic import Field, StrictBool, field_validator

from workflow.config.choices import backend_names
from workflow.config.command_line import printable
from workflow.config.environment import DEVICES
from workflow.config.errors import ConfigError, check_known
from workflow.config.files import ROOT, config_file, refuse_unread
from workflow.config.places import Placed, find, place_of_name, words_of
from workflow.config.strict import StrictModel, load_yaml, one_of, parse, read_yaml
from workflow.config.studies import known_studies, read_also
from workflow.settings.battery import (
    Battery,
    Carded,
    check_corpora,
    load_battery,
    name_part,
    read_variant,
    with_corpus,
    with_titles,
)
from workflow.settings.questions import Question, check_question, known_questions, load_question
from workflow.settings.scales import (
    Scale,
    find_task,
    known_scales,
    load_scale,
    tasks_of_scale,
)
from workflow.tasks.catalogue import BaseCatalogue
from workflow.tasks.sources import data_folders
from workflow.tasks.spec import TASKS, UNFINISHED, check_task, load_corpora

Names = Annotated[list[str], Field(min_length=1)]
# which runs are trained although their record came with the project
TRAIN = ("nothing", "first_seed", "everything")


# by place, what a key may belong to that is none of the config
BELONGS = {"in config/scales/SCALE/TASK.yaml": Scale, "in the file of a question": Question}


class Config(StrictModel):
    """config/config.yaml, with what `snakemake --config` adds. config/README.md says what each key
    means.
    """

    scale: Annotated[str, one_of("scale", known_scales)] = "laptop"
    studies: list[str] = []
    papers: Names | None = None
    tasks: Names | None = None
    questions: Names | None = None
    variant: str | dict | None = None
    card_seeds: Annotated[int, Field(ge=1)] | None = None
    card_rates: StrictBool = False
    card_size: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    corpus: str | None = None
    data_dir: str | None = None
    train: Annotated[str, one_of("train", TRAIN)] = "first_seed"
    other_results: list[str] = []
    audit: Annotated[int, Field(ge=1)] | str = 3
    audit_seed: int | date | str | None = None
    audit_of: str | None = None
    device: Annotated[str, one_of("device", DEVICES)] = "auto"
    backend: Annotated[str, one_of("backend", backend_names())] = "auto"

    @field_validator("card_rates", mode="before")
    @classmethod
    def reads_a_word(cls, told):
        """Read `true` as YAML does: Snakemake gives words of its command line as text."""
        return load_yaml(told) if isinstance(told, str) else told

    @property
    def identity(self) -> str:
        """Write as JSON the keys that decide which runs there are; device, data and what is
        compared do not.
        """
        others = {
            "data_dir",
            "other_results",
            "device",
            "backend",
            "audit",
            "audit_seed",
            "audit_of",
        }
        return self.model_dump_json(exclude=others)

    @property
    def gpus(self) -> int:
        """Return 1 where runs take a GPU, 0 where they are on a CPU."""
        if self.device == "auto":
            return int(bool(shutil.which("nvidia-smi")))
        return int(self.device == "cuda")

    @field_validator("studies")
    @classmethod
    def are_read(cls, folders):
        # before the other keys are checked, for they name what these folders hold
        read_also(folders)
        return folders

    @field_validator("papers", "tasks", "questions")
    @classmethod
    def names_exist(cls, names, info):
        for name in names or []:
            if info.field_name == "tasks":
                check_task("task", name)
            elif info.field_name == "questions":
                check_question("question", name)
            else:
                check_known("paper", name, known_studies())
        return names

    @field_validator("audit")
    @classmethod
    def is_a_number_or_a_question(cls, audit):
        if isinstance(audit, str):
            check_question("question to audit", audit)
        return audit


@dataclass(frozen=True)
class Setup:
    """The config, and what it asks for, read once and never changed.

    scales, catalogues: settings and datasets by task, for the tasks that the scale has a file for
    and the config asks for. known: every question. asked: those of this config, each with as many
    seeds as the scale takes for it.
    card: the variant whose card is asked for; `asked` are then the parts of its battery.
    battery: of that card.
    """

    config: Config
    scales: dict[str, Scale]
    catalogues: dict[str, BaseCatalogue]
    known: dict[str, Question]
    asked: dict[str, Question]
    card: Carded | None = None
    battery: Battery | None = None

    @property
    def folder(self) -> str:
        """Name the folder of results and reports: the scale, and the custom corpus if any.

        What a card measures is in a folder of its own.
        """
        name = self._with_corpus(self.config.scale)
        return f"{name}-card-{self.card.name}" if self.card else name

    @property
    def card_file(self) -> str:
        """Name the page of a card: after the variant, and after the custom corpus if any."""
        return self._with_corpus(self.card.name)

    def _with_corpus(self, name: str) -> str:
        corpus = self.config.corpus
        if corpus is None:
            return name
        catalogue = self.catalogues[self.task_of_corpus(corpus)]
        return f"{name}-{catalogue.slug(corpus)}"

    def corpus_of(self, question: str) -> str | None:
        """Return the config's corpus where a question reads it; of a card, some parts alone do."""
        if self.battery is None:
            return self.config.corpus
        read = {name_part(name) for name, part in self.battery.parts.items() if part.own_corpus}
        return self.config.corpus if question in read else None

    def task_of_corpus(self, corpus: str) -> str:
        """Find the task whose datasets know a name; `ConfigError` with the nearest name if none."""
        return find_task(corpus, self.catalogues)


def load_setup(raw: dict) -> Setup:
    """Read and check all files that decide what is planned; `ConfigError` for the first mistake."""
    config = load_config(raw)
    scales = read_scales(config)
    known = {name: load_question(name) for name in known_questions()}
    catalogues = {task: load_corpora(task) for task in scales}
    card = None
    battery = None
    if config.variant is not None:
        card = read_variant(config.variant)
        battery = load_battery()
        check_corpora(battery, catalogues, known.values())
        battery = with_titles(battery, scales, catalogues)
        battery = with_corpus(battery, config.corpus, catalogues)
        asked = _parts_of(card, battery, config, scales)
    else:
        _refuse_options_of_cards(config)
        asked = _choose_questions(config, scales, known)
    return Setup(
        config=config,
        scales=scales,
        catalogues=catalogues,
        known=known,
        asked=asked,
        card=card,
        battery=battery,
    )


def battery_at(scale: str) -> Battery:
    """Read the battery as every card of a scale has it, without a custom corpus."""
    scales = {task: load_scale(scale, task) for task in tasks_of_scale(scale)}
    catalogues = {task: load_corpora(task) for task in scales}
    return with_titles(load_battery(), scales, catalogues)


def _refuse_options_of_cards(config: Config) -> None:
    for key in ("card_seeds", "card_rates", "card_size"):
        value = getattr(config, key)
        if value != Config.model_fields[key].default:
            raise ConfigError(f"{key} = {value}: only a card has it; valid: with variant=NAME")


def _parts_of(
    card: Carded, battery: Battery, config: Config, scales: dict[str, Scale]
) -> dict[str, Question]:
    """Ask what the variant of a card changes, on each part of the battery that the scale has."""
    seeds = config.card_seeds or battery.seeds
    if config.card_size != 1 and seeds == 1:
        raise ConfigError(
            f"card_size = {config.card_size:g}: with one seed nothing says how models of this size "
            "scatter; valid: with card_seeds of at least 2"
        )
    asked = {}
    for name, part in battery.parts.items():
        if part.task in scales:
            asked[name_part(name)] = card.question(part, seeds, config.card_size)
    return asked


def read_scales(config: Config) -> dict[str, Scale]:
    """Read the settings of a scale by task, for the tasks that are asked for."""
    tasks = tasks_of_scale(config.scale)
    for task in tasks:
        check_known(f"task in config/scales/{config.scale}", task, TASKS)
    if config.tasks is not None:
        tasks = [task for task in tasks if task in config.tasks]
    return {task: load_scale(config.scale, task) for task in tasks}


def _choose_questions(
    config: Config, scales: dict[str, Scale], known: dict[str, Question]
) -> dict[str, Question]:
    """Choose the questions that are asked for, with the seeds that the scale takes for each.

    A scale leaves out the questions of a task that it has no file for. Its own `questions` count
    if the config names none. A question marked `by_name` takes part only if the config or the scale
    names it.
    """
    for scale in scales.values():
        try:
            _check_named(scale, known)
        except ConfigError as error:
            raise place_of_name(error, *scale.contents) from None
    listed_anywhere = {name for scale in scales.values() for name in scale.questions or []}
    papers = known_studies() if config.papers is None else config.papers
    asked = {}
    for name, question in known.items():
        if question.paper not in papers or question.task not in scales:
            continue
        scale = scales[question.task]
        if config.questions is not None:
            is_asked = name in config.questions
        elif scale.questions is not None:
            is_asked = name in scale.questions
        else:
            is_asked = name in listed_anywhere or not question.by_name
        if is_asked:
            seeds = scale.seeds_of.get(name, question.seeds)
            asked[name] = question.model_copy(update={"seeds": seeds})
    return asked


def _check_named(scale: Scale, known: dict[str, Question]) -> None:
    """Refuse questions and variants that a scale names and that do not exist."""
    place = f"config/scales/{scale.scale}"
    mentioned = chain(
        scale.questions or (),
        scale.variants,
        scale.seeds_of,
        scale.recipes_of,
        scale.train_first,
    )
    for name in mentioned:
        check_known(f"question in {place}", name, known)
    for name, variants in scale.variants.items():
        for variant in variants:
            check_known(f"variant of {name} in {place}", variant, known[name].variants)


def _of_file(raw: dict) -> Placed:
    """Say of each value that config/config.yaml has where it is there; others came with the
    command.
    """
    path = config_file("config.yaml")
    told = read_yaml(path) if path.exists() else {}
    places = {}
    for key, value in told.items():
        place = find(told, [key])
        if place and raw.get(key) == value:
            places[key] = place
    given = Placed(raw)
    given.places = places
    return given


def place_in_config(error: ConfigError, raw: dict) -> ConfigError:
    """Begin an error about a value of config/config.yaml, one whose first word is its key, with its
    place.
    """
    is_of_a_file = "/" in str(error).split(":")[0]  # "studies" is a key too
    is_of_config = not error.is_placed and not is_of_a_file
    if not is_of_config:
        return error
    key = words_of(str(error))[:1]
    place = find(_of_file(raw), key)
    return ConfigError(f"{place}: {error}") if place else error


def load_config(raw: dict) -> Config:
    """Check the config as Snakemake read it, and say which tasks are unfinished and left out.

    Without `data_dir` the environment variable ATTENTION_DATA_DIR counts.
    """
    files = [f"{task}.yaml" for task in (*TASKS, *UNFINISHED)]
    for base in (Path("config"), ROOT / "config"):
        refuse_unread(base / "scales", *files, "*/*.yaml")
        refuse_unread(base / "tasks", *files)
    # `snakemake --config` gives the word null as it stands.
    told = {key: None if value == "null" else value for key, value in raw.items()}
    config = parse(Config, _of_file(told), "config", elsewhere=BELONGS)
    if config.data_dir is None:
        config.data_dir = os.environ.get("ATTENTION_DATA_DIR")
    data_folders(config.data_dir)  # refuses a folder that does not exist
    for task, reason in UNFINISHED.items():
        print(
            f"task '{task}' is skipped because it is unfinished: {printable(reason)}",
            file=sys.stderr,
        )
    return config
