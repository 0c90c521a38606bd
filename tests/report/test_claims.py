"""What a claim asks of the runs: which are paired, at which places, and what is refused."""

from itertools import product

import pytest

from tests._claims import as_table, both, claim, evidence_of
from tests._runs import failed, run
from workflow.claims.samples import pair_up, read_sample
from workflow.config.errors import ConfigError
from workflow.results.runs_table import Frames


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"within": 0.1}, "expect: equal needs within"),
        ({"expect": None}, "'expect' is missing"),
        ({"recomputed": ["as.txt.flops_cut"]}, "keys that read records, got expect"),
        ({"bound": float("nan")}, "bound = nan: Input should be a finite number"),
        ({"by": "ratio", "bound": 0}, "bound of a ratio must be more than 0, got 0"),
        ({"measure": "test_bleu"}, "unknown measure of span_limit 'test_bleu'"),
        (
            {"ours": {"variant": "adaptive", "measure": "macs_executed"}},
            "measures of two kinds cannot be compared",
        ),
        ({"ours": {"variant": "adaptive", "S": "below d"}}, "S = below d: only for layers"),
        ({"best_of": 3}, "best_of is for one printed score"),
        (
            {"finding": {"seen": "It is {size:.2f} better."}},
            "'size': it is written with its digits; expected {size} alone",
        ),
        (
            {"finding": {"seen": "It is {sise} better."}},
            "figure of a sentence 'sise': did you mean 'size'",
        ),
    ],
)
def test_a_claim_that_asserts_nothing_is_refused(changes, message):
    with pytest.raises(ConfigError, match="^c: ") as error:
        claim(**changes)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_evidence_says_in_which_models_and_where_it_was_measured():
    told = evidence_of(claim(), both(steps=1000))["setting"]
    assert told == {"width": "16", "updates": "1,000", "device": "a device"}


def test_pairs_share_a_seed():
    runs = both(than=(2.3, 2.4))
    ours, than = (
        read_sample(claim(), side, Frames(runs, None)) for side in (claim().ours, claim().than)
    )
    for by, effects in (("difference", [-0.3, -0.3]), ("ratio", [2.0 / 2.3, 2.1 / 2.4])):
        pairs = pair_up(claim(by=by), ours, than)
        assert [pair["effect"] for pair in pairs] == pytest.approx(effects)
    assert [pair["turn"] for pair in pairs] == [0, 1] and [pair["ours"] for pair in pairs] == [
        2.0,
        2.1,
    ]
    assert pairs[0]["runs"] == {
        "ours": ["span_limit-adaptive-64-None-0"],
        "than": ["span_limit-fixed-64-None-0"],
    }


def test_a_slope_is_the_power_of_s():
    """macs = S^2 on one side, 5 S^0.5 on the other."""
    counts = {"adaptive": lambda S: 5 * S**0.5, "fixed": lambda S: S**2}
    places = product(counts, (16, 32, 128), (1, 2))
    rows = [
        run(variant=name, seed=seed, S=S, macs_executed=counts[name](S)) for name, S, seed in places
    ]
    line = evidence_of(claim(measure="macs_executed", by="slope"), as_table(rows))
    assert (line["effect"], line["ours"], line["than"]) == pytest.approx((-1.5, 0.5, 2.0))


@pytest.mark.parametrize(
    "place, bpc", [("max", 2.0), ("min", 2.5), ("upper", 2.125), ([32, 64], 2.25), (48, 2.25)]
)
def test_a_place_is_of_what_was_run(place, bpc):
    """S of 32, 48, 64, whose bpc is 3 - S / 64; of an odd number the middle one belongs to the
    upper half.
    """
    rows = [
        run(variant="adaptive", seed=seed, S=S, dev_bpc=3 - S / 64)
        for S in (32, 48, 64)
        for seed in (1, 2)
    ]
    side = claim(ours={"variant": "adaptive", "S": place}).ours
    sample = read_sample(claim(), side, Frames(as_table(rows), None))
    assert [*sample.values.values()] == pytest.approx([bpc, bpc])


def test_timings_are_paired_by_turn():
    """A machine that halves its speed between two turns halves it for both: twice as fast in
    each.
    """
    timed = {"adaptive": (1000.0, [1.0, 2.0]), "fixed": (500.0, [2.0, 4.0])}
    rows = [
        run(variant=name, seed=seed, train_tokens_per_s=speed, train_ms=turns[0], train_turns=turns)
        for name, (speed, turns) in timed.items()
        for seed in (1, 2)
    ]
    line = evidence_of(
        claim(measure="train_tokens_per_s", by="ratio", expect="more"), as_table(rows)
    )
    assert (line["effect"], line["n"], line["verdict"]) == (2.0, 2, "reproduced")


def test_a_common_limit_is_the_largest_that_both_sides_have():
    rows = [
        run(variant="adaptive", seed=seed, S=S, dev_bpc=2 - S / 64)
        for S in (32, 64, 128)
        for seed in (1, 2)
    ]
    rows += [
        run(variant="fixed", seed=seed, S=S, dev_bpc=2.5 - S / 64)
        for S in (32, 64)
        for seed in (1, 2)
    ]
    rows += [failed(variant="fixed", S=128)]
    sides = {
        side: {"variant": name, "S": "common"}
        for side, name in (("ours", "adaptive"), ("than", "fixed"))
    }
    line = evidence_of(claim(**sides), as_table(rows))
    assert (line["ours"], line["than"], line["n"]) == (1.0, 1.5, 2)


def test_a_pair_that_lacks_a_cell_of_the_grid_is_left_out():
    """The run of seed 1 with the smaller S broke: its mean over S would be another's."""
    places = product(("adaptive", "fixed"), (32, 64), (1, 2, 3))
    rows = [run(variant=name, seed=seed, S=S) for name, S, seed in places]
    rows[0] |= {"status": "timeout", "reason": "late"}
    line = evidence_of(claim(), as_table(rows))
    assert (line["n"], line["verdict"]) == (2, "inconclusive")


def test_what_nobody_measured_is_not_tested_and_what_failed_is_inconclusive():
    rows = [
        run(variant=name, seed=seed, mean_span=None)
        for name in ("adaptive", "fixed")
        for seed in (1, 2, 3)
    ]
    never = evidence_of(claim(measure="mean_span", expect="less"), as_table(rows))
    assert never["verdict"] == "not tested" and not never["pairs"]
    broken = [row for row in rows if row["variant"] == "adaptive"]
    broken += [failed(variant="fixed", seed=seed) for seed in (1, 2, 3)]
    assert evidence_of(claim(), as_table(broken))["verdict"] == "inconclusive"
