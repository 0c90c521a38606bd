"""The ledger: what a claim asks of the runs, and the verdict that follows."""

from itertools import product

import pandas as pd
import pytest

from tests._costs import split_costs
from tests._layers import layer, layers
from tests._runs import failed, run
from workflow.config.errors import ConfigError
from workflow.config.strict import parse
from workflow.report.claims.evidence import collect_evidence
from workflow.report.claims.ledger import judge
from workflow.report.claims.samples import pair_up, read_sample
from workflow.report.claims.schema import Claim, is_as_claimed, load_claim
from workflow.results.runs_table import Frames, as_frame

CLAIM = {"claim": "It is so.", "paper": "adaptive_span", "where": "section 3", "ablation": "span_limit"}
CLAIM |= {"measure": "dev_bpc", "ours": {"variant": "adaptive"}, "than": {"variant": "fixed"}, "expect": "less"}


def claim(**changes) -> Claim:
    return parse(Claim, CLAIM | changes, "c")


def both(ours=(2.0, 2.1, 2.05), than=(2.3, 2.4, 2.33), **changes):
    rows = [run(variant="adaptive", seed=seed, dev_bpc=value) for seed, value in enumerate(ours)]
    rows += [run(variant="fixed", seed=seed, dev_bpc=value) for seed, value in enumerate(than)]
    return as_table([row | changes for row in rows])


FIXED, LONGEST = {"variant": "fixed"}, {"measure": "longest_S", "by": "ratio"}


def as_table(rows: list[dict]) -> pd.DataFrame:
    return as_frame(*split_costs(rows))


def evidence_of(asserted: Claim, runs: pd.DataFrame | None, apart: pd.DataFrame | None = None) -> dict:
    return collect_evidence("a", asserted, Frames(runs, apart))


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"within": 0.1}, "expect: equal needs within"),
        ({"expect": None}, "'expect' is missing"),
        ({"recomputed": ["as.txt.flops_cut"]}, "keys that read records, got ablation"),
        ({"bound": float("nan")}, "bound = nan: Input should be a finite number"),
        ({"by": "ratio", "bound": 0}, "bound of a ratio must be more than 0, got 0"),
        ({"measure": "test_bleu"}, "unknown measure of span_limit 'test_bleu'"),
        ({"ours": {"variant": "adaptive", "measure": "macs_executed"}}, "measures of two kinds cannot be compared"),
        ({"ours": {"variant": "adaptive", "S": "below d"}}, "S = below d: only for layers"),
        ({"best_of": 3}, "best_of is for one printed score"),
        (
            {"finding": {"seen": "It is {size:.2f} better."}},
            "'size': it is written with its digits; expected {size} alone",
        ),
        ({"finding": {"seen": "It is {sise} better."}}, "figure of a sentence 'sise': did you mean 'size'"),
    ],
)
def test_a_claim_that_asserts_nothing_is_refused(changes, message):
    with pytest.raises(ConfigError, match="^c: ") as error:
        claim(**changes)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_pairs_share_a_seed():
    runs = both(than=(2.3, 2.4))
    ours, than = (read_sample(claim(), side, Frames(runs, None)) for side in (claim().ours, claim().than))
    for by, effects in (("difference", [-0.3, -0.3]), ("ratio", [2.0 / 2.3, 2.1 / 2.4])):
        pairs = pair_up(claim(by=by), ours, than)
        assert [pair["effect"] for pair in pairs] == pytest.approx(effects)
    assert [pair["turn"] for pair in pairs] == [0, 1] and [pair["ours"] for pair in pairs] == [2.0, 2.1]
    assert pairs[0]["runs"] == {"ours": ["span_limit-adaptive-64-None-0"], "than": ["span_limit-fixed-64-None-0"]}


def test_a_slope_is_the_power_of_s():
    """macs = S^2 on one side, 5 S^0.5 on the other."""
    counts = {"adaptive": lambda S: 5 * S**0.5, "fixed": lambda S: S**2}
    places = product(counts, (16, 32, 128), (1, 2))
    rows = [run(variant=name, seed=seed, S=S, macs_executed=counts[name](S)) for name, S, seed in places]
    line = evidence_of(claim(measure="macs_executed", by="slope"), as_table(rows))
    assert (line["effect"], line["ours"], line["than"]) == pytest.approx((-1.5, 0.5, 2.0))


@pytest.mark.parametrize("place, bpc", [("max", 2.0), ("min", 2.5), ("upper", 2.125), ([32, 64], 2.25), (48, 2.25)])
def test_a_place_is_of_what_was_run(place, bpc):
    """S of 32, 48, 64, whose bpc is 3 - S / 64; of an odd number the middle one belongs to the upper half."""
    rows = [run(variant="adaptive", seed=seed, S=S, dev_bpc=3 - S / 64) for S in (32, 48, 64) for seed in (1, 2)]
    side = claim(ours={"variant": "adaptive", "S": place}).ours
    sample = read_sample(claim(), side, Frames(as_table(rows), None))
    assert [*sample.values.values()] == pytest.approx([bpc, bpc])


def test_timings_are_paired_by_turn():
    """A machine that halves its speed between two turns halves it for both: twice as fast in each."""
    timed = {"adaptive": (1000.0, [1.0, 2.0]), "fixed": (500.0, [2.0, 4.0])}
    rows = [
        run(variant=name, seed=seed, train_tokens_per_s=speed, train_ms=turns[0], train_turns=turns)
        for name, (speed, turns) in timed.items()
        for seed in (1, 2)
    ]
    line = evidence_of(claim(measure="train_tokens_per_s", by="ratio", expect="more"), as_table(rows))
    assert (line["effect"], line["n"], line["verdict"]) == (2.0, 2, "reproduced")
    assert line["why"] == "counted or measured once"


@pytest.mark.parametrize("share, verdict", [(0.9, "cannot tell"), (0.7, "reproduced"), (1.3, "not reproduced")])
def test_memory_tells_nothing_within_what_two_processes_with_one_net_differ_by(share, verdict):
    rows = [run(variant=name, memory_train_bytes=size) for name, size in (("adaptive", share), ("fixed", 1.0))]
    assert evidence_of(claim(measure="memory_train_bytes", by="ratio"), as_table(rows))["verdict"] == verdict


def judge_alone(asserted: Claim, runs: pd.DataFrame) -> dict:
    """The line of a claim that is the only one."""
    line = evidence_of(asserted, runs)
    return line if line["verdict"] else line | judge(line | {"holm": line["p"]}, asserted)


@pytest.mark.parametrize(
    "counts, n, verdict", [((5.0,), 1, "reproduced"), ((5.0, 6.0), 2, "reproduced"), ((5.0, 12.0), 2, "cannot tell")]
)
def test_counts_have_no_seeds_and_on_two_texts_are_no_sample(counts, n, verdict):
    """They differ because the spans do, which is no chance: all texts, or none, are as claimed."""
    rows = [
        both().assign(memory_train_bytes=[ours] * 3 + [10.0] * 3, corpus=text, paper_corpus=text, digest=text)
        for text, ours in zip(("a", "b"), counts, strict=False)
    ]
    rows = [each.assign(configuration=each["configuration"] + each["corpus"]) for each in rows]
    line = evidence_of(claim(measure="memory_train_bytes", by="ratio"), pd.concat(rows))
    assert (line["n"], line["verdict"], line["p"]) == (n, verdict, None)


def test_what_follows_from_spans_that_have_not_grown_comes_too_early():
    counted = both().assign(memory_train_bytes=[5.0, 5, 5, 10, 10, 10], mean_span=9.0, start_span=8.0)
    scores = both(ours=(2.0, 2.01, 2.02), than=(2.3, 2.31, 2.33)).assign(mean_span=9.0, start_span=8.0)
    dynamic = scores.assign(span="dynamic", mean_span=10.3, start_span=10.2)
    for asserted, rows in ((claim(measure="memory_train_bytes"), counted), (claim(), scores), (claim(), dynamic)):
        line = evidence_of(asserted, rows)
        assert (line["verdict"], line["p"]) == ("too early", None) and "hardly moved from their start" in line["why"]
    short = scores.assign(S=8)  # a span that begins at its limit has nowhere to go
    assert judge_alone(claim(), short)["verdict"] == "reproduced"


@pytest.mark.parametrize(
    "rows, changes, verdict, why",
    [
        (both(ours=(2.0,), than=(2.5,)), {}, "cannot tell", "1 seed on a text: an interval takes 3"),
        (both(ours=(2.0, 2.1), than=(2.3, 2.41)), {}, "cannot tell", "2 seeds on a text: an interval takes 3"),
        (
            both(status="oom"),
            {},
            "cannot tell",
            "nothing measured of adaptive span and fixed span, whose runs failed (oom)",
        ),
        (both(ours=(2.0, 2.1), than=(2.0, 2.1)), {}, "cannot tell", "the same in every run"),
        (both().assign(longest_S=[0.0, 0, 0, 8, 8, 8]), LONGEST, "cannot tell", "a ratio needs values above 0"),
        (both(), {"scale": "paper"}, "not tested", "of scale paper"),
        (both(ablation="top_k"), {}, "not tested", "its question was not run"),
        (both(ours=()), {}, "not tested", "adaptive span was not run"),
        (both(), {"than": {"variant": "adaptive"}}, "not tested", "both sides are the same"),
        (both(), {"ours": {"variant": "fixed"}}, "not tested", "the same at this scale"),
        (both(), {"ours": FIXED | {"S": "max"}, "than": FIXED | {"S": [64]}}, "not tested", "the same at this scale"),
    ],
)
def test_what_cannot_be_told_or_is_not_tested_here(rows, changes, verdict, why):
    line = evidence_of(claim(**changes), rows)
    assert line["verdict"] == verdict and why in line["why"] and line["p"] is None


def test_the_effect_on_each_text_stands_beside_that_on_both():
    other = both(than=(2.2, 2.3, 2.23), paper_corpus="enwik8", corpus="sources")
    rows = pd.concat([both(), other.assign(digest="e" + other["digest"])])
    line = evidence_of(claim(), rows)
    assert line["n"] == 6 and line["effect"] == pytest.approx(-0.24333, abs=1e-4)
    by_text = {"Python sources, not enwik8": -0.19333, "Python sources in 27 letters, not text8": -0.29333}
    assert line["by_text"] == pytest.approx(by_text, abs=1e-4)
    assert evidence_of(claim(), both())["by_text"] is None
    same = pd.concat([both(), both(paper_corpus="enwik8")])  # one text that stands in for two
    assert evidence_of(claim(), same)["n"] == 3


LESS, EQUAL = {}, {"expect": "equal", "within": 0.1}


@pytest.mark.parametrize(
    "changes, effect, low, high, p, holm, verdict",
    [
        (LESS, -0.3, -0.4, -0.2, 0.001, 0.04, "reproduced"),
        (LESS, -0.3, -0.4, -0.2, 0.01, 0.4, "consistent"),
        (LESS, -0.1, -0.4, 0.2, 0.5, 1.0, "cannot tell"),
        (LESS, 0.1, -0.2, 0.4, 0.5, 1.0, "cannot tell"),
        (LESS, 0.3, 0.2, 0.4, 0.01, 0.4, "not reproduced"),
        (LESS, 0.3, 0.02, 0.58, 0.0506, 1.0, "cannot tell"),
        (EQUAL, 0.0, -0.02, 0.02, 0.001, 0.04, "reproduced"),
        (EQUAL, 0.0, -0.05, 0.05, 0.01, 0.3, "consistent"),
        (EQUAL, 0.0, -0.5, 0.5, 0.5, 1.0, "cannot tell"),
        (EQUAL, 0.3, 0.2, 0.4, 0.9, 1.0, "not reproduced"),
        (EQUAL, 0.09, -0.3, 0.48, 0.5, 1.0, "cannot tell"),
    ],
)
def test_verdicts(changes, effect, low, high, p, holm, verdict):
    evidence = {"effect": effect, "low": low, "high": high, "p": p, "holm": holm, "late_gain": None}
    evidence |= {"p_none": None}
    assert judge(evidence, claim(**changes))["verdict"] == verdict


def test_an_effect_is_equivalent_to_none_where_it_cannot_be_more_than_the_claim_calls_negligible():
    """Nine pairs .001 apart around +.002 bpc: not what was claimed, and certainly less than .01."""
    near = [2.002 + 0.001 * off for off in (-1, 0, 1)]
    line = evidence_of(claim(negligible=0.01), both(near, (2.0, 2.0005, 2.0)))
    assert line["p_none"] <= 0.05 and judge(line | {"holm": 1.0}, claim(negligible=0.01))["verdict"] == "equivalent"
    far = evidence_of(claim(negligible=0.01), both(near, (2.0, 2.1, 1.9)))
    assert far["p_none"] > 0.05 and judge(far | {"holm": 1.0}, claim(negligible=0.01))["verdict"] == "cannot tell"
    with pytest.raises(ConfigError, match="negligible is for a difference"):
        claim(by="ratio", negligible=0.1)


def test_one_score_or_the_best_of_three_is_held_against_a_printed_one_and_is_at_most_consistent():
    printed = {"than": None, "expect": "equal", "bound": 2.0, "within": 0.05}
    for bpc, verdict in ((2.04, "consistent"), (2.1, "not reproduced")):
        assert evidence_of(claim(**printed), both(ours=(bpc,)))["verdict"] == verdict
    line = evidence_of(claim(**printed, best_of=3), both(ours=(2.3, 2.04, 2.5, 1.0)))
    assert (line["effect"], line["verdict"]) == (2.04, "consistent") and "best of 3 seeds" in line["why"]
    few = evidence_of(claim(**printed, best_of=3), both(ours=(2.0, 2.0)))
    assert "the best of 3 runs, here are 2" in few["why"]


def test_a_common_limit_is_the_largest_that_both_sides_have():
    rows = [run(variant="adaptive", seed=seed, S=S, dev_bpc=2 - S / 64) for S in (32, 64, 128) for seed in (1, 2)]
    rows += [run(variant="fixed", seed=seed, S=S, dev_bpc=2.5 - S / 64) for S in (32, 64) for seed in (1, 2)]
    rows += [failed(variant="fixed", S=128)]
    sides = {side: {"variant": name, "S": "common"} for side, name in (("ours", "adaptive"), ("than", "fixed"))}
    line = evidence_of(claim(**sides), as_table(rows))
    assert (line["ours"], line["than"], line["n"]) == (1.0, 1.5, 2)


def test_what_contradicts_a_claim_while_runs_still_learn_comes_too_early():
    against = both(ours=(2.3, 2.31, 2.33), than=(2.0, 2.01, 2.02))
    assert judge_alone(claim(), against)["verdict"] == "not reproduced"
    line = judge_alone(claim(), against.assign(late_gain=[0, 0, 0.05, 0, 0, 0]))
    assert line["verdict"] == "too early" and "still brought 0.05 bits" in line["why"]
    assert judge_alone(claim(), both())["verdict"] == "reproduced"
    line = judge_alone(claim(), both().assign(late_gain=1.0))  # and what agrees is no more than consistent
    assert (line["verdict"], line["why"]) == (
        "consistent",
        "as claimed, but the last quarter of training still brought 1 bits",
    )
    costs = against.assign(late_gain=1.0, macs_executed=against["dev_bpc"])
    assert judge_alone(claim(measure="macs_executed"), costs)["verdict"] == "not reproduced"


def test_an_interval_on_the_claimed_side_is_not_said_to_hold_both():
    """-.10, -.13, -.07: -.1 give or take .075, p = .029, for three looks .076."""
    line = judge_alone(claim(), both(ours=(1.90, 1.87, 1.93), than=(2.0, 2.0, 2.0)))
    assert line["high"] < 0 and line["p"] > 0.05 and line["verdict"] == "cannot tell"
    assert line["why"].startswith("as claimed by the interval alone")
    line = judge_alone(claim(), both(ours=(1.90, 1.80, 2.02), than=(2.0, 2.0, 2.0)))
    assert line["low"] < 0 < line["high"] and "holds both" in line["why"]


def test_a_ratio_is_weighed_in_logarithms():
    asserted = claim(by="ratio", bound=2, expect="more")
    line = evidence_of(asserted, both(ours=(4.0, 8.0, 2.0), than=(1.0, 1.0, 1.0)).assign(mean_span=40.0))
    assert line["effect"] == pytest.approx(4) and line["low"] * line["high"] == pytest.approx(16)
    assert is_as_claimed(asserted, 2.1) and not is_as_claimed(asserted, 1.9)
    near = claim(by="ratio", bound=0.98, expect="equal", within=0.05)
    assert is_as_claimed(near, 0.98 * 1.049) and is_as_claimed(near, 0.98 / 1.049)  # as much up as down
    assert not is_as_claimed(near, 0.98 * 1.051) and not is_as_claimed(near, 0.98 / 1.051)


def test_a_pair_that_lacks_a_cell_of_the_grid_is_left_out():
    """The run of seed 1 with the smaller S broke: its mean over S would be another's."""
    places = product(("adaptive", "fixed"), (32, 64), (1, 2, 3))
    rows = [run(variant=name, seed=seed, S=S) for name, S, seed in places]
    rows[0] |= {"status": "timeout", "reason": "late"}
    line = evidence_of(claim(), as_table(rows))
    assert (line["n"], line["verdict"]) == (2, "cannot tell")


def test_formulas_are_held_against_the_printed_digits():
    line = evidence_of(load_claim("feed_forward_share"), both())
    assert (line["verdict"], line["published"]) == ("reproduced", ["as.txt.ff_share_256"])
    formula = {key: CLAIM[key] for key in ("claim", "paper", "where")}
    wrong = parse(Claim, formula | {"recomputed": ["as.t1.t12.flops", "as.t1.t64.flops"]}, "c")
    line = evidence_of(wrong, both())
    assert line["verdict"] == "not reproduced" and line["why"].startswith("1 of 2: T12")  # the paper truncates


def test_layers_are_read_without_runs():
    times = {"self": lambda n: [n**2 / 1e4, n**2 / 1e4], "rnn": lambda n: [n / 10, n / 11]}
    rows = [layer(name, n, time(n)[0], d=8, turns=time(n)) for name, time in times.items() for n in (4, 512, 1024)]
    names = ("attention_grows_with_n_squared", "attention_is_faster_than_recurrence")
    growth, speed = (evidence_of(load_claim(name), None, layers(*rows)) for name in names)
    assert growth["effect"] == pytest.approx(2.0) and speed["ours"] == 16 / 1e4  # at n = 4 alone, the one below d
    narrow = evidence_of(load_claim(names[1]), None, layers(*(row | {"d": 2} for row in rows)))
    assert (narrow["verdict"], narrow["why"]) == ("cannot tell", "nothing measured of Self-Attention and Recurrent")
    assert evidence_of(load_claim(names[1]), both())["why"] == "its question was not run"
