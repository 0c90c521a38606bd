"""What `new` begins: a choice whose contract fails until its maths is there, a question and a claim
that work.
"""

import re
import subprocess
import sys
import tomllib

import pytest

from tests._copied import copied, ended, snakemake
from workflow.cli.new import begin
from workflow.config.errors import ConfigError

pytestmark = pytest.mark.slow


@pytest.fixture
def copy(tmp_path):
    return copied(tmp_path, "tests")


def test_new_choices_are_found_and_their_contracts_fail_until_the_maths_is_there(copy):
    kinds = ("span", "selection", "normaliser", "position")
    for kind in kinds:
        begun = ended(copy, "workflow.cli.new", kind, f"{kind}_of_mine")
        assert begun.returncode == 0, begun.stderr
        assert f"models/attention/{kind}s/{kind}_of_mine.py" in begun.stdout
    assert ended(copy, "ruff", "check", "models").returncode == 0
    assert ended(copy, "ruff", "format", "--check", "models").returncode == 0
    plain = ("full", "all", "softmax", "none")
    alone = (
        "-".join((*plain[:at], f"{kind}_of_mine", *plain[at + 1 :]))
        for at, kind in enumerate(kinds)
    )
    chosen = ("tests/models/test_contract.py", "-k", f"engine_equals and ({' or '.join(alone)})")
    tested = ended(copy, "pytest", "-q", "--tb=line", "-p", "no:cacheprovider", *chosen)
    assert tested.returncode == 1
    for kind in kinds:
        assert re.search(rf"{kind}s/{kind}_of_mine.py:\d+: NotImplementedError", tested.stdout), (
            tested.stdout[-2000:]
        )


def test_a_new_choice_is_begun_and_tested_with_what_make_installs(copy, tmp_path, monkeypatch):
    """That is without what the extra `test` brings: ruff, hypothesis and others."""
    absent = tmp_path / "absent"
    absent.mkdir()
    project = tomllib.loads((copy / "pyproject.toml").read_text())["project"]
    for name in (*project["optional-dependencies"]["test"], "xdist"):
        (absent / f"{name.replace('-', '_')}.py").write_text("raise ImportError('not installed')\n")
    monkeypatch.setenv("PYTHONPATH", str(absent))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    begun = ended(copy, "workflow.cli.new", "span", "of_mine")
    assert begun.returncode == 0, begun.stderr
    files = re.search("pytest (tests/.*)", begun.stdout)[1].split()
    options = ("-q", "--tb=line", "-p", "no:cacheprovider", "-k", "of_mine and sum_to_one")
    tested = ended(copy, "pytest", *options, *files)
    assert tested.returncode == 1
    assert "of_mine.py" in tested.stdout and "NotImplementedError" in tested.stdout


def test_a_new_question_and_a_new_claim_are_planned_at_once(copy):
    for kind, name in (("question", "of_mine"), ("claim", "claimed")):
        assert ended(copy, "workflow.cli.new", kind, name).returncode == 0
    # it would take the question's target
    said = ended(copy, "workflow.cli.new", "claim", "of_mine")
    assert said.returncode == 2 and "studies/own/questions/of_mine.yaml" in said.stderr
    plan = snakemake(copy, "-n", "--config", "scale=smoke", "questions=[of_mine]")
    assert plan.returncode == 0 and "of_mine" in plan.stdout + plan.stderr
    read = "from workflow.claims.schema import load_claim; print(load_claim('claimed').expect)"
    command = [sys.executable, "-c", read]
    assert subprocess.run(command, cwd=copy, capture_output=True, text=True).stdout == "less\n"


@pytest.mark.parametrize(
    "kind, name, value",
    [
        ("span", "fixed", "models/attention/spans/fixed.py"),
        ("span", "Mine", "'Mine'"),
        ("claim", "../evil", "'../evil'"),
        ("question", "_mine", "'_mine'"),
        ("span", "class", "'class'"),
        ("span", "none", "'none'"),
        ("selection", "softmax", "models/attention/normalisers/softmax.py"),
        ("question", "bundle", "'bundle'"),
        ("question", "layers", "'layers'"),
        ("question", "head_spans", "studies/adaptive_span/questions/head_spans.yaml"),
        ("question", "aiayn", "studies/aiayn/study.yaml"),
        ("question", "flops_cut", "studies/adaptive_span/claims/flops_cut.yaml"),
        ("claim", "attention_share", "studies/adaptive_span/claims/attention_share.yaml"),
        ("claim", "train", "'train'"),
    ],
)
def test_a_name_that_cannot_be_one_is_refused_and_nothing_is_written(kind, name, value, copy):
    before = sorted(copy.rglob("*"))
    with pytest.raises(ConfigError, match=value):
        begin(copy, kind, name)
    assert sorted(copy.rglob("*")) == before
