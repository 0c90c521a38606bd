"""The ledger of a whole scale."""

import json
import zipfile

import pandas as pd
import pytest

from tests import _site
from tests._costs import split_costs
from tests._runs import every_run, failed, run
from workflow.claims.evidence import collect_evidence
from workflow.claims.ledger import VERDICTS, judge_all, stand_side_by_side, write_ledger
from workflow.claims.schema import costs_claimed, known_claims, load_claim
from workflow.config.errors import ConfigError
from workflow.config.files import PRECOMPUTED
from workflow.plan.other_results import find_other_results
from workflow.plan.questions import known_questions
from workflow.report.pages.claims import Ledger, run_pages
from workflow.report.pages.search import search_script
from workflow.report.pages.site import Site
from workflow.results.record import write_text
from workflow.results.runs_table import Frames, as_frame


def test_the_ledger_of_a_whole_scale(suite):
    content = json.loads((suite / "results" / _site.SCALE / "ledger.json").read_text())
    claims = {line["name"]: line for line in content["claims"]}
    assert [*claims] == known_claims()
    assert {line["verdict"] for line in claims.values()} <= set(VERDICTS)
    assert all(line["why"] for line in claims.values())
    assert claims["dynamic_equals_adaptive"]["why"].startswith("2 seeds per corpus")
    assert claims["flops_cut"]["verdict"] == "reproduced"
    assert claims["top_k_helps_xl"]["verdict"] == "inconclusive"  # the same in every run
    table = pd.read_csv(suite / "results" / _site.SCALE / "ledger.csv").set_index("name")
    assert list(table.index) == known_claims()
    assert table.loc["flops_stay_flat", "measured at"].startswith("scale test; a device")
    assert pd.isna(table.loc["flops_cut", "measured at"])  # a formula


def test_a_ledger_without_evidence_still_holds_every_claim(tmp_path):
    write_ledger(tmp_path / "ledger.json", ("laptop", "laptop"), [], None)
    content = json.loads((tmp_path / "ledger.json").read_text())
    assert [line["name"] for line in content["claims"]] == known_claims() and content[
        "provenance"
    ] == []
    (tmp_path / "foreign.json").write_text("[]")
    with pytest.raises(ConfigError, match="expected evidence"):
        write_ledger(
            tmp_path / "ledger.json", ("laptop", "laptop"), [tmp_path / "foreign.json"], None
        )


@pytest.mark.parametrize(
    "name", sorted({load_claim(claim).about for claim in known_claims()} & set(known_questions()))
)
@pytest.mark.parametrize("make", [run, failed])
def test_a_question_run_alone_has_evidence_of_its_costs_alone(name, make):
    runs = as_frame(
        *split_costs(
            [row for row in every_run(make) if row["question"] == name], costs_claimed(name)
        )
    )
    mine = [claim for claim in known_claims() if load_claim(claim).about == name]
    lines = judge_all(
        [collect_evidence(claim, load_claim(claim), Frames(runs, None)) for claim in mine]
    )
    assert [line["name"] for line in lines] == sorted(mine) and all(
        line["verdict"] for line in lines
    )


def judged(verdict: str, effect: float | None = 1.0) -> dict:
    line = {
        "name": "x",
        "question": "adaptive_vs_xl",
        "verdict": verdict,
        "why": "",
        "effect": effect,
        "n": 3,
    }
    line |= dict.fromkeys(
        ("low", "high", "p", "holm", "detectable", "ours", "than", "by_text", "of", "at", "setting")
    )
    line |= dict.fromkeys(("looks", "late_gain", "tuned", "sizes"))
    return line | {"claimed": [None, 0.0], "pairs": [], "texts": [], "digests": [], "signed": {}}


def test_a_set_that_has_the_effect_in_nets_of_some_size_alone_is_shown():
    rung = {"size": 0.5, "effect": -0.1}
    for theirs, sets in (({}, ["laptop"]), ({"sizes": [rung]}, ["small", "laptop"])):
        other = {
            "set": "small",
            "scale": "small",
            "claims": [judged("inconclusive", None) | theirs],
        }
        (line,) = stand_side_by_side([judged("consistent")], ("laptop", "laptop"), [other])
        assert [each["set"] for each in line["sets"]] == sets and line["speaks"] == "laptop"


def test_the_verdict_of_another_scale_names_it():
    """It stands on the page of a question beside the effect of this one."""
    line = {"claim": "x", "name": "x", "overall": "reproduced", "speaks": "small"}
    scripts = [
        search_script(as_frame([run()]), Ledger(own, [], [line]), {}, {})
        for own in ("small", "laptop")
    ]
    assert '"reproduced"' in scripts[0] and '"reproduced at scale small"' in scripts[1]


def test_tuned_verdicts_are_corrected_for_as_many_claims_as_those_on_one_recipe():
    told = {"p": 0.02, "p_none": None, "low": -1.2, "high": -0.8, "unit": "", "late_gain": None}
    lines = [
        judged(None, -1.0) | told | {"name": name}
        for name in ("adaptive_as_good_as_fixed", "adaptive_better_than_xl", "deeper_is_better")
    ]
    lines[0]["tuned"] = {**lines[0], "tuned": None}
    first, *others = judge_all(lines)
    assert first["holm"] == pytest.approx(0.06) and first["tuned"]["holm"] == pytest.approx(0.06)
    assert first["tuned"]["verdict"] == first["verdict"] and [line["tuned"] for line in others] == [
        None,
        None,
    ]


@pytest.mark.parametrize(
    "own, others, overall, speaks",
    [
        ("consistent", {"small": "not reproduced"}, "not reproduced", "small"),
        (
            "consistent",
            {"small": "not converged", "overnight": "reproduced"},
            "reproduced",
            "overnight",
        ),
        ("consistent", {"small": "inconclusive"}, "consistent", "laptop"),
        ("reproduced", {"smoke": "not reproduced"}, "reproduced", "laptop"),
        ("not converged", {"smoke": "not reproduced"}, "not reproduced", "smoke"),
        ("not converged", {"paper": "inconclusive"}, "not converged", "laptop"),
        ("not tested", {"small": "not tested", "smoke": "inconclusive"}, "inconclusive", "smoke"),
        ("not tested", {"small": "not tested"}, "not tested", "laptop"),
        ("reproduced", {"laptop": "not reproduced"}, "reproduced", "laptop"),
    ],
)
def test_the_largest_scale_that_can_tell_is_shown(own, others, overall, speaks):
    sets = [
        {"set": scale, "scale": scale, "claims": [judged(verdict)]}
        for scale, verdict in others.items()
    ]
    (line,) = stand_side_by_side([judged(own)], ("laptop", "laptop"), sets)
    assert (line["overall"], line["speaks"], line["verdict"]) == (overall, speaks, own)
    assert len(line["sets"]) == 1 + len(others)
    for each in (line for content in sets for line in content["claims"]):
        each["effect"] = None  # a set that measured nothing of a claim is left out
    (line,) = stand_side_by_side([judged("consistent")], ("laptop", "laptop"), sets)
    assert [each["set"] for each in line["sets"]] == ["laptop"]


@pytest.mark.parametrize(
    "own, other, speaks", [(0.01, 0.3, "laptop"), (0.2, 0.3, "laptop"), (0.2, 0.01, "small")]
)
def test_nets_that_had_stopped_learning_speak_before_others_and_of_others_those_that_learned_least(
    own, other, speaks
):
    larger = {
        "set": "small",
        "scale": "small",
        "claims": [judged("consistent") | {"late_gain": other}],
    }
    (line,) = stand_side_by_side(
        [judged("reproduced") | {"late_gain": own}], ("laptop", "laptop"), [larger]
    )
    assert line["speaks"] == speaks and [each["set"] for each in line["sets"]] == [
        "small",
        "laptop",
    ]


@pytest.mark.parametrize(
    "verdict, texts", [("consistent", ["b"]), ("not reproduced", ["a"]), ("inconclusive", [])]
)
def test_texts_on_which_it_is_otherwise_are_named(verdict, texts):
    line = judged(verdict) | {"by_text": {"a": -0.09, "b": 0.01}}
    (compared,) = stand_side_by_side([line], ("laptop", "laptop"), [])
    assert compared["sets"][0]["otherwise_on"] == texts


def test_other_results_are_folders_of_scales_or_bundles(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results/paper").mkdir(parents=True)
    with pytest.raises(
        ConfigError, match="other_results 'results/paper': neither a scale's results"
    ):
        find_other_results("laptop", ["results/paper"])
    (tmp_path / "results/paper/plan.json").write_text("[]")
    assert named("laptop", "results/paper") == ["overnight", "small", "paper"]
    assert named("overnight") == ["laptop", "small"]
    with pytest.raises(ConfigError, match="'results/paper': these are the results of paper itself"):
        find_other_results("paper", ["results/paper"])
    with pytest.raises(
        ConfigError, match="other_results '~nobody-here/b.zip': ~nobody-here/b.zip: no such home"
    ):
        find_other_results("paper", ["~nobody-here/b.zip"])


def named(scale: str, *paths: str) -> list[str]:
    return [each.name for each in find_other_results(scale, list(paths)).values()]


def test_other_results_of_one_name_are_told_apart_by_their_paths(tmp_path, monkeypatch):
    """A colleague's laptop beside one's own, two bundles called alike, one in the home folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    paths = [
        "a/bundle.zip",
        "b/bundle.zip",
        "~/bundle.zip",
        "theirs/laptop",
        "results/overnight",
        "LARGE.ZIP",
    ]
    for path in paths:
        place = tmp_path / path.replace("~", "home")
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.suffix:
            zipfile.ZipFile(place, "w").close()
        else:
            write_text(place / "plan.json", "[]")
    twice = [*paths, str(PRECOMPUTED / "overnight")]  # shown once
    assert named("laptop", *twice) == ["overnight", "small", *paths]
    assert len({each.path for each in find_other_results("laptop", paths).values()}) == 2 + len(
        paths
    )


def test_runs_of_another_scale_lead_to_its_report_where_that_is_made(tmp_path):
    site, place = Site(tmp_path, tmp_path / "reports" / "laptop"), "questions/adaptive_vs_xl/"
    made = tmp_path / "reports" / "overnight" / place / "a.html"
    made.parent.mkdir(parents=True)
    made.write_text("")
    evidence = {"set": "overnight", "pairs": [{"runs": {"ours": ["a"], "than": ["b"]}}]}
    assert run_pages(site, evidence, place, mine=False) == {"a": f"../overnight/{place}a.html"}
    assert (site.reports / f"../overnight/{place}a.html").resolve() == made.resolve()
    assert run_pages(site, evidence, place, mine=True) == {
        name: f"{place}{name}.html" for name in "ab"
    }
