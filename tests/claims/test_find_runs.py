"""Which runs a claim compares: their pairs, S and k."""

from itertools import product

import pytest

from tests._claims import as_table, both, claim, evidence_of
from tests._layers import layer, layers
from tests._runs import failed, run
from workflow.claims.evidence import RunsOfPair
from workflow.claims.samples import pair_up, read_sample
from workflow.claims.schema import load_claim
from workflow.claims.verdict import NOT_ASKED
from workflow.results.runs_table import Frames


def of_S(variant: str, scores: dict[int, float], column="dev_bpc") -> list[dict]:
    """Make two seeds of each S. scores: by S."""
    rows = []
    for (S, score), seed in product(scores.items(), (1, 2)):
        values = {"S": S, column: score}
        rows.append(run(variant=variant, seed=seed, **values))
    return rows


def test_pairs_share_a_seed():
    frames = Frames(both(than=(2.3, 2.4)), None)
    asserted = claim()
    ours = read_sample(asserted, asserted.ours, frames)
    than = read_sample(asserted, asserted.than, frames)
    first, second = pair_up(asserted, ours, than)
    assert first.turn == 0
    assert first.ours == 2.0
    assert second.turn == 1
    assert second.ours == 2.1
    assert first.effect == pytest.approx(-0.3)
    assert first.runs == RunsOfPair(
        ("span_limit-adaptive-64-None-0",),
        ("span_limit-fixed-64-None-0",),
    )


def test_a_slope_is_the_power_of_s():
    """macs = S^2 on one side, 5 S^0.5 on the other."""
    sides = (16, 32, 128)
    root = {S: 5 * S**0.5 for S in sides}
    square = {S: S**2 for S in sides}
    rows = of_S("adaptive", root, "macs_executed")
    rows += of_S("fixed", square, "macs_executed")
    asserted = claim(measure="macs_executed", by="slope")
    line = evidence_of(asserted, as_table(rows))
    assert line.ours == pytest.approx(0.5)
    assert line.than == pytest.approx(2.0)
    assert line.effect == pytest.approx(-1.5)


@pytest.mark.parametrize(
    "place, bpc",
    [
        ("max", 2.0),
        ("min", 2.5),
        ("upper", 2.125),
        ([32, 64], 2.25),
        (48, 2.25),
    ],
)
def test_a_place_is_of_what_was_run(place, bpc):
    """S of 32, 48, 64, whose bpc is 3 - S / 64; the middle one belongs to the upper half."""
    rows = of_S("adaptive", {32: 2.5, 48: 2.25, 64: 2.0})
    frames = Frames(as_table(rows), None)
    asserted = claim(ours={"variant": "adaptive", "S": place})
    sample = read_sample(asserted, asserted.ours, frames)
    found = list(sample.values.values())
    assert found == pytest.approx([bpc, bpc])


def test_a_common_limit_is_the_largest_that_both_sides_have():
    rows = of_S("adaptive", {32: 1.5, 64: 1.0, 128: 0.0})
    rows += of_S("fixed", {32: 2.0, 64: 1.5})
    rows.append(failed(variant="fixed", S=128))
    ours = {"variant": "adaptive", "S": "common"}
    than = {"variant": "fixed", "S": "common"}
    asserted = claim(ours=ours, than=than)
    line = evidence_of(asserted, as_table(rows))
    assert line.ours == 1.0
    assert line.than == 1.5
    assert line.n == 2


def test_timings_are_paired_by_round():
    """A machine that halves its speed between two rounds halves it for both."""
    quick = run(
        variant="adaptive",
        train_tokens_per_s=1000.0,
        train_ms=1.0,
        train_turns=[1.0, 2.0],
    )
    slow = run(
        variant="fixed",
        train_tokens_per_s=500.0,
        train_ms=2.0,
        train_turns=[2.0, 4.0],
    )
    asserted = claim(
        measure="train_tokens_per_s",
        by="ratio",
        expect="more",
    )
    line = evidence_of(asserted, as_table([quick, slow]))
    assert line.effect == 2.0
    assert line.n == 2
    assert line.verdict == "reproduced"


def test_a_pair_that_lacks_a_cell_of_the_grid_is_left_out():
    """The run of seed 1 with the smaller S failed: its mean over S would be another's."""
    rows = []
    grid = product(("adaptive", "fixed"), (32, 64), (1, 2, 3))
    for name, S, seed in grid:
        rows.append(run(variant=name, seed=seed, S=S))
    rows[0]["status"] = "timeout"
    rows[0]["reason"] = "late"
    line = evidence_of(claim(), as_table(rows))
    assert line.n == 2
    assert line.verdict == "inconclusive"


def test_layers_are_read_without_runs():
    rows = []
    for n in (4, 512, 1024):
        squared = n**2 / 1e4
        linear = n / 10
        rows.append(layer("self", n, squared, d=8, turns=[squared, squared]))
        rows.append(layer("rnn", n, linear, d=8, turns=[linear, linear]))
    quadratic = load_claim("attention_grows_with_n_squared")
    apart = layers(*rows)
    growth = evidence_of(quadratic, None, apart)
    assert growth.effect == pytest.approx(2.0)
    faster = load_claim("attention_is_faster_than_recurrence")
    line = evidence_of(faster, None, apart)
    # at n = 4 alone, the one below d
    assert line.ours == 16 / 1e4
    narrow = apart.assign(d=2)
    untested = evidence_of(faster, None, narrow)
    assert untested.effect is None
    assert untested.verdict == "not tested"
    not_asked = evidence_of(faster, both())
    assert not_asked.why == NOT_ASKED
