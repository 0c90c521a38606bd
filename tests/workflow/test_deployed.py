"""The workflow run from another folder, and as a module of another workflow."""

import pytest

from tests._copied import ROOT, snakemake
from workflow.results.rows import read_rows

pytestmark = pytest.mark.slow
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
        "results/smoke/ablations/ramps.json",
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


@pytest.fixture
def folder(tmp_path):
    """A folder with a question of its own."""
    (tmp_path / "studies" / "own" / "questions").mkdir(parents=True)
    (tmp_path / "studies" / "own" / "questions" / "ramps.yaml").write_text(RAMPS)
    return tmp_path


def test_it_is_a_module_of_another_workflow(folder):
    """The runs of a question, its training included, asked for by a rule of the other workflow; and nothing else."""
    (folder / "Snakefile").write_text(MODULE)
    said = snakemake(folder)
    assert said.returncode == 0, said.stdout[-2000:] + said.stderr[-2000:]
    kind, rows = read_rows(folder / "mine.json")
    assert kind == "runs" and [(row["variant"], row["status"]) for row in rows] == [("short", "ok")]
    of_question = {"ablations", "claims", "flops", "memory", "throughput", "reference.json"}
    assert {path.name for path in (folder / "results" / "smoke").iterdir()} == of_question | {"plan.json"}
    assert [path.parent.name for path in (folder / "reports" / "smoke").rglob("index.html")] == ["ramps"]


def test_a_changed_config_over_a_half_made_folder_makes_all_that_is_missing(folder):
    """Job files are there, and nothing else; the plan has to be made anew, and is not all that there is to make."""
    words = ("-s", str(ROOT / "workflow" / "Snakefile"), "--config", "scale=smoke")
    assert snakemake(folder, *words, "ablations=[dynamic_span]", "--", "results/smoke/plan.json").returncode == 0
    said = snakemake(folder, *words, "ablations=[dynamic_span,ramps]", "-n", "all")
    said = said.stdout + said.stderr
    assert said.count(": train ") == 4 and "train short on words, S = 32, seed 1 (ramps)" in said
