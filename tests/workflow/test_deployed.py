"""The workflow run from another folder, on a machine set up for other work, by conda, and as
another's module.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests._copied import ROOT, snakemake
from workflow.results.rows import read_rows

pytestmark = pytest.mark.slow
PLAN = "results/smoke/plan.json"
MODULE = f"""
module attention:
    snakefile:
        "{ROOT}/workflow/Snakefile"
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

# a user's
OTHERS = {
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
    """Return what Snakemake says that is called by its path, with no environment activated and no
    number of cores.
    """
    command = [
        str(Path(sys.executable).with_name("snakemake")),
        "-s",
        f"{ROOT}/workflow/Snakefile",
        *words,
    ]
    env = {"HOME": str(folder), **variables, "PATH": f"{before}/usr/bin:/bin"}
    said = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert said.returncode == 0, said.stdout[-2000:] + said.stderr[-2000:]
    return said.stdout + said.stderr


@pytest.fixture
def folder(tmp_path):
    """A folder with a question of its own."""
    (tmp_path / "studies" / "own" / "questions").mkdir(parents=True)
    (tmp_path / "studies" / "own" / "questions" / "ramps.yaml").write_text(RAMPS)
    return tmp_path


def test_it_is_a_module_of_another_workflow(folder):
    """The runs of a question, its training included, asked for by a rule of the other workflow; and
    nothing else.
    """
    (folder / "Snakefile").write_text(MODULE)
    said = snakemake(folder)
    assert said.returncode == 0, said.stdout[-2000:] + said.stderr[-2000:]
    kind, rows = read_rows(folder / "mine.json")
    assert kind == "runs" and [(row["variant"], row["status"]) for row in rows] == [("short", "ok")]
    of_question = {
        "questions",
        "answers",
        "claims",
        "flops",
        "memory",
        "throughput",
        "reference.json",
    }
    assert {path.name for path in (folder / "results" / "smoke").iterdir()} == of_question | {
        "plan.json"
    }
    assert [path.parent.name for path in (folder / "reports" / "smoke").rglob("index.html")] == [
        "ramps"
    ]


def test_a_changed_config_over_a_half_made_folder_makes_all_that_is_missing(folder):
    """Job files are there, and nothing else; the plan has to be made anew, and is not all that
    there is to make.
    """
    words = ("-s", str(ROOT / "workflow" / "Snakefile"), "--config", "scale=smoke")
    assert snakemake(folder, *words, "questions=[dynamic_span]", "--", PLAN).returncode == 0
    said = snakemake(folder, *words, "questions=[dynamic_span,ramps]", "-n", "all")
    said = said.stdout + said.stderr
    assert said.count(": train ") == 4 and "train short on words, S = 32, seed 1 (ramps)" in said


def test_settings_and_files_of_other_work_change_nothing(folder):
    """No home to write to, names of libraries where it is run, and a Python that was set up for
    something else.
    """
    for name in ("wandb", "triton", "numpy"):
        (folder / name).mkdir()
    for name in ("random", "statistics", "torch", "workflow"):
        (folder / f"{name}.py").write_text("raise SystemExit('not ours')")
    (folder / "matplotlibrc").write_text("text.usetex: True\n")
    said = unprepared(folder, "--config", "scale=smoke", "--", "ramps", **OTHERS)
    assert "nothing failed" in said, said[-2000:]
    (run,) = read_rows(folder / "results" / "smoke" / "questions" / "ramps.json")[1]
    (record,) = [json.loads(path.read_text()) for path in folder.glob("results/runs/*/record.json")]
    assert run["status"] == "ok" and not [
        line for line in record["cost"]["backends"] if "not compiled" in line
    ]


def test_condas_python_runs_the_rules_and_finds_the_suite(folder):
    """A stand-in for conda, whose environment is this one by another path."""
    (folder / "bin").mkdir()
    (folder / "bin" / "conda").write_text(CONDA.format(folder=folder, python=sys.executable))
    (folder / "bin" / "conda").chmod(0o755)
    (folder / "bin" / "activate").write_text('export PATH="$1/bin:$PATH"')
    words = ("--software-deployment-method", "conda", "--config", "scale=smoke", "--", PLAN)
    unprepared(folder, *words, before=f"{folder}/bin:")
    assert (folder / "used").read_text() == f"-m workflow.scripts.plan {PLAN}\n"
    (copied,) = folder.glob(".snakemake/conda/*.yaml")
    assert copied.read_text() == (ROOT / "environment.yml").read_text()


def test_a_container_with_half_a_processor_has_one_core(folder):
    script = (
        "mount -t tmpfs none /sys/fs/cgroup && echo 50000 100000 > /sys/fs/cgroup/cpu.max && exec "
    )
    script += (
        f"{sys.executable} -m snakemake -s {ROOT}/workflow/Snakefile --config scale=smoke -- {PLAN}"
    )
    said = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script], cwd=folder, capture_output=True, text=True
    )
    if "unshare:" in said.stderr or "mount:" in said.stderr:
        pytest.skip("nothing can be mounted here")
    assert said.returncode == 0 and "Provided cores: 1" in said.stderr, said.stderr
