"""The workflow run from another folder, set up for other work, by conda, and as a module."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests._copied import ROOT, snakemake
from workflow.results.rows import read_rows

pytestmark = pytest.mark.slow
PLAN = "results/smoke/plan.json"
SNAKEFILE = str(ROOT / "workflow" / "Snakefile")
MODULE = f"""
module attention:
    snakefile:
        "{SNAKEFILE}"
    config:
        {{"scale": "smoke"}}


use rule * from attention as attention_*


rule mine:
    default_target: True
    input:
        "results/smoke/questions/ramps.json",
    output:
        "mine.json",
    shell:
        "cp {{input}} {{output}}"
"""
RAMPS = """question: Does a ramp help?
paper: adaptive_span
corpora: [text8]
variants:
  short: {span: {name: adaptive, ramp: 2}, S: max}
"""
OTHER_WORK = {
    "HOME": "/dev/null",
    "MPLBACKEND": "none",
    "PYTHONOPTIMIZE": "2",
    "PYTHONWARNINGS": "error",
}
CONDA = """#!/bin/bash
case "$*" in
  "info --json") echo '{{"conda_prefix": "{folder}", "platform": "linux-64"}}' ;;
  --version) echo "conda 25.1.0" ;;
  config*) echo '{{"get": {{"channel_priority": "strict"}}}}' ;;
  "env create"*)
    prefix=$(sed 's/.*--prefix //' <<< "$*")
    mkdir -p "$prefix/bin"
    printf '#!/bin/sh\\necho "$*" >> {folder}/used\\nexec {python} "$@"\\n' > "$prefix/bin/python"
    chmod +x "$prefix/bin/python" ;;
esac
"""


def unprepared(folder: Path, *words: str, before: str = "", **variables: str) -> str:
    """Run Snakemake by its path, with no environment activated and no number of cores."""
    command = [str(Path(sys.executable).with_name("snakemake")), "-s", SNAKEFILE, *words]
    env = {"HOME": str(folder), **variables, "PATH": f"{before}/usr/bin:/bin"}
    ended = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    said = ended.stdout + ended.stderr
    assert ended.returncode == 0, said[-3000:]
    return said


@pytest.fixture
def folder(tmp_path):
    """Make a folder with a custom question."""
    (tmp_path / "studies" / "own" / "questions").mkdir(parents=True)
    (tmp_path / "studies" / "own" / "questions" / "ramps.yaml").write_text(RAMPS)
    return tmp_path


def test_it_is_a_module_of_another_workflow(folder):
    """A rule of the other workflow asks for the runs of one question, and nothing else is made."""
    (folder / "Snakefile").write_text(MODULE)
    said = snakemake(folder)
    assert said.returncode == 0, said.stdout[-2000:] + said.stderr[-2000:]
    kind, (row,) = read_rows(folder / "mine.json")
    assert (kind, row["variant"], row["status"]) == ("runs", "short", "ok")
    pages = (folder / "reports" / "smoke").rglob("index.html")
    assert [path.parent.name for path in pages] == ["ramps"]


def test_settings_and_files_of_other_work_change_nothing(folder):
    """No home to write to, names of libraries in the folder, a Python set up for other work."""
    for name in ("wandb", "triton", "numpy"):
        (folder / name).mkdir()
    for name in ("random", "statistics", "torch", "workflow"):
        (folder / f"{name}.py").write_text("raise SystemExit('not ours')")
    (folder / "matplotlibrc").write_text("text.usetex: True\n")
    unprepared(folder, "--config", "scale=smoke", "--", "ramps", **OTHER_WORK)
    (path,) = folder.glob("results/runs/*/record.json")
    record = json.loads(path.read_text())
    assert record["status"] == "ok"
    assert not [line for line in record["cost"]["backends"] if "not compiled" in line]


def test_condas_python_runs_the_rules_and_finds_the_suite(folder):
    """A stand-in for conda, whose environment is this one by another path."""
    (folder / "bin").mkdir()
    (folder / "bin" / "conda").write_text(CONDA.format(folder=folder, python=sys.executable))
    (folder / "bin" / "conda").chmod(0o755)
    (folder / "bin" / "activate").write_text('export PATH="$1/bin:$PATH"')
    words = ("--software-deployment-method", "conda", "--config", "scale=smoke", "--", PLAN)
    unprepared(folder, *words, before=f"{folder}/bin:")
    assert (folder / "used").read_text() == f"-m workflow.scripts.plan {PLAN}\n"
    (environment,) = folder.glob(".snakemake/conda/*.yaml")
    assert environment.read_text() == (ROOT / "environment.yml").read_text()
