"""The forest plot of headline claims, which scales disagree, and the index: from a ledger made by
hand.
"""

import json

import pandas as pd
import pytest

from tests._claims import claim
from tests._runs import run
from workflow.claims.disagreement import disagreeing, opposes
from workflow.claims.evidence import read_finding
from workflow.claims.ledger import LINE
from workflow.claims.schema import claimed_range, load_claim
from workflow.report.pages.claims import (
    Ledger,
    form_of_effect,
    name_disagreeing,
    summarise_disagreeing,
)
from workflow.report.pages.index import list_failures, list_unmeasured, root_page
from workflow.report.pages.strips import forest_of
from workflow.results.precomputed import NOT_MEASURED, NOT_RUN

SEEN, FAILED = "It is {size} better: {ours}, {than}.", "It takes {share}, {times} of it."


def line(name: str, verdict: str, effect: float, paper: str = "aiayn", **changes) -> dict:
    evidence = {
        "effect": effect,
        "low": effect - 0.1,
        "high": effect + 0.1,
        "n": 3,
        "ours": 2.0,
        "than": 2.16,
    }
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
    base = {
        "name": name,
        "paper": paper,
        "unit": "bpc",
        "by": "difference",
        "overall": verdict,
        "speaks": "laptop",
    }
    base |= {
        "abstract": "It is better.",
        "claimed": [None, 0.0],
        "claim": name,
        "why": "",
        "measure": ["dev_bpc"],
        "digests": [],
        "sets": sets,
        **evidence,
    }
    return (
        base
        | {"finding": {"printed": -0.04, "text": "-0.04", "seen": SEEN, "failed": FAILED}}
        | changes
    )


@pytest.mark.parametrize(
    "name, text",
    [
        ("adaptive_better_than_xl", "-0.04"),  # 1.02 less 1.06
        ("large_model_on_enwik8", "0.98"),
        ("big_translates_better", "1.1"),  # 28.4 less 27.3
        ("top_k_translates_as_well_as_entmax", "0.0"),  # both 35.6
        ("adaptive_cheaper_than_xl", "0.6406"),  # 41M over 64M
        ("top_k_translates_better", "0.4"),  # the mean of 0.3, 0.5 and 0.3
    ],
)
def test_an_effect_of_a_paper_has_the_digits_that_it_prints(name, text):
    assert read_finding(load_claim(name))["text"] == text


def at_scales(*sets: dict, **changes) -> dict:
    """Make a claim about a ratio with the evidence of several scales, of which the first speaks."""
    told = line(
        "a",
        "reproduced",
        0.416,
        by="ratio",
        unit="×",
        measure=["ms"],
        speaks=sets[0]["set"],
        **changes,
    )
    base = told["sets"][0]
    return told | {"sets": [base | {"scale": each["set"]} | each for each in sets]}


def test_a_sentence_names_each_scale_whose_interval_excludes_its_number_and_what_differs():
    wide = {"set": "overnight", "effect": 0.416, "low": 0.362, "high": 0.477, "at": "at S = 64"}
    wide |= {"setting": {"width": "256", "device": "cpu"}, "texts": ["a"]}
    narrow = {"set": "laptop", "effect": 0.999, "low": 0.983, "high": 1.016, "at": "at S = 16"}
    narrow |= {"setting": {"width": "64", "device": "cpu"}, "texts": ["b", "c"]}
    like = {"set": "small", "effect": 0.5, "low": 0.3, "high": 0.8}
    short = summarise_disagreeing(at_scales(wide, narrow, like))
    for said in ("at laptop", "95 % CI 0.983 to 1.016", "width", "corpora"):
        assert said in short
    assert "small" not in short and "device" not in short
    (in_full,) = name_disagreeing(at_scales(wide, narrow, like))
    assert "0.999×" in in_full and "S = 16, width 64, corpora b and c" in in_full
    assert (
        summarise_disagreeing(at_scales(wide, like)) == ""
        and name_disagreeing(at_scales(wide, like)) == []
    )


@pytest.mark.parametrize(
    "effect, verdict, by, is_opposed",
    [
        (-0.5, "reproduced", "difference", False),
        (-0.5, "consistent", "difference", False),
        (-0.5, "not converged", "difference", False),
        (0.5, "not converged", "difference", True),
        (-0.01, "inconclusive", "difference", True),
        (0.5, "not reproduced", "difference", True),
        (0.0, "reproduced", "difference", True),
        (0.2, "consistent", "ratio", False),
        (1.2, "reproduced", "ratio", True),
    ],
)
def test_another_scale_disagrees_with_another_direction_or_verdict_only(
    effect, verdict, by, is_opposed
):
    """The effect shown is -0.2, or 0.6 times, and reproduced."""
    told = line("a", "reproduced", -0.2 if by == "difference" else 0.6, by=by)
    (own,) = told["sets"]
    other = own | {
        "set": "small",
        "effect": effect,
        "low": effect - 0.005,
        "high": effect + 0.005,
        "verdict": verdict,
        "p": 0.01,
    }
    told |= {"sets": [own, other]}
    assert opposes(other, told) == is_opposed
    (in_full,) = name_disagreeing(told)
    assert ["disagree" in said for said in (summarise_disagreeing(told), in_full)] == [
        is_opposed,
        is_opposed,
    ]


def test_spans_that_hardly_moved_elsewhere_disagree_with_nothing():
    told = line("a", "consistent", -0.16)
    (own,) = told["sets"]
    other = own | {
        "set": "small",
        "effect": 0.05,
        "low": 0.01,
        "high": 0.09,
        "verdict": "not converged",
        "p": 0.01,
    }
    assert [each["set"] for each in disagreeing(told | {"sets": [own, other]})] == ["small"]
    assert disagreeing(told | {"sets": [own, other | {"p": None}]}) == []


def test_a_measurement_disagrees_beyond_what_two_processes_differ_by():
    """Memory may differ by 20 %: 0.902 / 1.2 = 0.75 allows 0.771, and 0.6 x 1.2 = 0.72 does not."""
    one = {"of": "measurement", "n": 1, "low": None, "high": None}
    sets = [
        one | {"set": name, "effect": effect, "pairs": [{"text": "a", "effect": effect}]}
        for name, effect in (("small", 0.771), ("overnight", 0.6), ("laptop", 0.902))
    ]
    told = at_scales(*sets) | {"measure": ["memory_train_bytes"]}
    assert [each["set"] for each in disagreeing(told)] == ["overnight"]


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
def test_a_strip_says_what_its_interval_is_over(on, of, basis, speaks):
    """The set that speaks may be this report's own or another; marks are in order along the
    axis.
    """
    told, pairs = (
        line("a", "reproduced", -0.16),
        [{"text": text} for text, number in on.items() for _ in range(number)],
    )
    sets = [told["sets"][0] | {"set": speaks, "pairs": pairs, "of": of, "texts": [*on]}]
    (group,) = forest_of(Ledger("laptop", [], [told | {"speaks": speaks, "sets": sets}]))
    (row,) = group.rows
    assert row.at.endswith(basis) and (row.effect, row.interval) == (
        "0.16 bpc lower",
        "0.06 to 0.26",
    )
    assert row.asked == "-0.04"
    earlier = told | {
        "speaks": speaks,
        "sets": sets,
        "finding": {"printed": -0.04, "seen": SEEN, "failed": FAILED},
    }
    (group,) = forest_of(Ledger("laptop", [], [earlier]))  # as an earlier version wrote it
    assert group.rows[0].asked == "-0.040"
    strip = row.strip
    assert (
        0 < strip.low < strip.effect < strip.printed < strip.claimed[1] < 100
        and strip.claimed[0] == 0
    )
    assert strip.effect - strip.low == pytest.approx(strip.high - strip.effect, abs=0.2)


def test_claims_of_one_unit_share_an_axis_with_its_null_value_and_those_of_another_do_not():
    lines = [line("a", "reproduced", -0.16), line("b", "not reproduced", 0.5)]
    ratio = line("c", "reproduced", 0.5) | {
        "by": "ratio",
        "unit": "x",
        "claimed": [None, 1.0],
        "finding": None,
    }
    ratio["sets"] = [each | {"effect": 0.5, "low": 0.25, "high": 1.0} for each in ratio["sets"]]
    untested = line("d", "not tested", 0.1)
    untested["sets"] = [
        each | dict.fromkeys(("effect", "low", "high")) for each in untested["sets"]
    ]
    bpc, ratios, others = forest_of(Ledger("laptop", [], [*lines, ratio, untested]))
    assert [row.name for row in bpc.rows] == ["a", "b"] and [row.name for row in ratios.rows] == [
        "c"
    ]
    first, second = (row.strip for row in bpc.rows)
    assert first.effect < bpc.axis.null < second.effect  # to be compared by eye
    assert (bpc.axis.null, "0") in bpc.axis.ticks and (ratios.axis.null, "1") in ratios.axis.ticks
    assert bpc.axis.better == "lower" and not bpc.axis.log and ratios.axis.log
    mark = ratios.rows[0].strip
    # on a logarithmic axis
    assert mark.high - mark.effect == pytest.approx(mark.effect - mark.low, abs=0.2)
    assert (
        ratios.rows[0].effect.endswith("×") and others.axis is None and others.rows[0].strip is None
    )


def test_an_interval_that_excludes_no_effect_never_shows_it_as_an_end():
    evidence = {"effect": 0.065, "low": 0.0003, "high": 0.1297}
    assert form_of_effect(evidence, "bpc").text(evidence["low"]) == "0.0003"
    assert form_of_effect(evidence | {"low": -0.0003}, "bpc").text(0.065) == "0.065"


def test_the_claimed_stretch_of_an_axis_and_the_printed_effect_of_ours_against_than():
    assert claimed_range(claim()) == (None, 0.0) and claimed_range(
        claim(expect="more", bound=2.0)
    ) == (2.0, None)
    assert claimed_range(claim(expect="equal", bound=1.0, within=0.5)) == (0.5, 1.5)
    low, high = claimed_range(claim(expect="equal", by="ratio", bound=2.0, within=0.1))
    assert (low, high) == (pytest.approx(2 / 1.1), pytest.approx(2.2))
    assert read_finding(load_claim("adaptive_better_than_xl"))["printed"] == pytest.approx(
        1.02 - 1.06
    )
    assert read_finding(load_claim("top_k_decodes_twice_as_fast_as_sparsemax"))[
        "printed"
    ] == pytest.approx(2)
    means = read_finding(load_claim("top_k_translates_better"))["printed"]
    assert means == pytest.approx((0.3 + 0.5 + 0.3) / 3)
    assert read_finding(claim()) is None


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
    told = [(each.status, each.reason) for each in list_failures(runs)]
    assert told == [("failed to train", "dev at chance"), ("flops", "no memory is left")]
    assert list_unmeasured(runs) == ["memory of 1 configuration"]


def test_a_report_whose_models_had_stopped_learning_comes_before_a_larger_one(tmp_path):
    gains = {
        "small": (0.1, 0.3, 0.01),
        "overnight": (0.01, 0.015, 0.3),
        "laptop": (0.1, None, 0.1),
        "smoke": (),
    }
    for scale, each_claim in gains.items():
        folder = tmp_path / scale
        folder.mkdir()
        (folder / "index.html").write_text("a")
        # what another set says of the claim does not count for this report
        sets = [
            [{"set": scale, "late_gain": gain}, {"set": "paper", "late_gain": 0.0}]
            for gain in each_claim
        ]
        lines = [
            dict.fromkeys(LINE) | {"overall": "reproduced", "speaks": scale, "sets": each}
            for each in sets
        ]
        lines = [claim | {"name": "a", "where": "b"} for claim in lines]
        (folder / "ledger.json").write_text(
            json.dumps({"set": scale, "beside": [], "claims": lines})
        )
    order = [scale.name for scale in root_page(tmp_path, tmp_path).scales]
    assert order == ["overnight", "small", "laptop", "smoke"]
