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
        rows.append(run(variant=variant, seed=seed, S=S, **{column: score}))
    return rows


def test_pairs_share_a_seed():
    frames = Frames(both(than=(2.3, 2.4)), None)
    ours = read_sample(claim(), claim().ours, frames)
    than = read_sample(claim(), claim().than, frames)
    first, second = pair_up(claim(), ours, than)
    assert (first.turn, first.ours) == (0, 2.0)
    assert (second.turn, second.ours) == (1, 2.1)
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
    assert [*sample.values.values()] == pytest.approx([bpc, bpc])


def test_a_common_limit_is_the_largest_that_both_sides_have():
    rows = of_S("adaptive", {32: 1.5, 64: 1.0, 128: 0.0})
    rows += of_S("fixed", {32: 2.0, 64: 1.5})
    rows.append(failed(variant="fixed", S=128))
    ours = {"variant": "adaptive", "S": "common"}
    than = {"variant": "fixed", "S": "common"}
    line = evidence_of(claim(ours=ours, than=than), as_table(rows))
    assert (line.ours, line.than, line.n) == (1.0, 1.5, 2)


def test_timings_are_paired_by_round():
    """A machine that halves its speed between two rounds halves it for both."""
    quick = {"train_tokens_per_s": 1000.0, "train_ms": 1.0, "train_turns": [1.0, 2.0]}
    slow = {"train_tokens_per_s": 500.0, "train_ms": 2.0, "train_turns": [2.0, 4.0]}
    rows = [run(variant="adaptive", **quick), run(variant="fixed", **slow)]
    asserted = claim(measure="train_tokens_per_s", by="ratio", expect="more")
    line = evidence_of(asserted, as_table(rows))
    assert (line.effect, line.n, line.verdict) == (2.0, 2, "reproduced")


def test_a_pair_that_lacks_a_cell_of_the_grid_is_left_out():
    """The run of seed 1 with the smaller S failed: its mean over S would be another's."""
    rows = []
    for name, S, seed in product(("adaptive", "fixed"), (32, 64), (1, 2, 3)):
        rows.append(run(variant=name, seed=seed, S=S))
    rows[0] |= {"status": "timeout", "reason": "late"}
    line = evidence_of(claim(), as_table(rows))
    assert (line.n, line.verdict) == (2, "inconclusive")


def test_layers_are_read_without_runs():
    rows = []
    for n in (4, 512, 1024):
        squared = n**2 / 1e4
        linear = n / 10
        rows.append(layer("self", n, squared, d=8, turns=[squared, squared]))
        rows.append(layer("rnn", n, linear, d=8, turns=[linear, linear]))
    quadratic = load_claim("attention_grows_with_n_squared")
    growth = evidence_of(quadratic, None, layers(*rows))
    assert growth.effect == pytest.approx(2.0)
    faster = load_claim("attention_is_faster_than_recurrence")
    # at n = 4 alone, the one below d
    assert evidence_of(faster, None, layers(*rows)).ours == 16 / 1e4
    narrow = evidence_of(faster, None, layers(*rows).assign(d=2))
    assert (narrow.effect, narrow.verdict) == (None, "not tested")
    assert evidence_of(faster, both()).why == NOT_ASKED
