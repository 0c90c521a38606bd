"""A half-written folder of a task is left out, and a message says where and why."""

import sys

import pytest

import workflow.tasks
from tests._copied import copied, ended, shown, written
from workflow.config.errors import ConfigError
from workflow.tasks import spec

WHOLE = """
from typing import Literal
from dataclasses import replace
from workflow.tasks.parsing import TASK as OTHER, ParsingJob


class HalfJob(ParsingJob):
    task: Literal["half"] = "half"


TASK = replace(OTHER, job=HalfJob)
"""
FOLDERS = {  # what an __init__.py says, and the value in the message
    "empty": (None, "__init__.py"),
    "no Python": ("\n\nTASK = (", "__init__.py, line 3"),
    "no module": ("\nimport nothing_there", "line 2: ModuleNotFoundError"),
    "another's job": (WHOLE.replace('"half"', '"parsing"'), 'Literal["half"]'),
    "misspelt score": (WHOLE.replace("HalfJob)", 'HalfJob, scores=("dev_f2",))'), "line 11"),
    "its own end": ("raise SystemExit(3)", "line 1: SystemExit: 3"),
}


@pytest.mark.parametrize("code, value", FOLDERS.values(), ids=FOLDERS)
def test_it_is_left_out_with_the_reason(code, value, tmp_path, monkeypatch):
    (tmp_path / "half").mkdir()
    if code is not None:
        (tmp_path / "half" / "__init__.py").write_text(code)
    folders = [*workflow.tasks.__path__, str(tmp_path)]
    monkeypatch.setattr(workflow.tasks, "__path__", folders)
    monkeypatch.setitem(sys.modules, "workflow.tasks.half", None)
    del sys.modules["workflow.tasks.half"]
    tasks, unfinished = spec._read_all(tmp_path)
    assert not tasks
    assert [*unfinished] == ["half"]
    assert value in unfinished["half"] and "\n" not in unfinished["half"]
    monkeypatch.setitem(spec.UNFINISHED, "half", unfinished["half"])
    with pytest.raises(ConfigError) as error:
        spec.check_task("task", "half")
    assert value in str(error.value)


@pytest.mark.slow
def test_all_other_commands_go_on(tmp_path):
    """With a question, a scale's file and datasets of the task that is half-written."""
    folder = written(copied(tmp_path), shown("docs/task.md"))
    (folder / "workflow/tasks/reversal/__init__.py").write_text("import nothing_there")
    estimate = ("workflow.cli.estimate", "--results", ".", "--config", "scale=smoke")
    dry_run = ("snakemake", "-n", "--config", "scale=smoke", "--", "adaptive_vs_xl")
    for words in (estimate, dry_run):
        said = ended(folder, *words)
        assert said.returncode == 0, said.stderr
        lines = [line for line in said.stderr.splitlines() if "'reversal'" in line]
        assert len(lines) == 1 and "line 1: ModuleNotFoundError" in lines[0]
    said = ended(folder, *estimate, "tasks=[reversal]")
    assert said.returncode == 2 and said.stderr.count("\n") == 1
