"""The workflow run from another folder, and as a module of another workflow."""

import pytest

from tests._copied import ROOT, snakemake

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
        "results/smoke/tables/adaptive_span_table3.csv",
    output:
        "mine.txt",
    shell:
        "wc -l {{input}} > {{output}}"
"""


def test_it_runs_from_any_folder(tmp_path):
    words = ("-s", str(ROOT / "workflow" / "Snakefile"), "--config", "scale=smoke")
    said = snakemake(tmp_path, *words, "--", "adaptive_span_shares")
    assert said.returncode == 0, said.stderr[-2000:]
    assert (tmp_path / "results" / "smoke" / "tables" / "adaptive_span_shares.csv").exists()


def test_it_is_a_module_of_another_workflow(tmp_path):
    """One table of scale smoke, its three trainings included, asked for by a rule of the other workflow."""
    (tmp_path / "Snakefile").write_text(MODULE)
    said = snakemake(tmp_path)
    assert said.returncode == 0, said.stdout[-2000:] + said.stderr[-2000:]
    assert (tmp_path / "mine.txt").read_text().split()[0] != "0"
    assert not list(tmp_path.glob("results/smoke/throughput/*"))


def test_an_ablation_beside_the_workflow_is_a_target(tmp_path):
    folder = tmp_path / "config" / "ablations"
    folder.mkdir(parents=True)
    (folder / "ramps.yaml").write_text(
        "question: Does a ramp help?\npaper: adaptive_span\ncorpora: [text8]\n"
        "variants:\n  short: {span: {name: adaptive, ramp: 2}, S: max}\n"
    )
    words = ("-s", str(ROOT / "workflow" / "Snakefile"), "--config", "scale=smoke", "-n", "--", "ramps")
    said = snakemake(tmp_path, *words)
    assert said.returncode == 0 and "train short on words, S = 32, seed 1 (ramps)" in said.stdout + said.stderr
