"""The ledger of a scale, next to the evidence of other scales."""

import json
import zipfile
from dataclasses import replace

import pandas as pd
import pytest

from tests import _site
from tests._claims import evidence_at, in_ledger, line_of, pair
from tests._costs import split_costs
from tests._runs import every_run, failed, run
from workflow.claims.collect import collect_evidence
from workflow.claims.evidence import OtherSet, RunsOfPair, as_json, read_claims, read_ledger
from workflow.claims.ledger import compare_sets, judge_all, write_ledger
from workflow.claims.schema import costs_claimed, known_claims, load_claim, load_claims
from workflow.claims.verdict import VERDICTS
from workflow.config.errors import ConfigError
from workflow.config.files import PRECOMPUTED
from workflow.plan.other_results import find_other_results
from workflow.report.pages.claims import run_pages
from workflow.report.pages.index import root_page
from workflow.report.pages.site import Site
from workflow.results.record import write_text
from workflow.results.runs_table import Frames, as_frame
from workflow.settings.questions import known_questions

OWN = ("laptop", "laptop")
CLAIMS = load_claims(known_claims())
CLAIMED = {load_claim(name).about for name in known_claims()}
ASKED = sorted(CLAIMED & {*known_questions()})


def test_the_ledger_of_a_whole_scale(suite):
    folder = suite / "results" / _site.SCALE
    content = json.loads((folder / "ledger.json").read_text())
    claims = {line["name"]: line for line in content["claims"]}
    assert [*claims] == known_claims()
    assert {line["verdict"] for line in claims.values()} <= set(VERDICTS)
    assert all(line["why"] for line in claims.values())
    assert claims["dynamic_equals_adaptive"]["why"].startswith("2 seeds")
    assert claims["flops_cut"]["verdict"] == "reproduced"
    assert claims["top_k_helps_xl"]["verdict"] == "inconclusive"  # the same in every run
    table = pd.read_csv(folder / "ledger.csv")
    assert table["name"].tolist() == known_claims()


def test_a_ledger_without_evidence_holds_every_claim(tmp_path):
    path = tmp_path / "ledger.json"
    write_ledger(path, OWN, [], None, CLAIMS)
    content = json.loads(path.read_text())
    assert [line["name"] for line in content["claims"]] == known_claims()
    assert read_ledger(tmp_path / "none.json") is None


@pytest.mark.parametrize(
    "content, said",
    [
        ([], "claims"),
        ({"provenance": "", "claims": [{}]}, "claim 0"),
        ({"provenance": "", "claims": "x"}, "claims"),
    ],
)
def test_a_file_that_is_no_evidence_is_refused(content, said, tmp_path):
    path = tmp_path / "foreign.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ConfigError, match=f"foreign.json.*{said}"):
        write_ledger(tmp_path / "ledger.json", OWN, [path], None, CLAIMS)


def test_evidence_is_read_as_it_was_written(tmp_path):
    pairs = (pair(), replace(pair(), turn=("8 ms", 3)))
    line = line_of(effect=-0.1, pairs=pairs, texts=("a",))
    line = replace(line, tuned=line, by_text={"a": float("inf")})
    path = tmp_path / "claims.json"
    path.write_text(as_json({"provenance": "", "claims": [line]}))
    assert read_claims(path) == (line,)


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("make", [run, failed])
def test_a_question_run_alone_has_evidence_of_its_costs_alone(name, make):
    rows = [row for row in every_run(make) if row["question"] == name]
    frames = Frames(as_frame(*split_costs(rows, costs_claimed(name))), None)
    mine = [each for each in known_claims() if load_claim(each).about == name]
    collected = [collect_evidence(each, load_claim(each), frames) for each in mine]
    lines = judge_all(collected, CLAIMS)
    assert [line.name for line in lines] == sorted(mine)
    assert all(line.verdict for line in lines)


def test_tuned_verdicts_are_corrected_for_as_many_claims_as_those_on_one_recipe():
    names = ("adaptive_as_good_as_fixed", "adaptive_better_than_xl", "deeper_is_better")
    lines = []
    for name in names:
        line = line_of(effect=-1.0, low=-1.2, high=-0.8, p=0.02)
        lines.append(replace(line, name=name))
    lines[0] = replace(lines[0], tuned=lines[0])
    first, *others = judge_all(lines, CLAIMS)
    assert (first.holm, first.tuned.holm) == pytest.approx((0.06, 0.06))
    assert first.tuned.verdict == first.verdict
    assert [line.tuned for line in others] == [None, None]


def judged(verdict: str, effect: float | None = 1.0, **changes):
    return line_of(effect=effect, verdict=verdict, why="", **changes)


def other(scale: str, *lines) -> OtherSet:
    return OtherSet(scale, scale, "", lines)


@pytest.mark.parametrize(
    "own, others, overall, speaks",
    [
        ("consistent", {"small": "not reproduced"}, "not reproduced", "small"),
        ("consistent", {"small": "inconclusive"}, "consistent", "laptop"),
        (
            "consistent",
            {"small": "not converged", "overnight": "reproduced"},
            "reproduced",
            "overnight",
        ),
        ("reproduced", {"smoke": "not reproduced"}, "reproduced", "laptop"),
        ("not converged", {"smoke": "not reproduced"}, "not reproduced", "smoke"),
        ("not converged", {"paper": "inconclusive"}, "not converged", "laptop"),
        ("not tested", {"small": "not tested", "smoke": "inconclusive"}, "inconclusive", "smoke"),
        ("reproduced", {"laptop": "not reproduced"}, "reproduced", "laptop"),
    ],
)
def test_the_largest_scale_with_a_telling_verdict_is_shown(own, others, overall, speaks):
    sets = [other(scale, judged(verdict)) for scale, verdict in others.items()]
    (line,) = compare_sets([judged(own)], *OWN, sets)
    assert line.overall == overall
    assert line.speaks == speaks
    assert line.verdict == own
    assert len(line.sets) == 1 + len(others)


def test_a_set_that_measured_nothing_of_a_claim_is_left_out():
    untested = other("small", judged("not reproduced", None))
    (line,) = compare_sets([judged("reproduced")], *OWN, [untested])
    assert [each.set for each in line.sets] == ["laptop"]


@pytest.mark.parametrize(
    "own, theirs, speaks", [(0.01, 0.3, "laptop"), (0.2, 0.3, "laptop"), (0.2, 0.01, "small")]
)
def test_converged_models_speak_first_then_those_closest_to_it(own, theirs, speaks):
    larger = other("small", judged("consistent", late_gain=theirs))
    ours = judged("reproduced", late_gain=own)
    (line,) = compare_sets([ours], *OWN, [larger])
    assert line.speaks == speaks
    assert [each.set for each in line.sets] == ["small", "laptop"]


@pytest.mark.parametrize(
    "verdict, corpora", [("consistent", ("b",)), ("not reproduced", ("a",)), ("inconclusive", ())]
)
def test_corpora_that_contradict_the_verdict_are_named(verdict, corpora):
    line = judged(verdict, by_text={"a": -0.09, "b": 0.01})
    (compared,) = compare_sets([line], *OWN, [])
    assert compared.sets[0].otherwise_on == corpora


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


def test_other_results_of_one_name_have_their_paths_as_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bundles = ["a/bundle.zip", "b/bundle.zip", "LARGE.ZIP"]
    folders = ["theirs/laptop", "results/overnight"]
    for path in bundles:
        (tmp_path / path).parent.mkdir(exist_ok=True)
        zipfile.ZipFile(tmp_path / path, "w").close()
    for path in folders:
        write_text(tmp_path / path / "plan.json", "[]")
    # a set that ships with the project is shown once
    paths = [*bundles, *folders, str(PRECOMPUTED / "overnight")]
    names = [each.name for each in find_other_results("laptop", paths).values()]
    assert names == ["overnight", "small", *bundles, *folders]


def test_runs_of_another_scale_link_to_its_report_if_it_was_made(tmp_path):
    site = Site(tmp_path, tmp_path / "reports" / "laptop")
    place = "questions/adaptive_vs_xl/"
    made = tmp_path / "reports" / "overnight" / place / "a.html"
    made.parent.mkdir(parents=True)
    made.write_text("")
    evidence = evidence_at("overnight", pairs=(pair(runs=RunsOfPair(("a",), ("b",))),))
    there = run_pages(site, evidence, place, is_own=False)
    assert there == {"a": f"../overnight/{place}a.html"}
    assert (site.reports / there["a"]).resolve() == made.resolve()


def test_a_report_whose_models_converged_comes_before_a_larger_one(tmp_path):
    gains = {"small": (0.1, 0.3, 0.01), "overnight": (0.01, 0.015, 0.3), "laptop": (0.1, None)}
    for scale, each_claim in (gains | {"smoke": ()}).items():
        lines = []
        for gain in each_claim:
            # what another set says of the claim does not count for this report
            sets = (evidence_at(scale, late_gain=gain), evidence_at("paper", late_gain=0.0))
            lines.append(in_ledger(*sets))
        write_text(tmp_path / scale / "index.html", "a")
        content = {"set": scale, "provenance": [], "beside": [], "claims": lines}
        write_text(tmp_path / scale / "ledger.json", as_json(content))
    order = [scale.name for scale in root_page(tmp_path, tmp_path).scales]
    assert order == ["overnight", "small", "laptop", "smoke"]
