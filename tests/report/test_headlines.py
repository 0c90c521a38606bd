"""What was found, in sentences, and the forest plot of headline claims: from a ledger made by hand."""

import json

import pandas as pd
import pytest

from tests._claims import claim
from tests._runs import run
from workflow.report.claims.disagreement import disagreeing
from workflow.report.claims.evidence import read_finding
from workflow.report.claims.ledger import LINE
from workflow.report.claims.schema import claimed_range, load_claim
from workflow.report.pages.claims import Ledger, name_disagreeing
from workflow.report.pages.headlines import find_limit, forest_of, list_findings
from workflow.report.pages.index import list_failures, list_unmeasured, root_page
from workflow.results.precomputed import NOT_MEASURED, NOT_RUN
from workflow.results.trained_enough import UNMOVED

SEEN, FAILED = "It is {size} better: {ours}, {than}.", "It takes {share}, {times} of it."


def line(name: str, verdict: str, effect: float, paper: str = "aiayn", **changes) -> dict:
    evidence = {"effect": effect, "low": effect - 0.1, "high": effect + 0.1, "n": 3, "ours": 2.0, "than": 2.16}
    evidence |= {
        "otherwise_on": [],
        "pairs": [],
        "texts": [],
        "of": None,
        "at": "",
        "looks": None,
        "late_gain": None,
        "setting": None,
    }
    sets = [{"set": "laptop", "scale": "laptop", "verdict": verdict, "why": "", **evidence}]
    base = {"name": name, "paper": paper, "unit": "bpc", "by": "difference", "overall": verdict, "speaks": "laptop"}
    base |= {
        "abstract": "It is better.",
        "claimed": [None, 0.0],
        "measure": ["dev_bpc"],
        "digests": [],
        "sets": sets,
        **evidence,
    }
    return base | {"finding": {"printed": -0.04, "text": "-0.04", "seen": SEEN, "failed": FAILED}} | changes


def test_a_sentence_says_the_effect_as_size_share_and_factor_and_which_texts_say_otherwise():
    (seen,) = list_findings([line("a", "consistent", -0.16)])
    assert seen["text"] == "It is 0.16 bpc better: 2.00, 2.16 (dev)." and seen["verdict"] == "consistent"
    (failed,) = list_findings([line("a", "not reproduced", 0.65)])
    assert failed["text"] == "It takes 65 %, 0.65× of it (dev)."
    (late,) = list_findings([line("a", "consistent", -0.16, late_gain=0.05)])
    assert late["text"] == seen["text"]  # that of the line's own set counts for nothing
    unfinished = line("a", "consistent", -0.16)
    unfinished["sets"][0]["late_gain"] = 0.05
    (late,) = list_findings([unfinished])
    assert late["text"].endswith("2.16 (dev), not converged.")
    otherwise = line("a", "consistent", -0.16)
    otherwise["sets"][0]["otherwise_on"] = ["text8-3mb"]
    (seen,) = list_findings([otherwise])
    assert seen["text"].endswith("2.16 (dev). Not so on text8-3mb.")


def test_a_sentence_says_what_becomes_of_an_effect_where_each_variant_is_tuned():
    told = line("a", "consistent", -0.16)
    alike = {"effect": -0.16, "low": -0.26, "high": -0.06, "verdict": "consistent"}
    other = {"effect": -0.05, "low": -0.11, "high": 0.01, "verdict": "inconclusive"}
    for tuned, numbers in ((None, []), (alike, []), (other, ["-0.050", "-0.110", "0.010", "inconclusive"])):
        told["sets"][0]["tuned"] = tuned
        (found,) = list_findings([told])
        assert ("uned: " in found["text"]) == bool(numbers)
        assert all(number in found["text"] for number in numbers)


@pytest.mark.parametrize(
    "name, text",
    [
        ("adaptive_better_than_xl", "-0.04"),  # 1.02 less 1.06
        ("large_model_on_enwik8", "0.98"),
        ("big_translates_better", "1.1"),  # 28.4 less 27.3
        ("top_k_translates_as_well_as_entmax", "0.0"),  # both 35.6
        ("adaptive_cheaper_than_xl", "0.6406"),  # 41M over 64M
    ],
)
def test_an_effect_of_a_paper_has_the_digits_that_it_prints(name, text):
    assert read_finding(load_claim(name))["text"] == text


def at_scales(*sets: dict, **changes) -> dict:
    """Make a claim about a ratio with the evidence of several scales, of which the first speaks."""
    told = line("a", "reproduced", 0.416, by="ratio", unit="×", measure=["ms"], speaks=sets[0]["set"], **changes)
    base = told["sets"][0]
    return told | {"sets": [base | {"scale": each["set"]} | each for each in sets]}


def test_a_sentence_names_each_scale_whose_interval_excludes_its_number_and_what_differs():
    wide = {"set": "overnight", "effect": 0.416, "low": 0.362, "high": 0.477, "at": "at S = 64"}
    wide |= {"setting": {"width": "256", "device": "cpu"}, "texts": ["a"]}
    narrow = {"set": "laptop", "effect": 0.999, "low": 0.983, "high": 1.016, "at": "at S = 16"}
    narrow |= {"setting": {"width": "64", "device": "cpu"}, "texts": ["b", "c"]}
    like = {"set": "small", "effect": 0.5, "low": 0.3, "high": 0.8}
    (found,) = list_findings([at_scales(wide, narrow, like)])
    for said in ("0.999× at laptop", "95 % CI 0.983 to 1.016", "width", "corpora"):
        assert said in found["text"]
    assert "small" not in found["text"] and "device" not in found["text"]
    (in_full,) = name_disagreeing(at_scales(wide, narrow, like))
    assert "0.999×" in in_full and "S = 16, width 64, corpora b and c" in in_full
    (alone,) = list_findings([at_scales(wide, like)])
    assert "laptop" not in alone["text"] and name_disagreeing(at_scales(wide, like)) == []


def test_another_scale_is_quoted_in_the_direction_of_the_sentence():
    """The sentence says 0.16 bpc better; elsewhere it is 0.30 better, or 0.05 worse."""
    told = line("a", "consistent", -0.16)
    (own,) = told["sets"]
    better = own | {"set": "overnight", "effect": -0.3, "low": -0.34, "high": -0.26}
    worse = own | {"set": "small", "effect": 0.05, "low": 0.01, "high": 0.09}
    (found,) = list_findings([told | {"sets": [own, better, worse]}])
    assert "0.300 bpc at overnight (95 % CI 0.260 to 0.340" in found["text"]
    assert "-0.050 bpc at small (95 % CI -0.090 to -0.010" in found["text"]


def test_spans_that_hardly_moved_elsewhere_disagree_with_nothing():
    told = line("a", "consistent", -0.16)
    (own,) = told["sets"]
    other = own | {"set": "small", "effect": 0.05, "low": 0.01, "high": 0.09, "verdict": "not converged", "p": 0.01}
    assert [each["set"] for each in disagreeing(told | {"sets": [own, other]})] == ["small"]
    assert disagreeing(told | {"sets": [own, other | {"p": None}]}) == []


def test_one_measurement_is_no_headline_and_another_disagrees_beyond_what_two_processes_differ_by():
    """Memory may differ by 20 %: 0.902 / 1.2 = 0.75 allows 0.771, and 0.6 x 1.2 = 0.72 does not."""
    one = {"of": "measurement", "n": 1, "low": None, "high": None}
    sets = [
        one | {"set": name, "effect": effect, "pairs": [{"text": "a", "effect": effect}]}
        for name, effect in (("small", 0.771), ("overnight", 0.6), ("laptop", 0.902))
    ]
    told = at_scales(*sets) | {"measure": ["memory_train_bytes"]}
    assert list_findings([told]) == []
    assert [each["set"] for each in disagreeing(told)] == ["overnight"]
    turns = [each | {"of": "turn"} for each in sets]
    assert len(list_findings([at_scales(*turns)])) == 1


@pytest.mark.parametrize("verdict", ["not converged", "inconclusive", "not tested"])
def test_without_a_verdict_the_opening_is_silent(verdict):
    assert list_findings([line("a", verdict, -0.16)]) == []
    assert list_findings([line("a", "reproduced", -0.16, finding=None)]) == []


def test_behind_the_surest_of_each_paper_comes_what_was_not_reproduced_and_the_largest_scale_comes_first():
    lines = [line(f"{paper}{n}", "reproduced", -0.1, paper) for paper in ("aiayn", "adaptive_span") for n in range(4)]
    lines += [line(f"top_k{n}", "reproduced", 0.5, "explicit_sparse") for n in range(3)]
    lines += [line("worse", "not reproduced", 0.5, "explicit_sparse")]
    names = [found["name"] for found in list_findings(lines)]
    assert names == ["aiayn0", "aiayn1", "adaptive_span0", "top_k0", "worse"]
    stronger = line("b", "not reproduced", 0.65, speaks="small")
    stronger["sets"] = [{**stronger["sets"][0], "set": "small", "scale": "small"}, *stronger["sets"]]
    assert [each["name"] for each in list_findings([line("a", "reproduced", -0.16), stronger])] == ["b", "a"]


@pytest.mark.parametrize("speaks", ["laptop", "small"])
@pytest.mark.parametrize(
    "on, of, basis",
    [
        ({"a": 3}, "seed", "3 seeds"),
        ({"a": 1}, "seed", "1 seed"),
        ({"a": 3, "b": 3}, "seed", "2 corpora × 3 seeds"),
        ({"a": 12, "b": 3}, "seed", "2 corpora × 3 to 12 seeds"),
        ({"layers": 8}, "turn", "8 turns"),
    ],
)
def test_a_row_of_the_forest_plot_says_what_its_interval_is_over(on, of, basis, speaks):
    """The set that speaks may be this report's own or another; marks lie in order along the axis."""
    told, pairs = line("a", "reproduced", -0.16), [{"text": text} for text, number in on.items() for _ in range(number)]
    sets = [told["sets"][0] | {"set": speaks, "pairs": pairs, "of": of, "texts": [*on]}]
    (paper,) = forest_of(Ledger("laptop", [], [told | {"speaks": speaks, "sets": sets}]))
    (row,) = paper["rows"]
    assert (row["basis"], row["texts"], row["asked"]) == (basis, "; ".join(on), "lower")
    written = {"low": "-0.26", "effect": "-0.16", "high": "-0.06", "printed": "-0.04"}
    assert {key: row["written"][key] for key in written} == written
    earlier = told | {"speaks": speaks, "sets": sets, "finding": {"printed": -0.04, "seen": SEEN, "failed": FAILED}}
    (paper,) = forest_of(Ledger("laptop", [], [earlier]))  # as an earlier version wrote it
    assert paper["rows"][0]["written"]["printed"] == "-0.040"
    places = row["places"]
    assert 0 < places["low"] < places["effect"] < places["printed"] < row["span"][1] < 100 and row["span"][0] == 0
    assert places["effect"] - places["low"] == pytest.approx(places["high"] - places["effect"], abs=0.2)


def test_the_claimed_stretch_of_an_axis_and_the_printed_effect_of_ours_against_than():
    assert claimed_range(claim()) == (None, 0.0) and claimed_range(claim(expect="more", bound=2.0)) == (2.0, None)
    assert claimed_range(claim(expect="equal", bound=1.0, within=0.5)) == (0.5, 1.5)
    low, high = claimed_range(claim(expect="equal", by="ratio", bound=2.0, within=0.1))
    assert (low, high) == (pytest.approx(2 / 1.1), pytest.approx(2.2))
    assert read_finding(load_claim("adaptive_better_than_xl"))["printed"] == pytest.approx(1.02 - 1.06)
    assert read_finding(load_claim("top_k_decodes_twice_as_fast_as_sparsemax"))["printed"] == pytest.approx(2)
    assert read_finding(claim()) is None


def cell(row: str, column: str, value: float, half: float | None = None) -> dict:
    low, high = (None, None) if half is None else (value - half, value + half)
    cell = {"row": row, "column": column, "value": value, "low": low, "high": high, "points": None, "n": 12}
    return cell | {"unit": "", "kind": "measured", "published_value": None, "comparable": False}


@pytest.mark.parametrize(
    "half, said",
    [(0.0025, "0.0081 ± 0.0025 bpc worse over 12 seeds"), (0.01, "cannot be told apart (0.008 ± 0.010 bpc)")],
)
def test_the_sentence_on_the_text_of_known_limit(half, said):
    at = "adaptive, S = 256"
    cells = [cell(at, "test", 1.2349, 0.0016), cell("fixed, S = 256", "test", 1.2268, 0.0016)]
    cells += [cell(at, "difference to fixed", 0.0081, half), cell(at, "executed, to fixed", 0.674)]
    cells += [cell(at, "avg. span", 84.4, 2.3)]
    assert find_limit(cells) is None  # without the best reader there is no limit
    text = find_limit([*cells, cell("optimal predictor, full context", "test", 1.18)])
    assert "is known, 1.1800 bits per character" in text and "score 1.2349 on test and fixed ones 1.2268, " in text
    assert said in text and "take 0.674 times the executed multiply-adds" in text and "reach 84.4 characters" in text
    cells.append(cell("optimal predictor, full context", "test", 1.18))
    late = [cells[0] | {"late_gain": 0.05}, *cells[1:]]
    assert "over 12 seeds, not converged. " in find_limit(late) and "not converged" not in text
    assert find_limit([cells[0] | {"note": UNMOVED}, *cells[1:]]) is None


def test_what_nobody_tried_is_no_failure():
    lost = {"flops_status": "oom", "flops_reason": "no memory is left", "configuration": "b"}
    lost |= {"memory_reason": NOT_MEASURED, "memory_status": NOT_RUN}
    runs = pd.DataFrame(
        [
            run("adaptive_vs_xl", "as_small", 1) | {"memory_status": "ok", "memory_reason": None},
            run("adaptive_vs_xl", "as_small", 2)
            | lost
            | {"memory_reason": NOT_MEASURED, "memory_status": NOT_RUN, "configuration": "b"},
            run("adaptive_vs_xl", "txl_12", 3, status="failed to train", reason="dev at chance")
            | {"memory_reason": None},
        ]
    )
    told = [(each["status"], each["reason"]) for each in list_failures(runs)]
    assert told == [("failed to train", "dev at chance"), ("flops", "no memory is left")]
    assert list_unmeasured(runs) == ["memory of 1 configuration"]


def test_a_report_whose_models_had_stopped_learning_comes_before_a_larger_one(tmp_path):
    gains = {"small": (0.1, 0.3, 0.01), "overnight": (0.01, 0.015, 0.3), "laptop": (0.1, None, 0.1), "smoke": ()}
    for scale, each_claim in gains.items():
        folder = tmp_path / scale
        folder.mkdir()
        (folder / "index.html").write_text("a")
        # what another set says of the claim does not count for this report
        sets = [[{"set": scale, "late_gain": gain}, {"set": "paper", "late_gain": 0.0}] for gain in each_claim]
        lines = [dict.fromkeys(LINE) | {"overall": "reproduced", "speaks": scale, "sets": each} for each in sets]
        lines = [claim | {"name": "a", "where": "b"} for claim in lines]
        (folder / "ledger.json").write_text(json.dumps({"set": scale, "beside": [], "claims": lines}))
    order = [scale["name"] for scale in root_page(tmp_path, tmp_path)["scales"]]
    assert order == ["overnight", "small", "laptop", "smoke"]
