"""Which scales disagree, and the forest plot: from evidence made by hand."""

import pytest

from tests._claims import evidence_at, in_ledger, pair
from workflow.claims.disagreement import disagreeing, opposes

RATIO = {"by": "ratio", "unit": "×", "measure": ("train_tokens_per_s",)}


@pytest.mark.parametrize(
    "effect, verdict, by, is_opposed",
    [
        (-0.5, "consistent", "difference", False),
        (-0.5, "not converged", "difference", False),
        (0.5, "not converged", "difference", True),
        (-0.01, "inconclusive", "difference", True),
        (0.0, "reproduced", "difference", True),
        (0.2, "consistent", "ratio", False),
        (1.2, "reproduced", "ratio", True),
    ],
)
def test_a_scale_with_another_direction_or_verdict_disagrees(effect, verdict, by, is_opposed):
    """The effect shown is -0.2, or 0.6 times, and reproduced."""
    own = evidence_at("laptop", -0.2 if by == "difference" else 0.6)
    other = evidence_at("small", effect, low=effect - 0.005, high=effect + 0.005, verdict=verdict)
    assert opposes(other, in_ledger(own, other, by=by)) == is_opposed


def sets_that_disagree(*evidence, **changes) -> list[str]:
    return [each.set for each in disagreeing(in_ledger(*evidence, **changes))]


def test_a_scale_whose_interval_excludes_the_number_disagrees():
    wide = evidence_at("overnight", 0.416, low=0.362, high=0.477)
    narrow = evidence_at("laptop", 0.999, low=0.983, high=1.016)
    alike = evidence_at("small", 0.5, low=0.3, high=0.8)
    assert sets_that_disagree(wide, narrow, alike, **RATIO) == ["laptop"]


def test_a_measurement_disagrees_beyond_the_variation_between_processes():
    """Memory may differ by 20 %: 0.902 / 1.2 = 0.75 allows 0.771, and 0.6 x 1.2 = 0.72 does not."""
    sets = []
    for scale, effect in (("small", 0.771), ("overnight", 0.6), ("laptop", 0.902)):
        sets.append(evidence_at(scale, effect, low=None, high=None, pairs=(pair(effect),)))
    about = RATIO | {"measure": ("memory_train_bytes",)}
    assert sets_that_disagree(*sets, **about) == ["overnight"]
