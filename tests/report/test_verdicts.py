"""The verdict that follows from the evidence for a claim."""

import pandas as pd
import pytest

from tests._claims import CLAIM, FIXED, LONGEST, as_table, both, claim, evidence_of, judge_alone
from tests._layers import layer, layers
from tests._runs import run
from workflow.claims.ledger import judge
from workflow.claims.samples import NOT_ASKED
from workflow.claims.schema import Claim, is_as_claimed, load_claim
from workflow.config.errors import ConfigError
from workflow.config.strict import parse


@pytest.mark.parametrize(
    "counts, n, verdict",
    [((5.0,), 1, "reproduced"), ((5.0, 6.0), 2, "reproduced"), ((5.0, 12.0), 2, "inconclusive")],
)
def test_counts_have_no_seeds_and_on_two_texts_are_no_sample(counts, n, verdict):
    """They differ because the spans do, which is no chance: all texts, or none, are as claimed."""
    rows = [
        both().assign(
            memory_train_bytes=[ours] * 3 + [10.0] * 3, corpus=text, paper_corpus=text, digest=text
        )
        for text, ours in zip(("a", "b"), counts, strict=False)
    ]
    rows = [each.assign(configuration=each["configuration"] + each["corpus"]) for each in rows]
    line = evidence_of(claim(measure="memory_train_bytes", by="ratio"), pd.concat(rows))
    assert (line["n"], line["verdict"], line["p"]) == (n, verdict, None)


@pytest.mark.parametrize(
    "share, verdict", [(0.9, "inconclusive"), (0.7, "reproduced"), (1.3, "not reproduced")]
)
def test_memory_tells_nothing_within_what_two_processes_with_one_net_differ_by(share, verdict):
    rows = [
        run(variant=name, memory_train_bytes=size)
        for name, size in (("adaptive", share), ("fixed", 1.0))
    ]
    assert (
        evidence_of(claim(measure="memory_train_bytes", by="ratio"), as_table(rows))["verdict"]
        == verdict
    )


def test_what_follows_from_spans_that_have_not_grown_is_not_converged():
    counted = both().assign(
        memory_train_bytes=[5.0, 5, 5, 10, 10, 10], mean_span=9.0, start_span=8.0
    )
    scores = both(ours=(2.0, 2.01, 2.02), than=(2.3, 2.31, 2.33)).assign(
        mean_span=9.0, start_span=8.0
    )
    dynamic = scores.assign(span="dynamic", mean_span=10.3, start_span=10.2)
    for asserted, rows in (
        (claim(measure="memory_train_bytes"), counted),
        (claim(), scores),
        (claim(), dynamic),
    ):
        line = evidence_of(asserted, rows)
        assert (line["verdict"], line["p"]) == ("not converged", None) and "at S = 64" in line[
            "why"
        ]
    elsewhere = scores.assign(corpus="words", digest="w" + scores["digest"], mean_span=40.0)
    line = evidence_of(
        claim(), pd.concat([scores.assign(corpus="sources"), elsewhere], ignore_index=True)
    )
    assert (line["n"], line["verdict"], line["p"]) == (
        6,
        "not converged",
        None,
    )  # what grew on one text vouches for no other
    assert line["why"].endswith("on Python sources at S = 64")
    longer = scores.assign(
        S=128, mean_span=90.0, digest="l" + scores["digest"], configuration="l" + scores["variant"]
    )
    line = evidence_of(claim(by="slope"), pd.concat([scores, longer], ignore_index=True))
    # nor at one S for another
    assert line["verdict"] == "not converged" and line["why"].endswith("at S = 64")
    short = scores.assign(S=8)  # a span that begins at its limit has nowhere to go
    assert judge_alone(claim(), short)["verdict"] == "reproduced"


@pytest.mark.parametrize(
    "rows, changes, verdict, why",
    [
        (both(ours=(2.0,), than=(2.5,)), {}, "inconclusive", "1 seed per corpus"),
        (both(ours=(2.0, 2.1), than=(2.3, 2.41)), {}, "inconclusive", "2 seeds per corpus"),
        (
            both(status="oom"),
            {},
            "inconclusive",
            "adaptive span and fixed span (runs failed: oom)",
        ),
        (both(ours=(2.0, 2.1), than=(2.0, 2.1)), {}, "inconclusive", "in every run"),
        (both().assign(longest_S=[0.0, 0, 0, 8, 8, 8]), LONGEST, "inconclusive", "a ratio needs"),
        (both(), {"scale": "paper"}, "not tested", "of scale paper"),
        (both(question="top_k"), {}, "not tested", NOT_ASKED),
        (both(ours=()), {}, "not tested", "adaptive span was not run"),
        (both(), {"than": {"variant": "adaptive"}}, "not tested", "both sides are the same"),
        (both(), {"ours": {"variant": "fixed"}}, "not tested", "the same run at this scale"),
        (
            both(),
            {"ours": FIXED | {"S": "max"}, "than": FIXED | {"S": [64]}},
            "not tested",
            "the same run at this scale",
        ),
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
    by_text = {
        "Python sources, not enwik8": -0.19333,
        "Python sources in 27 letters, not text8": -0.29333,
    }
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
        (LESS, -0.1, -0.4, 0.2, 0.5, 1.0, "inconclusive"),
        (LESS, 0.1, -0.2, 0.4, 0.5, 1.0, "inconclusive"),
        (LESS, 0.3, 0.2, 0.4, 0.01, 0.4, "not reproduced"),
        (LESS, 0.3, 0.02, 0.58, 0.0506, 1.0, "inconclusive"),
        (EQUAL, 0.0, -0.02, 0.02, 0.001, 0.04, "reproduced"),
        (EQUAL, 0.0, -0.05, 0.05, 0.01, 0.3, "consistent"),
        (EQUAL, 0.0, -0.5, 0.5, 0.5, 1.0, "inconclusive"),
        (EQUAL, 0.3, 0.2, 0.4, 0.9, 1.0, "not reproduced"),
        (EQUAL, 0.09, -0.3, 0.48, 0.5, 1.0, "inconclusive"),
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
    assert (
        line["p_none"] <= 0.05
        and judge(line | {"holm": 1.0}, claim(negligible=0.01))["verdict"] == "equivalent"
    )
    far = evidence_of(claim(negligible=0.01), both(near, (2.0, 2.1, 1.9)))
    assert (
        far["p_none"] > 0.05
        and judge(far | {"holm": 1.0}, claim(negligible=0.01))["verdict"] == "inconclusive"
    )
    with pytest.raises(ConfigError, match="negligible is for a difference"):
        claim(by="ratio", negligible=0.1)


def test_one_score_or_the_best_of_three_is_held_against_a_printed_one_and_is_at_most_consistent():
    printed = {"than": None, "expect": "equal", "bound": 2.0, "within": 0.05}
    for bpc, verdict in ((2.04, "consistent"), (2.1, "not reproduced")):
        assert evidence_of(claim(**printed), both(ours=(bpc,)))["verdict"] == verdict
    line = evidence_of(claim(**printed, best_of=3), both(ours=(2.3, 2.04, 2.5, 1.0)))
    assert (line["effect"], line["verdict"]) == (2.04, "consistent") and "best of 3 seeds" in line[
        "why"
    ]
    few = evidence_of(claim(**printed, best_of=3), both(ours=(2.0, 2.0)))
    assert "best of 3 runs" in few["why"] and "2 available" in few["why"]


def test_what_contradicts_a_claim_while_runs_still_learn_is_not_converged():
    against = both(ours=(2.3, 2.31, 2.33), than=(2.0, 2.01, 2.02))
    assert judge_alone(claim(), against)["verdict"] == "not reproduced"
    line = judge_alone(claim(), against.assign(late_gain=[0, 0, 0.05, 0, 0, 0]))
    assert line["verdict"] == "not converged" and "0.05 bits" in line["why"]
    assert judge_alone(claim(), both())["verdict"] == "reproduced"
    # and what agrees is no more than consistent
    line = judge_alone(claim(), both().assign(late_gain=1.0))
    assert line["verdict"] == "consistent" and "by 1 bits" in line["why"]


def test_more_training_changes_what_follows_from_learned_spans_and_no_other_cost():
    late = both().assign(
        late_gain=[0.05, 0, 0, 0, 0, 0],
        macs_executed=both()["dev_bpc"],
        mean_span=both()["dev_bpc"],
    )
    for measure in ("macs_executed", "mean_span"):
        line = judge_alone(claim(measure=measure), late)
        assert (line["late_gain"], line["verdict"]) == (0.05, "consistent")
        assert (
            judge_alone(claim(measure=measure, expect="more"), late)["verdict"] == "not converged"
        )
        line = judge_alone(claim(measure=measure), late.assign(span="fixed"))
        assert (line["late_gain"], line["verdict"]) == (None, "reproduced")
    # a fixed span costs the same however long it trains
    baseline = late.assign(late_gain=[0, 0, 0, 0.05, 0, 0])
    assert judge_alone(claim(measure="macs_executed"), baseline)["verdict"] == "reproduced"


def test_an_interval_on_the_claimed_side_is_not_said_to_hold_both():
    """-.10, -.13, -.07: -.1 give or take .075, p = .029, for three looks .076."""
    line = judge_alone(claim(), both(ours=(1.90, 1.87, 1.93), than=(2.0, 2.0, 2.0)))
    assert line["high"] < 0 and line["p"] > 0.05 and line["verdict"] == "inconclusive"
    other = judge_alone(claim(), both(ours=(1.90, 1.80, 2.02), than=(2.0, 2.0, 2.0)))
    assert other["low"] < 0 < other["high"] and other["why"] != line["why"]


def test_a_ratio_is_weighed_in_logarithms():
    asserted = claim(by="ratio", bound=2, expect="more")
    line = evidence_of(
        asserted, both(ours=(4.0, 8.0, 2.0), than=(1.0, 1.0, 1.0)).assign(mean_span=40.0)
    )
    assert line["effect"] == pytest.approx(4) and line["low"] * line["high"] == pytest.approx(16)
    assert is_as_claimed(asserted, 2.1) and not is_as_claimed(asserted, 1.9)
    near = claim(by="ratio", bound=0.98, expect="equal", within=0.05)
    # as much up as down
    assert is_as_claimed(near, 0.98 * 1.049) and is_as_claimed(near, 0.98 / 1.049)
    assert not is_as_claimed(near, 0.98 * 1.051) and not is_as_claimed(near, 0.98 / 1.051)


def test_formulas_are_held_against_the_printed_digits():
    line = evidence_of(load_claim("feed_forward_share"), both())
    assert (line["verdict"], line["published"]) == ("reproduced", ["as.txt.ff_share_256"])
    formula = {key: CLAIM[key] for key in ("claim", "paper", "where")}
    wrong = parse(Claim, formula | {"recomputed": ["as.t1.t12.flops", "as.t1.t64.flops"]}, "c")
    line = evidence_of(wrong, both())
    # the paper truncates
    assert line["verdict"] == "not reproduced" and line["why"].startswith("1 of 2 differ: T12")


def test_layers_are_read_without_runs():
    times = {"self": lambda n: [n**2 / 1e4, n**2 / 1e4], "rnn": lambda n: [n / 10, n / 11]}
    rows = [
        layer(name, n, time(n)[0], d=8, turns=time(n))
        for name, time in times.items()
        for n in (4, 512, 1024)
    ]
    names = ("attention_grows_with_n_squared", "attention_is_faster_than_recurrence")
    growth, speed = (evidence_of(load_claim(name), None, layers(*rows)) for name in names)
    # at n = 4 alone, the one below d
    assert growth["effect"] == pytest.approx(2.0) and speed["ours"] == 16 / 1e4
    narrow = evidence_of(load_claim(names[1]), None, layers(*(row | {"d": 2} for row in rows)))
    assert narrow["effect"] is None and "Self-Attention and Recurrent" in narrow["why"]
    assert evidence_of(load_claim(names[1]), both())["why"] == NOT_ASKED
