"""The ledger of a whole scale."""

import json

import pandas as pd
import pytest

from tests import _site
from tests._costs import split_costs
from tests._runs import every_run, failed, run
from workflow.config.errors import ConfigError
from workflow.plan.ablations import known_ablations
from workflow.plan.claims import ablation_of, costs_claimed, known_claims
from workflow.report.claims.ledger import VERDICTS, collect_evidence, judge_all
from workflow.report.claims.schema import load_claim
from workflow.results.runs_table import Frames, as_frame
from workflow.scripts import ledger


@pytest.fixture(scope="module")
def claims(suite):
    content = json.loads((suite / "results" / _site.SCALE / "ledger.json").read_text())
    return {line["name"]: line for line in content["claims"]}


def test_the_ledger_of_a_whole_scale(claims, suite):
    assert [*claims] == known_claims()
    assert {line["verdict"] for line in claims.values()} <= set(VERDICTS)
    assert all(line["why"] for line in claims.values())
    assert claims["dynamic_equals_adaptive"]["verdict"] == "reproduced"  # made alike
    assert claims["flops_cut"]["verdict"] == "reproduced"
    assert claims["top_k_helps_xl"]["verdict"] == "cannot tell"  # the same in every run
    table = pd.read_csv(suite / "results" / _site.SCALE / "ledger.csv").set_index("name")
    assert list(table.index) == known_claims()
    assert table.loc["flops_stay_flat", "measured at"].startswith("scale test; a device")
    assert pd.isna(table.loc["flops_cut", "measured at"])  # a formula


def test_a_ledger_without_evidence_still_holds_every_claim(tmp_path):
    ledger.main([str(tmp_path / "ledger.json")])
    content = json.loads((tmp_path / "ledger.json").read_text())
    assert [line["name"] for line in content["claims"]] == known_claims() and content["provenance"] == []
    (tmp_path / "foreign.json").write_text("[]")
    with pytest.raises(ConfigError, match="expected evidence"):
        ledger.main([str(tmp_path / "ledger.json"), str(tmp_path / "foreign.json")])


@pytest.mark.parametrize("name", sorted({ablation_of(claim) for claim in known_claims()} & set(known_ablations())))
@pytest.mark.parametrize("make", [run, failed])
def test_an_ablation_run_alone_has_evidence_of_its_costs_alone(name, make):
    runs = as_frame(*split_costs([row for row in every_run(make) if row["ablation"] == name], costs_claimed(name)))
    mine = [claim for claim in known_claims() if ablation_of(claim) == name]
    lines = judge_all([collect_evidence(claim, load_claim(claim), Frames(runs, None)) for claim in mine])
    assert [line["name"] for line in lines] == sorted(mine) and all(line["verdict"] for line in lines)
