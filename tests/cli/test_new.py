"""What `new` begins: choices whose contract fails until their maths is there, and what works."""

import re
import subprocess
import sys

import pytest

from tests._copied import copied, ended, snakemake
from workflow.cli.new import begin
from workflow.config.errors import ConfigError

pytestmark = pytest.mark.slow
DEFAULTS = {"span": "full", "selection": "all", "normaliser": "softmax", "position": "none"}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return copied(tmp_path_factory.mktemp("copy"), "tests")


def new(copy, kind: str, name: str) -> str:
    begun = ended(copy, "workflow.cli.new", kind, name)
    assert begun.returncode == 0, begun.stderr
    return begun.stdout


def test_new_choices_are_found_and_their_contracts_fail_until_the_maths_is_there(copy):
    alone = []
    for kind in DEFAULTS:
        new(copy, kind, f"{kind}_of_mine")
        alone.append("-".join({**DEFAULTS, kind: f"{kind}_of_mine"}.values()))
    assert ended(copy, "ruff", "check", "models").returncode == 0
    assert ended(copy, "ruff", "format", "--check", "models").returncode == 0
    chosen = ("tests/models/test_contract.py", "-k", f"engine_equals and ({' or '.join(alone)})")
    tested = ended(copy, "pytest", "-q", "--tb=line", "-p", "no:cacheprovider", *chosen)
    assert tested.returncode == 1
    for kind in DEFAULTS:
        failure = rf"{kind}s/{kind}_of_mine.py:\d+: NotImplementedError"
        assert re.search(failure, tested.stdout), tested.stdout[-2000:]


def test_a_new_question_and_a_new_claim_are_planned_at_once(copy):
    new(copy, "question", "asked")
    new(copy, "claim", "claimed")
    # it would take the question's target
    said = ended(copy, "workflow.cli.new", "claim", "asked")
    assert said.returncode == 2
    assert "studies/own/questions/asked.yaml" in said.stderr
    plan = snakemake(copy, "-n", "--config", "scale=smoke", "questions=[asked]")
    assert plan.returncode == 0
    assert "asked" in plan.stdout + plan.stderr
    read = "from workflow.claims.schema import load_claim; print(load_claim('claimed').expect)"
    command = [sys.executable, "-c", read]
    assert subprocess.run(command, cwd=copy, capture_output=True, text=True).stdout == "less\n"


@pytest.mark.parametrize(
    "kind, name, value",
    [
        ("span", "fixed", "models/attention/spans/fixed.py"),
        ("span", "Mine", "'Mine'"),
        ("claim", "../evil", "'../evil'"),
        ("span", "class", "'class'"),
        ("selection", "softmax", "models/attention/normalisers/softmax.py"),
        ("question", "bundle", "'bundle'"),
        ("question", "head_spans", "studies/adaptive_span/questions/head_spans.yaml"),
        ("question", "aiayn", "studies/aiayn/study.yaml"),
        ("claim", "attention_share", "studies/adaptive_span/claims/attention_share.yaml"),
    ],
)
def test_a_name_that_cannot_be_one_is_refused_and_nothing_is_written(kind, name, value, copy):
    before = sorted(copy.rglob("*"))
    with pytest.raises(ConfigError, match=value):
        begin(copy, kind, name)
    assert sorted(copy.rglob("*")) == before
