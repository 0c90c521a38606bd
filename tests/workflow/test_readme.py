"""What the README shows works as it stands there."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from tests._copied import ROOT, copied, ended
from workflow.report.claims.ledger import VERDICTS

TEXT = (ROOT / "README.md").read_text()
BLOCKS = dict(re.findall(r"This is `([^`]+)`:\n\n```\w+\n(.*?)```", TEXT, re.DOTALL))


@pytest.fixture
def copy(tmp_path):
    folder = copied(tmp_path, "tests")
    for place, content in BLOCKS.items():
        (folder / place).write_text(content)
    return folder


def test_an_added_ablation_is_a_target_and_asks_for_its_own_runs(copy):
    assert "config/ablations/ramp.yaml" in BLOCKS
    (copy / "models/attention/selections/within_margin.py").unlink()
    asked = ended(copy, "snakemake", "-n", "--config", "scale=smoke", "--", "ramp")
    said = asked.stdout + asked.stderr
    assert asked.returncode == 0, said
    assert "reports/ablations/ramp.html" in said
    with_it, without = (_trained(copy, name) for name in ("ramp", "dynamic_span"))
    assert with_it == without  # all records are gathered before a page, the two new ones among them
    (copy / "config/ablations/ramp.yaml").unlink()
    assert _trained(copy, "dynamic_span") == without - 2


def _trained(folder, target) -> int:
    said = ended(folder, "snakemake", "-n", "--config", "scale=smoke", "--", target)
    return (said.stdout + said.stderr).count("rule train:")


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


def test_an_added_question_is_run_and_an_added_claim_is_judged(copy):
    (copy / "models/attention/selections/within_margin.py").unlink()
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    words = ["snakemake", "--config", "scale=smoke", "ablations=[ramp]"]
    said = ended(copy, *words, env={**os.environ, "PATH": path})
    assert said.returncode == 0, said.stdout[-2000:] + said.stderr[-2000:]
    claims = json.loads((copy / "results/claims.json").read_text())["claims"]
    mine = next(one for one in claims if one["name"] == "ramp_saves_nothing")
    assert len(mine["digests"]) == 2 and mine["verdict"] in VERDICTS
    assert "ramp_saves_nothing" in (copy / "reports/index.html").read_text()
    assert "Does a longer ramp help" in (copy / "reports/ablations/ramp.html").read_text()
