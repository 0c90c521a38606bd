"""The ledger of a scale, next to the evidence of other scales."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from tests import _site
from tests._claims import line_of, pair
from tests._costs import split_costs
from tests._runs import every_run, failed, run
from workflow.claims.collect import collect_evidence
from workflow.claims.evidence import OtherSet, as_json, read_claims
from workflow.claims.ledger import compare_sets, judge_all, write_ledger
from workflow.claims.schema import costs_claimed, known_claims, load_claims
from workflow.claims.verdict import VERDICTS
from workflow.config.errors import ConfigError
from workflow.plan.other_results import find_other_results
from workflow.results.record import write_text
from workflow.results.runs_table import Frames, as_frame

OWN = ("laptop", "laptop")
CLAIMS = load_claims(known_claims())


def test_the_ledger_of_a_whole_scale(suite):
    folder = suite / "results" / _site.SCALE
    ledger = json.loads((folder / "ledger.json").read_text())
    verdicts = {}
    for line in ledger["claims"]:
        assert line["why"]
        assert line["verdict"] in VERDICTS
        verdicts[line["name"]] = line["verdict"]
    assert list(verdicts) == known_claims()
    assert verdicts["flops_cut"] == "reproduced"
    # the same in every run
    assert verdicts["top_k_helps_xl"] == "inconclusive"
    table = pd.read_csv(folder / "ledger.csv")
    assert table["name"].tolist() == known_claims()


@pytest.mark.parametrize(
    "content, key",
    [
        ([], "claims"),
        ({"provenance": "", "claims": [{}]}, "claim 0"),
        ({"provenance": "", "claims": "x"}, "claims"),
    ],
)
def test_a_file_that_is_no_evidence_is_refused(content, key, tmp_path):
    path = tmp_path / "foreign.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ConfigError, match=f"foreign.json.*{key}"):
        write_ledger(tmp_path / "ledger.json", OWN, [path], None, CLAIMS)


def test_evidence_is_read_as_it_was_written(tmp_path):
    pairs = (pair(), replace(pair(), turn=("8 ms", 3)))
    line = line_of(effect=-0.1, pairs=pairs, texts=("a",))
    line = replace(line, tuned=line, by_text={"a": float("inf")})
    path = tmp_path / "claims.json"
    path.write_text(as_json({"provenance": "", "claims": [line]}))
    assert read_claims(path) == (line,)


@pytest.mark.parametrize("make", [run, failed])
def test_a_question_run_alone_has_evidence_of_its_costs_alone(make):
    """Costs that no claim of the question reads are not there, and reading them fails."""
    rows = every_run(make)
    for question in {row["question"] for row in rows}:
        own = [row for row in rows if row["question"] == question]
        costs = split_costs(own, costs_claimed(question))
        frames = Frames(as_frame(*costs), None)
        collected = []
        for name, claim in CLAIMS.items():
            if claim.about == question:
                collected.append(collect_evidence(name, claim, frames))
        for line in judge_all(collected, CLAIMS):
            assert line.verdict, question


def test_tuned_verdicts_are_corrected_for_as_many_claims_as_those_on_one_recipe():
    lines = []
    for name in ("adaptive_as_good_as_fixed", "adaptive_better_than_xl", "deeper_is_better"):
        line = line_of(effect=-1.0, low=-1.2, high=-0.8, p=0.02)
        lines.append(replace(line, name=name))
    lines[0] = replace(lines[0], tuned=lines[0])
    first, *others = judge_all(lines, CLAIMS)
    assert first.holm == pytest.approx(0.06)
    assert first.tuned.holm == pytest.approx(0.06)
    assert first.tuned.verdict == first.verdict
    assert len(others) == 2
    for line in others:
        assert line.tuned is None


def judged(verdict: str, effect: float | None = 1.0, **changes):
    return line_of(effect=effect, verdict=verdict, why="", **changes)


def compared(own, **others):
    """Compare a line of scale laptop with those of other scales."""
    sets = []
    for scale, line in others.items():
        sets.append(OtherSet(scale, scale, "", (line,)))
    (line,) = compare_sets([own], *OWN, sets)
    return line


@pytest.mark.parametrize(
    "own, others, overall, speaks",
    [
        ("consistent", {"small": "not reproduced"}, "not reproduced", "small"),
        ("consistent", {"small": "inconclusive"}, "consistent", "laptop"),
        ("reproduced", {"smoke": "not reproduced"}, "reproduced", "laptop"),
        ("not converged", {"smoke": "not reproduced"}, "not reproduced", "smoke"),
        ("not converged", {"paper": "inconclusive"}, "not converged", "laptop"),
        ("not tested", {"small": "not tested", "smoke": "inconclusive"}, "inconclusive", "smoke"),
        ("reproduced", {"laptop": "not reproduced"}, "reproduced", "laptop"),
    ],
)
def test_the_largest_scale_with_a_telling_verdict_is_shown(own, others, overall, speaks):
    theirs = {scale: judged(verdict) for scale, verdict in others.items()}
    line = compared(judged(own), **theirs)
    assert line.overall == overall
    assert line.speaks == speaks
    assert line.verdict == own
    assert len(line.sets) == 1 + len(others)


@pytest.mark.parametrize(
    "own, theirs, speaks", [(0.01, 0.3, "laptop"), (0.2, 0.3, "laptop"), (0.2, 0.01, "small")]
)
def test_converged_models_speak_first_then_those_closest_to_it(own, theirs, speaks):
    larger = judged("consistent", late_gain=theirs)
    line = compared(judged("reproduced", late_gain=own), small=larger)
    assert line.speaks == speaks


@pytest.mark.parametrize(
    "verdict, corpora", [("consistent", ("b",)), ("not reproduced", ("a",)), ("inconclusive", ())]
)
def test_corpora_that_contradict_the_verdict_are_named(verdict, corpora):
    line = compared(judged(verdict, by_text={"a": -0.09, "b": 0.01}))
    assert line.sets[0].otherwise_on == corpora


@pytest.mark.parametrize(
    "scale, path",
    [("laptop", "results/large"), ("paper", "results/paper"), ("paper", "~nobody-here/b.zip")],
)
def test_what_is_no_other_result_is_refused(scale, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results/large").mkdir(parents=True)
    write_text(tmp_path / "results/paper/plan.json", "[]")
    with pytest.raises(ConfigError, match=f"'{path}'"):
        find_other_results(scale, [path])
