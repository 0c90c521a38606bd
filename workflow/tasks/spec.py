"""The tasks that there are, made from the folders here; a further folder is a further task.

A folder that is no task yet is left out, with the reason, and costs the other tasks nothing. What
computes and measures a task is named in its `TaskSpec`, not imported, so that a dry run and the
pages import no torch.
"""

import traceback
from functools import reduce
from importlib import import_module
from operator import or_
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from workflow.config.choices import AXES, complete_choice
from workflow.config.errors import ConfigError, check_known
from workflow.config.files import config_file, list_folder
from workflow.config.job import Job
from workflow.config.strict import FrozenModel, parse, read_json, read_yaml
from workflow.tasks.catalogue import BaseCatalogue
from workflow.tasks.task import TaskSpec


def _read_task(folder: Path) -> TaskSpec:
    """Import a folder's `TASK`; any error where it is half-written."""
    if not (folder / "__init__.py").is_file():
        raise ConfigError("it has no __init__.py")
    task = getattr(import_module(f"workflow.tasks.{folder.name}"), "TASK", None)
    if not isinstance(task, TaskSpec):
        raise ConfigError("its __init__.py defines no TASK of type TaskSpec")
    name = folder.name
    if task.job.model_fields["task"].annotation != Literal[name]:
        raise ConfigError(f'its jobs need the line task: Literal["{name}"] = "{name}"')
    return task


def _reason(folder: Path, error: BaseException) -> str:
    """Say in a line why a folder is no task, with the line of its own code that says so, if any."""
    place = f"workflow/tasks/{folder.name}"
    if isinstance(error, SyntaxError) and error.filename:
        file = Path(error.filename).name
        return f"{place}/{file}, line {error.lineno}: {error.msg}"
    where = place
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename.startswith(f"{folder}/"):
            file = Path(frame.filename).name
            where = f"{place}/{file}, line {frame.lineno}"
    kind = "" if isinstance(error, ConfigError) else f"{type(error).__name__}: "
    line = f"{where}: {kind}{error}"
    return " ".join(line.split())


def _read_all(home: Path) -> tuple[dict[str, TaskSpec], dict[str, str]]:
    """Read the tasks in a folder, and by name of its folder why another is no task."""
    tasks = {}
    unfinished = {}
    for folder in list_folder(home):
        if not folder.is_dir() or folder.name.startswith("_"):
            continue
        try:
            tasks[folder.name] = _read_task(folder)
        # whatever a half-written module does, it stops no other task
        except (Exception, SystemExit) as error:
            unfinished[folder.name] = _reason(folder, error)
    return tasks, unfinished


TASKS, UNFINISHED = _read_all(Path(__file__).parent)
JOBS = {name: task.job for name, task in TASKS.items()}
AnyJob = Annotated[reduce(or_, JOBS.values()), Field(discriminator="task")]


def check_task(what: str, name) -> None:
    """Raise `ConfigError` unless this is a task: with the reason where its folder is unfinished."""
    reason = UNFINISHED.get(str(name))
    if reason:
        raise ConfigError(f"{what} '{name}' is unfinished: {reason}")
    check_known(what, name, TASKS)


def load(dotted: str):
    """Load what a dotted name stands for: "package.module" or "package.module:attribute"."""
    module, _, attribute = dotted.partition(":")
    loaded = import_module(module)
    return getattr(loaded, attribute) if attribute else loaded


def section(task: str, name: str) -> type[FrozenModel]:
    """Return the model of one section of a task's jobs, e.g. section("char_lm", "net")."""
    return JOBS[task].model_fields[name].annotation


def load_corpora(task: str) -> BaseCatalogue:
    """Read the datasets of a task, by name."""
    place = f"tasks/{task}.yaml"
    raw = read_yaml(config_file(place))
    return parse(TASKS[task].catalogue, raw, f"config/{place}")


def read_job(path: Path) -> Job:
    """Read a job.json; `ConfigError` where it is no job, or names a choice of attention that is not
    here.
    """
    where = str(path)
    raw = read_json(path)
    if not isinstance(raw, dict):
        raise ConfigError(f"{where}: not a job")
    check_task(f"task in {where}", raw.get("task"))
    job = parse(JOBS[raw["task"]], raw, where)
    for axis in AXES:
        complete_choice(axis, getattr(job.attention, axis), {}, {})
    return job
