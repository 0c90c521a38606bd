"""The tasks that there are, made from the folders here; a further folder is a further task.

What computes and measures a task is named in its `TaskSpec`, not imported, so that a dry run and the pages import no
torch.
"""

from functools import reduce
from importlib import import_module
from operator import or_
from pathlib import Path
from typing import Annotated

from pydantic import Field

from workflow.config.choices import AXES, complete_choice
from workflow.config.errors import ConfigError, check_known
from workflow.config.files import list_folder
from workflow.config.job import Job
from workflow.config.strict import FrozenModel, parse, read_json
from workflow.tasks.task import TaskSpec

FOLDERS = [folder.name for folder in list_folder(Path(__file__).parent) if (folder / "__init__.py").is_file()]
TASKS: dict[str, TaskSpec] = {name: import_module(f"workflow.tasks.{name}").TASK for name in FOLDERS}
JOBS = {name: task.job for name, task in TASKS.items()}
AnyJob = Annotated[reduce(or_, JOBS.values()), Field(discriminator="task")]


def load(dotted: str):
    """Load what a dotted name stands for: "package.module" or "package.module:attribute"."""
    module, _, attribute = dotted.partition(":")
    loaded = import_module(module)
    return getattr(loaded, attribute) if attribute else loaded


def section(task: str, name: str) -> type[FrozenModel]:
    """Return the model of one section of a task's jobs, e.g. section("char_lm", "net")."""
    return JOBS[task].model_fields[name].annotation


def read_job(path: Path) -> Job:
    """Read a job.json; `ConfigError` where it is no job, or names a choice of attention that is not here."""
    where, raw = str(path), read_json(path)
    if not isinstance(raw, dict):
        raise ConfigError(f"{where}: not a job")
    check_known(f"task in {where}", raw.get("task"), JOBS)
    job = parse(JOBS[raw["task"]], raw, where)
    for axis in AXES:
        complete_choice(axis, getattr(job.attention, axis), {}, {})
    return job
