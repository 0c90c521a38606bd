"""The verdict that follows from the evidence for a claim."""

from dataclasses import replace

import pandas as pd
import pytest

from tests._claims import CLAIM, as_table, both, claim, evidence_of, judge_alone, line_of
from tests._runs import run
from workflow.claims.schema import Claim, load_claim
from workflow.claims.verdict import NOT_ASKED, judge
from workflow.config.strict import parse

FIXED = {"variant": "fixed"}
LONGEST = {"measure": "longest_S", "by": "ratio"}
MEMORY = {"measure": "memory_train_bytes", "by": "ratio"}
PRINTED = {"than": None, "expect": "equal", "bound": 2.0, "within": 0.05}
LESS = {}
EQUAL = {"expect": "equal", "within": 0.1}


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
    asserted = claim(**changes)
    line = line_of(asserted, effect=effect, low=low, high=high, p=p, holm=holm)
    assert judge(line, asserted).name == verdict


def verdict_of(asserted: Claim, rows: pd.DataFrame) -> str:
    return judge_alone(asserted, rows).verdict


@pytest.mark.parametrize(
    "counts, verdict",
    [((5.0,), "reproduced"), ((5.0, 6.0), "reproduced"), ((5.0, 12.0), "inconclusive")],
)
def test_counts_have_no_seeds_and_on_two_corpora_are_no_sample(counts, verdict):
    """They differ because the spans do, not by chance: all corpora, or none, are as claimed."""
    tables = []
    for text, ours in zip("ab", counts, strict=False):
        table = both(corpus=text, paper_corpus=text, digest=text)
        table["memory_train_bytes"] = [ours] * 3 + [10.0] * 3
        table["configuration"] += text
        tables.append(table)
    line = evidence_of(claim(**MEMORY), pd.concat(tables))
    assert line.n == len(counts)
    assert line.verdict == verdict
    assert line.p is None


@pytest.mark.parametrize(
    "share, verdict", [(0.9, "inconclusive"), (0.7, "reproduced"), (1.3, "not reproduced")]
)
def test_memory_is_inconclusive_within_the_variation_between_processes(share, verdict):
    rows = [run(variant="adaptive", memory_train_bytes=share)]
    rows.append(run(variant="fixed", memory_train_bytes=1.0))
    assert evidence_of(claim(**MEMORY), as_table(rows)).verdict == verdict


def test_what_follows_from_spans_that_have_not_grown_is_not_converged():
    scores = both().assign(mean_span=9.0, start_span=8.0)
    scores["memory_train_bytes"] = [5.0, 5, 5, 10, 10, 10]
    dynamic = scores.assign(span="dynamic", mean_span=10.3, start_span=10.2)
    memory = claim(measure="memory_train_bytes")
    for asserted, rows in ((memory, scores), (claim(), scores), (claim(), dynamic)):
        line = evidence_of(asserted, rows)
        assert line.verdict == "not converged"
        assert line.p is None
    # spans that grew on one corpus say nothing of another
    elsewhere = scores.assign(corpus="words", mean_span=40.0)
    elsewhere["digest"] = "w" + scores["digest"]
    tables = [scores.assign(corpus="sources"), elsewhere]
    line = evidence_of(claim(), pd.concat(tables, ignore_index=True))
    assert line.n == 6
    assert line.verdict == "not converged"
    # a span that begins at its limit cannot grow
    assert verdict_of(claim(), scores.assign(S=8)) == "reproduced"


@pytest.mark.parametrize(
    "rows, changes, verdict, why",
    [
        (both(ours=(2.0, 2.1), than=(2.3, 2.41)), {}, "inconclusive", "2 seeds"),
        (both(status="oom"), {}, "inconclusive", "oom"),
        (both(ours=(2.0, 2.1), than=(2.0, 2.1)), {}, "inconclusive", "identical"),
        (both().assign(longest_S=[0.0, 0, 0, 8, 8, 8]), LONGEST, "inconclusive", "positive"),
        (both(), {"scale": "paper"}, "not tested", "paper"),
        (both(question="top_k"), {}, "not tested", NOT_ASKED),
        (both(ours=()), {}, "not tested", "adaptive span"),
        (both(), {"than": {"variant": "adaptive"}}, "not tested", "same run"),
        (both(mean_span=None), {"measure": "mean_span"}, "not tested", "no measurement"),
    ],
)
def test_what_is_inconclusive_or_not_tested(rows, changes, verdict, why):
    line = evidence_of(claim(**changes), rows)
    assert line.verdict == verdict
    assert why in line.why
    assert line.p is None


def test_each_corpus_counts_equally_and_once():
    other = both(than=(2.2, 2.3, 2.23), paper_corpus="enwik8", corpus="sources")
    other["digest"] = "e" + other["digest"]
    line = evidence_of(claim(), pd.concat([both(), other]))
    assert line.n == 6
    assert line.effect == pytest.approx(-0.24333, abs=1e-4)
    assert [*line.by_text.values()] == pytest.approx([-0.19333, -0.29333], abs=1e-4)
    assert evidence_of(claim(), both()).by_text is None
    same = pd.concat([both(), both(paper_corpus="enwik8")])  # one corpus that replaces two
    assert evidence_of(claim(), same).n == 3


@pytest.mark.parametrize(
    "than, verdict", [((2.0, 2.0005, 2.0), "equivalent"), ((2.0, 2.1, 1.9), "inconclusive")]
)
def test_an_effect_certainly_below_what_is_negligible_is_equivalent(than, verdict):
    """Nine pairs .001 apart around +.002 bpc: not as claimed, and certainly less than .01."""
    asserted = claim(negligible=0.01)
    line = evidence_of(asserted, both((2.001, 2.002, 2.003), than))
    assert (line.p_none <= 0.05) == (verdict == "equivalent")
    assert judge(replace(line, holm=1.0), asserted).name == verdict


def test_a_published_score_is_compared_with_as_many_seeds_and_at_most_consistent():
    for bpc, verdict in ((2.04, "consistent"), (2.1, "not reproduced")):
        assert evidence_of(claim(**PRINTED), both(ours=(bpc,))).verdict == verdict
    best_of_three = claim(**PRINTED, best_of=3)
    line = evidence_of(best_of_three, both(ours=(2.3, 2.04, 2.5, 1.0)))
    assert (line.effect, line.verdict) == (2.04, "consistent")
    assert evidence_of(best_of_three, both(ours=(2.0, 2.0))).verdict == "inconclusive"


def test_runs_that_still_learn_neither_contradict_nor_reproduce_a_claim():
    against = both(ours=(2.3, 2.31, 2.33), than=(2.0, 2.01, 2.02))
    assert verdict_of(claim(), against) == "not reproduced"
    late = against.assign(late_gain=[0, 0, 0.05, 0, 0, 0])
    assert verdict_of(claim(), late) == "not converged"
    assert verdict_of(claim(), both(late_gain=1.0)) == "consistent"


@pytest.mark.parametrize("measure", ["macs_executed", "mean_span"])
def test_more_training_changes_what_follows_from_learned_spans_and_no_other_cost(measure):
    late = both()
    late[measure] = late["dev_bpc"]
    late["late_gain"] = [0.05, 0, 0, 0, 0, 0]
    less = claim(measure=measure)
    assert judge_alone(less, late).late_gain == 0.05
    assert verdict_of(less, late) == "consistent"
    assert verdict_of(claim(measure=measure, expect="more"), late) == "not converged"
    # a fixed span costs the same however long it trains
    assert verdict_of(less, late.assign(span="fixed")) == "reproduced"
    if measure == "macs_executed":
        baseline = late.assign(late_gain=[0, 0, 0, 0.05, 0, 0])
        assert verdict_of(less, baseline) == "reproduced"


def test_interim_analyses_count_in_a_verdict():
    """-.10, -.13, -.07: -.1 give or take .075, p = .029, over three interim analyses .076."""
    line = judge_alone(claim(), both(ours=(1.90, 1.87, 1.93), than=(2.0, 2.0, 2.0)))
    assert line.high < 0
    assert line.p > 0.05
    assert line.verdict == "inconclusive"


def test_a_ratio_is_averaged_as_logarithms():
    asserted = claim(by="ratio", bound=2, expect="more")
    runs = both(ours=(4.0, 8.0, 2.0), than=(1.0, 1.0, 1.0)).assign(mean_span=40.0)
    line = evidence_of(asserted, runs)
    assert line.effect == pytest.approx(4)
    assert line.low * line.high == pytest.approx(16)


def test_formulas_are_compared_with_the_printed_digits():
    line = evidence_of(load_claim("feed_forward_share"), both())
    assert line.verdict == "reproduced"
    assert line.published == ("as.txt.ff_share_256",)
    formula = {key: CLAIM[key] for key in ("claim", "paper", "where")}
    formula["recomputed"] = ["as.t1.t12.flops", "as.t1.t64.flops"]  # the first is truncated
    assert evidence_of(parse(Claim, formula, "c"), both()).verdict == "not reproduced"
