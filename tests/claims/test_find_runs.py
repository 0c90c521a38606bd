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


def test_pairs_share_a_seed():
    frames = Frames(both(than=(2.3, 2.4)), None)
    ours = read_sample(claim(), claim().ours, frames)
    than = read_sample(claim(), claim().than, frames)
    pairs = pair_up(claim(), ours, than)
    assert [pair.effect for pair in pairs] == pytest.approx([-0.3, -0.3])
    assert [(pair.turn, pair.ours) for pair in pairs] == [(0, 2.0), (1, 2.1)]
    runs = RunsOfPair(("span_limit-adaptive-64-None-0",), ("span_limit-fixed-64-None-0",))
    assert pairs[0].runs == runs


def test_a_slope_is_the_power_of_s():
    """macs = S^2 on one side, 5 S^0.5 on the other."""
    rows = []
    for S, seed in product((16, 32, 128), (1, 2)):
        rows.append(run(variant="adaptive", seed=seed, S=S, macs_executed=5 * S**0.5))
        rows.append(run(variant="fixed", seed=seed, S=S, macs_executed=S**2))
    line = evidence_of(claim(measure="macs_executed", by="slope"), as_table(rows))
    assert (line.effect, line.ours, line.than) == pytest.approx((-1.5, 0.5, 2.0))


@pytest.mark.parametrize(
    "place, bpc", [("max", 2.0), ("min", 2.5), ("upper", 2.125), ([32, 64], 2.25), (48, 2.25)]
)
def test_a_place_is_of_what_was_run(place, bpc):
    """S of 32, 48, 64, whose bpc is 3 - S / 64; the middle one belongs to the upper half."""
    rows = []
    for S, seed in product((32, 48, 64), (1, 2)):
        rows.append(run(variant="adaptive", seed=seed, S=S, dev_bpc=3 - S / 64))
    side = claim(ours={"variant": "adaptive", "S": place}).ours
    sample = read_sample(claim(), side, Frames(as_table(rows), None))
    assert [*sample.values.values()] == pytest.approx([bpc, bpc])


def test_a_common_limit_is_the_largest_that_both_sides_have():
    rows = [failed(variant="fixed", S=128)]
    for S, seed in product((32, 64, 128), (1, 2)):
        rows.append(run(variant="adaptive", seed=seed, S=S, dev_bpc=2 - S / 64))
    for S, seed in product((32, 64), (1, 2)):
        rows.append(run(variant="fixed", seed=seed, S=S, dev_bpc=2.5 - S / 64))
    ours = {"variant": "adaptive", "S": "common"}
    than = {"variant": "fixed", "S": "common"}
    line = evidence_of(claim(ours=ours, than=than), as_table(rows))
    assert line.ours == 1.0
    assert line.than == 1.5
    assert line.n == 2


def test_timings_are_paired_by_round():
    """A machine that halves its speed between two rounds halves it for both."""
    quick = {"train_tokens_per_s": 1000.0, "train_ms": 1.0, "train_turns": [1.0, 2.0]}
    slow = {"train_tokens_per_s": 500.0, "train_ms": 2.0, "train_turns": [2.0, 4.0]}
    rows = []
    for seed in (1, 2):
        rows.append(run(variant="adaptive", seed=seed, **quick))
        rows.append(run(variant="fixed", seed=seed, **slow))
    asserted = claim(measure="train_tokens_per_s", by="ratio", expect="more")
    line = evidence_of(asserted, as_table(rows))
    assert line.effect == 2.0
    assert line.n == 2
    assert line.verdict == "reproduced"


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
        rows.append(layer("self", n, squared, d=8, turns=[squared, squared]))
        rows.append(layer("rnn", n, n / 10, d=8, turns=[n / 10, n / 11]))
    quadratic = load_claim("attention_grows_with_n_squared")
    growth = evidence_of(quadratic, None, layers(*rows))
    faster = load_claim("attention_is_faster_than_recurrence")
    speed = evidence_of(faster, None, layers(*rows))
    # at n = 4 alone, the one below d
    assert growth.effect == pytest.approx(2.0)
    assert speed.ours == 16 / 1e4
    narrow = evidence_of(faster, None, layers(*rows).assign(d=2))
    assert narrow.effect is None
    assert narrow.verdict == "not tested"
    assert evidence_of(faster, both()).why == NOT_ASKED
