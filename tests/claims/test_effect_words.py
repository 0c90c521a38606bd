"""Effects in words, which scales disagree, and the forest plot: from evidence made by hand."""

import pytest

from tests._claims import evidence_at, in_ledger, line_of, pair
from workflow.claims.disagreement import disagreeing, opposes
from workflow.claims.evidence import PrintedFinding
from workflow.claims.ledger import Ledger
from workflow.report.pages.effect_words import (
    form_of_effect,
    name_disagreeing,
    say_effect,
    summarise_disagreeing,
)
from workflow.report.pages.strips import forest_of

RATIO = {"by": "ratio", "unit": "×", "measure": ("train_tokens_per_s",)}
PRINTED = PrintedFinding(-0.04, "-0.04", "It is {size} better.", None)


def test_an_effect_has_its_direction_in_words():
    evidence = evidence_at("small", -0.026, low=-0.044, high=-0.007)
    assert say_effect(evidence, line_of()) == ("0.026 bpc lower", "0.007 to 0.044")
    mixed = evidence_at("small", -0.026, low=-0.044, high=0.007)
    assert say_effect(mixed, line_of())[1] == "0.007 higher to 0.044 lower"
    share = evidence_at("small", 0.0907, low=0.0835, high=0.0978, than=None)
    assert say_effect(share, line_of()) == ("0.0907 bpc", "0.0835 to 0.0978")
    assert say_effect(evidence_at("small", None), line_of()) == ("", "")


def test_an_interval_that_excludes_no_effect_never_shows_it_as_an_end():
    excluding = evidence_at("small", 0.065, low=0.0003, high=0.1297)
    assert form_of_effect(excluding, "bpc").text(excluding.low) == "0.0003"
    including = evidence_at("small", 0.065, low=-0.0003, high=0.1297)
    assert form_of_effect(including, "bpc").text(0.065) == "0.065"


def test_each_scale_whose_interval_excludes_the_number_is_named_with_what_differs():
    there = {"at": "at S = 64", "texts": ("a",), "setting": {"width": "256", "device": "cpu"}}
    wide = evidence_at("overnight", 0.416, low=0.362, high=0.477, **there)
    here = {"at": "at S = 16", "texts": ("b", "c"), "setting": {"width": "64", "device": "cpu"}}
    narrow = evidence_at("laptop", 0.999, low=0.983, high=1.016, **here)
    alike = evidence_at("small", 0.5, low=0.3, high=0.8)
    line = in_ledger(wide, narrow, alike, **RATIO)
    short = summarise_disagreeing(line)
    for said in ("at laptop", "0.983 to 1.016", "width", "corpora"):
        assert said in short
    assert "small" not in short and "device" not in short
    (in_full,) = name_disagreeing(line)
    assert "0.999×" in in_full and "S = 16, width 64, corpora b and c" in in_full
    agreeing = in_ledger(wide, alike, **RATIO)
    assert summarise_disagreeing(agreeing) == "" and name_disagreeing(agreeing) == []


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
def test_a_scale_with_another_direction_or_verdict_disagrees(effect, verdict, by, is_opposed):
    """The effect shown is -0.2, or 0.6 times, and reproduced."""
    own = evidence_at("laptop", -0.2 if by == "difference" else 0.6)
    low = effect - 0.005
    other = evidence_at("small", effect, low=low, high=effect + 0.005, verdict=verdict)
    line = in_ledger(own, other, by=by)
    assert opposes(other, line) == is_opposed
    for sentence in (summarise_disagreeing(line), *name_disagreeing(line)):
        assert ("disagree" in sentence) == is_opposed


def test_spans_that_hardly_moved_elsewhere_disagree_with_nothing():
    own = evidence_at("laptop", -0.16)
    for p, names in ((0.01, ["small"]), (None, [])):
        other = evidence_at("small", 0.05, low=0.01, verdict="not converged", p=p)
        assert [each.set for each in disagreeing(in_ledger(own, other))] == names


def test_a_measurement_disagrees_beyond_the_variation_between_processes():
    """Memory may differ by 20 %: 0.902 / 1.2 = 0.75 allows 0.771, and 0.6 x 1.2 = 0.72 does not."""
    sets = []
    for scale, effect in (("small", 0.771), ("overnight", 0.6), ("laptop", 0.902)):
        once = {"low": None, "high": None, "pairs": (pair(effect),)}
        sets.append(evidence_at(scale, effect, **once))
    line = in_ledger(*sets, **RATIO | {"measure": ("memory_train_bytes",)})
    assert [each.set for each in disagreeing(line)] == ["overnight"]


def forest(*lines):
    return forest_of(Ledger("laptop", (), lines))


@pytest.mark.parametrize("speaks", ["laptop", "small"])
@pytest.mark.parametrize(
    "on, of, basis",
    [
        ({"a": 3}, "seed", "3 seeds"),
        ({"a": 1}, "seed", "1 seed"),
        ({"a": 3, "b": 3}, "seed", "2 corpora × 3 seeds"),
        ({"a": 12, "b": 3}, "seed", "2 corpora × 3 to 12 seeds"),
        ({"layers": 8}, "round", "8 rounds"),
    ],
)
def test_a_strip_says_what_its_interval_is_over(on, of, basis, speaks):
    pairs = tuple(pair(text=text) for text, number in on.items() for _ in range(number))
    evidence = evidence_at(speaks, pairs=pairs, of=of)
    ((row,),) = (group.rows for group in forest(in_ledger(evidence, abstract="A", finding=PRINTED)))
    assert row.at.endswith(basis) and row.asked == "-0.04"
    assert (row.effect, row.interval) == ("0.16 bpc lower", "0.06 to 0.26")
    strip = row.strip
    places = [0, strip.low, strip.effect, strip.printed, strip.claimed[1], 100]
    assert places == sorted(places) and strip.claimed[0] == 0
    assert strip.effect - strip.low == pytest.approx(strip.high - strip.effect, abs=0.2)


def test_claims_of_one_unit_share_an_axis_with_its_null_value():
    first = in_ledger(evidence_at("laptop", -0.16), name="a", abstract="A")
    second = in_ledger(evidence_at("laptop", 0.5), name="b", abstract="B")
    halved = evidence_at("laptop", 0.5, low=0.25, high=1.0)
    ratio = in_ledger(halved, name="c", abstract="C", claimed=(None, 1.0), **RATIO)
    untested = in_ledger(evidence_at("laptop", None), name="d", abstract="D", effect=None)
    bpc, ratios, others = forest(first, second, ratio, untested)
    assert [row.name for row in bpc.rows] == ["a", "b"]
    assert [row.name for row in ratios.rows] == ["c"]
    assert bpc.rows[0].strip.effect < bpc.axis.null < bpc.rows[1].strip.effect
    assert (bpc.axis.null, "0") in bpc.axis.ticks and (ratios.axis.null, "1") in ratios.axis.ticks
    assert bpc.axis.better == "lower" and not bpc.axis.log and ratios.axis.log
    mark = ratios.rows[0].strip
    # on a logarithmic axis
    assert mark.high - mark.effect == pytest.approx(mark.effect - mark.low, abs=0.2)
    assert ratios.rows[0].effect.endswith("×")
    assert others.axis is None and others.rows[0].strip is None
