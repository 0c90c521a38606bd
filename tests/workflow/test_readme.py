"""What the README shows works as it stands there."""

import json
import re

import pytest

from tests._copied import ROOT, copied, ended, snakemake
from workflow.report.claims.ledger import VERDICTS

TEXT = (ROOT / "README.md").read_text()
BLOCKS = dict(re.findall(r"This is `([^`]+)`:\n\n```\w+\n(.*?)```", TEXT, re.DOTALL))


@pytest.fixture
def copy(tmp_path):
    folder = copied(tmp_path, "tests")
    for place, content in BLOCKS.items():
        (folder / place).write_text(content)
    return folder


def test_an_added_ablation_trains_its_new_runs_alone(copy):
    assert "config/ablations/ramp.yaml" in BLOCKS
    (copy / "models/attention/selections/within_margin.py").unlink()
    plan = snakemake(copy, "-n", "--config", "scale=smoke", "--", "ramp")
    text = plan.stdout + plan.stderr
    assert plan.returncode == 0, text
    assert "write the page of ramp and of its runs" in text
    trained = re.findall(r"^Job \d+: train (.*)$", text, re.MULTILINE)
    assert len(trained) == 2 and all("(ramp" in each for each in trained)


def test_an_added_variant_passes_the_contract_it_did_not_write(copy):
    place = copy / "models/attention/__init__.py"
    source = place.read_text()
    line = "from models.attention.selections.within_margin import WithinMargin\n"
    source = source.replace("from models.attention.spans.adaptive", line + "from models.attention.spans.adaptive")
    source = source.replace('"top_k": TopK}', '"top_k": TopK, "within_margin": WithinMargin}')
    assert source.count("WithinMargin") == 2  # imported once, named once
    place.write_text(source)
    tested = ended(
        copy, "pytest", "-q", "-p", "no:cacheprovider", "tests/models/test_contract.py", "-k", "within_margin and fixed"
    )
    assert tested.returncode == 0 and "passed" in tested.stdout, tested.stdout[-2000:]


def test_the_tree_of_the_readme_is_the_tree():
    for name in re.findall(r"^    (\w+)/ ", TEXT, re.MULTILINE):
        assert (ROOT / name).is_dir(), name


@pytest.mark.slow
def test_an_added_question_is_run_and_an_added_claim_is_judged(copy):
    (copy / "models/attention/selections/within_margin.py").unlink()
    process = snakemake(copy, "--config", "scale=smoke", "ablations=[ramp]")
    assert process.returncode == 0, process.stdout[-2000:] + process.stderr[-2000:]
    claims = json.loads((copy / "results/smoke/ledger.json").read_text())["claims"]
    mine = next(claim for claim in claims if claim["name"] == "ramp_saves_nothing")
    assert len(mine["digests"]) == 2 and mine["verdict"] in VERDICTS
    assert "ramp_saves_nothing" in (copy / "reports/smoke/index.html").read_text()
    assert "Does a longer ramp help" in (copy / "reports/smoke/ablations/ramp/index.html").read_text()
