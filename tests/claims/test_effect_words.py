"""Which scales disagree, and the forest plot: from evidence made by hand."""

import pytest

from tests._claims import evidence_at, in_ledger, pair
from workflow.claims.disagreement import disagreeing, opposes
from workflow.claims.evidence import PrintedFinding
from workflow.claims.ledger import Ledger
from workflow.report.pages.effect_words import summarise_disagreeing
from workflow.report.pages.strips import forest_of

RATIO = {"by": "ratio", "unit": "×", "measure": ("train_tokens_per_s",)}
PRINTED = PrintedFinding(-0.04, "-0.04")


@pytest.mark.parametrize(
    "effect, verdict, by, is_opposed",
    [
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
    other = evidence_at("small", effect, low=effect - 0.005, high=effect + 0.005, verdict=verdict)
    line = in_ledger(own, other, by=by)
    assert opposes(other, line) == is_opposed
    assert ("disagree" in summarise_disagreeing(line)) == is_opposed


def sets_that_disagree(*evidence, **changes) -> list[str]:
    return [each.set for each in disagreeing(in_ledger(*evidence, **changes))]


def test_a_scale_whose_interval_excludes_the_number_disagrees():
    wide = evidence_at("overnight", 0.416, low=0.362, high=0.477)
    narrow = evidence_at("laptop", 0.999, low=0.983, high=1.016)
    alike = evidence_at("small", 0.5, low=0.3, high=0.8)
    assert sets_that_disagree(wide, narrow, alike, **RATIO) == ["laptop"]


@pytest.mark.parametrize("p, names", [(0.01, ["small"]), (None, [])])
def test_spans_that_hardly_moved_elsewhere_disagree_with_nothing(p, names):
    other = evidence_at("small", 0.05, low=0.01, verdict="not converged", p=p)
    assert sets_that_disagree(evidence_at("laptop", -0.16), other) == names


def test_a_measurement_disagrees_beyond_the_variation_between_processes():
    """Memory may differ by 20 %: 0.902 / 1.2 = 0.75 allows 0.771, and 0.6 x 1.2 = 0.72 does not."""
    sets = []
    for scale, effect in (("small", 0.771), ("overnight", 0.6), ("laptop", 0.902)):
        sets.append(evidence_at(scale, effect, low=None, high=None, pairs=(pair(effect),)))
    about = RATIO | {"measure": ("memory_train_bytes",)}
    assert sets_that_disagree(*sets, **about) == ["overnight"]


def forest(*lines):
    return forest_of(Ledger("laptop", (), lines))


def test_a_strip_has_the_effect_its_interval_and_the_claim_on_one_axis():
    pairs = tuple(pair(text=text) for text in "aaabbb")
    evidence = evidence_at("laptop", pairs=pairs, of="seed")
    (group,) = forest(in_ledger(evidence, abstract="A", finding=PRINTED))
    (row,) = group.rows
    assert row.effect == "0.16 bpc lower"
    assert row.interval == "0.06 to 0.26"
    assert row.asked == "-0.04"
    strip = row.strip
    places = [0, strip.low, strip.effect, strip.printed, strip.claimed[1], 100]
    assert places == sorted(places)
    assert strip.claimed[0] == 0
    assert strip.effect - strip.low == pytest.approx(strip.high - strip.effect, abs=0.2)


def test_claims_of_one_unit_share_an_axis_with_its_null_value():
    first = in_ledger(evidence_at("laptop", -0.16), name="a", abstract="A")
    second = in_ledger(evidence_at("laptop", 0.5), name="b", abstract="B")
    halved = evidence_at("laptop", 0.5, low=0.25, high=1.0)
    ratio = in_ledger(halved, name="c", abstract="C", claimed=(None, 1.0), **RATIO)
    untested = in_ledger(evidence_at("laptop", None), name="d", abstract="D", effect=None)
    bpc, ratios, others = forest(first, second, ratio, untested)
    assert [row.name for row in bpc.rows] == ["a", "b"]
    negative, positive = (row.strip for row in bpc.rows)
    assert negative.effect < bpc.axis.null < positive.effect
    assert (bpc.axis.null, "0") in bpc.axis.ticks
    assert (ratios.axis.null, "1") in ratios.axis.ticks
    mark = ratios.rows[0].strip
    # on a logarithmic axis
    assert mark.high - mark.effect == pytest.approx(mark.effect - mark.low, abs=0.2)
    assert others.axis is None
    assert others.rows[0].strip is None
