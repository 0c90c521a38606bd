"""Read config/config.yaml: what is asked for, at which scale, on which device."""

import os
import shutil
import sys
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator

from workflow.config.choices import backend_names
from workflow.config.command_line import printable
from workflow.config.environment import DEVICES
from workflow.config.errors import ConfigError, check_known
from workflow.config.files import ROOT, config_file, refuse_unread
from workflow.config.places import Placed, find, place_of_name, words_of
from workflow.config.strict import StrictModel, one_of, parse, read_yaml
from workflow.config.studies import known_studies, read_also
from workflow.plan.questions import Question, check_question, known_questions, load_question
from workflow.plan.scales import (
    Scale,
    find_catalogue,
    known_scales,
    load_scale,
    scale_contents,
    tasks_of_scale,
)
from workflow.tasks.sources import data_folders
from workflow.tasks.spec import TASKS, UNFINISHED, check_task

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
    corpus: str | None = None
    data_dir: str | None = None
    train: Annotated[str, one_of("train", TRAIN)] = "first_seed"
    other_results: list[str] = []
    audit: Annotated[int, Field(ge=1)] | str = 3
    audit_seed: int | date | str | None = None
    audit_of: str | None = None
    device: Annotated[str, one_of("device", DEVICES)] = "auto"
    backend: Annotated[str, one_of("backend", backend_names())] = "auto"

    @property
    def folder(self) -> str:
        """Name the folder of results and reports: the scale, and the user's own corpus where there
        is one.
        """
        if self.corpus is None:
            return self.scale
        _, catalogue = find_catalogue(self.corpus, self.load_scales())
        return f"{self.scale}-{catalogue.slug(self.corpus)}"

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
        return int(
            self.device == "cuda" or (self.device == "auto" and bool(shutil.which("nvidia-smi")))
        )

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

    def load_questions(self) -> dict[str, "Question"]:
        """Read the questions that are asked for, by name. All files are read, so that a broken one
        is always noticed.

        A scale leaves out the questions of a task that it has no file for. Its own `questions`
        count where the config names none. A question marked `by_name` takes part only if the config
        or the scale names it.
        """
        known = {name: load_question(name) for name in known_questions()}
        scales = self.load_scales()
        named = {name for scale in scales.values() for name in scale.questions or []}
        default = [
            name for name, question in known.items() if name in named or not question.by_name
        ]
        wanted = default if self.questions is None else self.questions
        for task, scale in scales.items():
            try:
                self._check_named(scale, known)
            except ConfigError as error:
                raise place_of_name(error, *scale_contents(self.scale, task)) from None
        listed = {task: scale.questions for task, scale in scales.items() if self.questions is None}
        papers = known_studies() if self.papers is None else self.papers
        return {
            name: question.model_copy(
                update={"seeds": scales[question.task].seeds_of.get(name, question.seeds)}
            )
            for name, question in known.items()
            if question.paper in papers and name in wanted and question.task in scales
            if (paid := listed.get(question.task)) is None or name in paid
        }

    def _check_named(self, scale: Scale, known: dict[str, Question]) -> None:
        """Refuse questions and variants that a scale names and that are not there."""
        mentioned = (
            scale.questions or (),
            scale.variants,
            scale.seeds_of,
            scale.recipes_of,
            scale.train_first,
        )
        for name in chain(*mentioned):
            check_known(f"question in config/scales/{self.scale}", name, known)
        for name, variants in scale.variants.items():
            for variant in variants:
                check_known(
                    f"variant of {name} in config/scales/{self.scale}",
                    variant,
                    known[name].variants,
                )

    def load_scales(self) -> dict[str, Scale]:
        """Read the scale's settings by task, for the tasks that are asked for."""
        files = tasks_of_scale(self.scale)
        for name in files:
            check_known(f"task in config/scales/{self.scale}", name, TASKS)
        return {
            name: load_scale(self.scale, name)
            for name in files
            if self.tasks is None or name in self.tasks
        }


def _of_file(raw: dict) -> Placed:
    """Say of each value that config/config.yaml has where it is there; others came with the
    command.
    """
    path, given = config_file("config.yaml"), Placed(raw)
    told = read_yaml(path) if path.exists() else {}
    given.places = {
        key: place for key in told if raw.get(key) == told[key] and (place := find(told, [key]))
    }
    return given


def place_in_config(error: ConfigError, raw: dict) -> ConfigError:
    """Begin an error about a value of config/config.yaml, one whose first word is its key, with its
    place.
    """
    is_of_a_file = "/" in str(error).split(":")[0]  # "studies" is a key too
    is_of_config = not error.is_placed and not is_of_a_file
    place = find(_of_file(raw), words_of(str(error))[:1]) if is_of_config else None
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
    given = _of_file({key: None if value == "null" else value for key, value in raw.items()})
    config = parse(Config, given, "config", elsewhere=BELONGS)
    if config.data_dir is None:
        config.data_dir = os.environ.get("ATTENTION_DATA_DIR")
    data_folders(config.data_dir)  # refuses a folder that does not exist
    for task, reason in UNFINISHED.items():
        print(
            f"task '{task}' is skipped because it is unfinished: {printable(reason)}",
            file=sys.stderr,
        )
    return config
