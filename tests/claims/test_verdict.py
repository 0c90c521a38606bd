"""The verdict that follows from the evidence for a claim."""

from dataclasses import replace

import pandas as pd
import pytest

from tests._claims import CLAIM, as_table, both, claim, evidence_of, judge_alone, line_of
from tests._runs import run
from workflow.claims.schema import Claim, load_claim
from workflow.claims.verdict import NOT_ASKED, judge
from workflow.config.strict import parse

MEMORY = {"measure": "memory_train_bytes", "by": "ratio"}
LESS = claim()
EQUAL = claim(expect="equal", within=0.1)
CONVERGED = "not converged"


def verdict_of(asserted: Claim, runs: pd.DataFrame) -> str:
    return judge_alone(asserted, runs).verdict


@pytest.mark.parametrize(
    "asserted, effect, half, p, holm, verdict",
    [
        (LESS, -0.3, 0.1, 0.001, 0.04, "reproduced"),
        (LESS, -0.3, 0.1, 0.01, 0.4, "consistent"),
        (LESS, -0.1, 0.3, 0.5, 1.0, "inconclusive"),
        (LESS, 0.3, 0.1, 0.01, 0.4, "not reproduced"),
        # the interval excludes 0 and p, corrected for interim analyses, does not
        (LESS, 0.3, 0.28, 0.0506, 1.0, "inconclusive"),
        (EQUAL, 0.0, 0.02, 0.001, 0.04, "reproduced"),
        (EQUAL, 0.0, 0.05, 0.01, 0.3, "consistent"),
        (EQUAL, 0.0, 0.5, 0.5, 1.0, "inconclusive"),
        (EQUAL, 0.3, 0.1, 0.9, 1.0, "not reproduced"),
        (EQUAL, 0.09, 0.39, 0.5, 1.0, "inconclusive"),
    ],
)
def test_verdicts(asserted, effect, half, p, holm, verdict):
    line = line_of(
        asserted,
        effect=effect,
        low=effect - half,
        high=effect + half,
        p=p,
        holm=holm,
    )
    assert judge(line, asserted).name == verdict


@pytest.mark.parametrize(
    "counts, verdict",
    [((5.0,), "reproduced"), ((5.0, 6.0), "reproduced"), ((5.0, 12.0), "inconclusive")],
)
def test_counts_have_no_seeds_and_on_two_corpora_are_no_sample(counts, verdict):
    """They differ because the spans do, not by chance: all corpora, or none, are as claimed."""
    tables = []
    for name, ours in zip("ab", counts, strict=False):
        table = both(corpus=name, paper_corpus=name, digest=name)
        table["memory_train_bytes"] = [ours] * 3 + [10.0] * 3
        table["configuration"] += name
        tables.append(table)
    line = evidence_of(claim(**MEMORY), pd.concat(tables))
    assert line.n == len(counts)
    assert line.verdict == verdict
    assert line.p is None


@pytest.mark.parametrize(
    "share, verdict", [(0.9, "inconclusive"), (0.7, "reproduced"), (1.3, "not reproduced")]
)
def test_memory_is_inconclusive_within_the_variation_between_processes(share, verdict):
    ours = run(variant="adaptive", memory_train_bytes=share)
    than = run(variant="fixed", memory_train_bytes=1.0)
    assert evidence_of(claim(**MEMORY), as_table([ours, than])).verdict == verdict


def test_what_follows_from_spans_that_have_not_grown_is_not_converged():
    still = both().assign(mean_span=9.0, start_span=8.0)
    still["memory_train_bytes"] = [5.0, 5, 5, 10, 10, 10]
    dynamic = still.assign(span="dynamic", mean_span=10.3, start_span=10.2)
    # spans that grew on one corpus say nothing of another
    grown = still.assign(corpus="words", mean_span=40.0)
    grown["digest"] = "w" + still["digest"]
    two_corpora = pd.concat([still.assign(corpus="sources"), grown], ignore_index=True)
    memory = claim(measure="memory_train_bytes")
    for asserted, runs in ((memory, still), (LESS, still), (LESS, dynamic), (LESS, two_corpora)):
        line = evidence_of(asserted, runs)
        assert line.verdict == CONVERGED
        assert line.p is None
    # a span that begins at its limit cannot grow
    assert verdict_of(LESS, still.assign(S=8)) == "reproduced"


@pytest.mark.parametrize(
    "runs, changes, verdict, why",
    [
        (both(ours=(2.0, 2.1), than=(2.3, 2.41)), {}, "inconclusive", "2 seeds"),
        (both(status="oom"), {}, "inconclusive", "oom"),
        (both(ours=(2.0, 2.1), than=(2.0, 2.1)), {}, "inconclusive", "identical"),
        (both(), {"scale": "paper"}, "not tested", "paper"),
        (both(question="top_k"), {}, "not tested", NOT_ASKED),
        (both(ours=()), {}, "not tested", "adaptive span"),
        (both(), {"than": {"variant": "adaptive"}}, "not tested", "same run"),
        (both(mean_span=None), {"measure": "mean_span"}, "not tested", "no measurement"),
    ],
)
def test_what_is_inconclusive_or_not_tested(runs, changes, verdict, why):
    line = evidence_of(claim(**changes), runs)
    assert line.verdict == verdict
    assert why in line.why
    assert line.p is None


def test_each_corpus_counts_equally_and_once():
    other = both(than=(2.2, 2.3, 2.23), paper_corpus="enwik8", corpus="sources")
    other["digest"] = "e" + other["digest"]
    line = evidence_of(LESS, pd.concat([both(), other]))
    assert line.n == 6
    assert line.effect == pytest.approx(-0.24333, abs=1e-4)
    assert [*line.by_text.values()] == pytest.approx([-0.19333, -0.29333], abs=1e-4)
    # one corpus that replaces two
    same = pd.concat([both(), both(paper_corpus="enwik8")])
    assert evidence_of(LESS, same).n == 3


@pytest.mark.parametrize(
    "than, verdict", [((2.0, 2.0005, 2.0), "equivalent"), ((2.0, 2.1, 1.9), "inconclusive")]
)
def test_an_effect_certainly_below_what_is_negligible_is_equivalent(than, verdict):
    """Three pairs around +.002 bpc: not as claimed, and certainly less than .01."""
    asserted = claim(negligible=0.01)
    line = evidence_of(asserted, both((2.001, 2.002, 2.003), than))
    assert judge(replace(line, holm=1.0), asserted).name == verdict


@pytest.mark.parametrize(
    "ours, best_of, verdict",
    [
        ((2.04,), None, "consistent"),
        ((2.1,), None, "not reproduced"),
        # the best of the first three
        ((2.3, 2.04, 2.5, 1.0), 3, "consistent"),
        ((2.0, 2.0), 3, "inconclusive"),
    ],
)
def test_a_published_score_is_compared_with_as_many_seeds_and_at_most_consistent(
    ours, best_of, verdict
):
    printed = {"than": None, "expect": "equal", "bound": 2.0, "within": 0.05}
    if best_of:
        printed["best_of"] = best_of
    assert evidence_of(claim(**printed), both(ours=ours)).verdict == verdict


def test_runs_that_still_learn_neither_contradict_nor_reproduce_a_claim():
    against = both(ours=(2.3, 2.31, 2.33), than=(2.0, 2.01, 2.02))
    assert verdict_of(LESS, against) == "not reproduced"
    assert verdict_of(LESS, against.assign(late_gain=[0, 0, 0.05, 0, 0, 0])) == CONVERGED
    assert verdict_of(LESS, both(late_gain=1.0)) == "consistent"


@pytest.mark.parametrize("measure", ["macs_executed", "mean_span"])
def test_more_training_changes_what_follows_from_learned_spans_and_no_other_cost(measure):
    late = both()
    late[measure] = late["dev_bpc"]
    late["late_gain"] = [0.05, 0, 0, 0, 0, 0]
    less = claim(measure=measure)
    assert verdict_of(less, late) == "consistent"
    assert verdict_of(claim(measure=measure, expect="more"), late) == CONVERGED
    # a fixed span costs the same however long it trains
    assert verdict_of(less, late.assign(span="fixed")) == "reproduced"


def test_interim_analyses_count_in_a_verdict():
    """-.10, -.13, -.07: -.1 give or take .075, p = .029, over three interim analyses .076."""
    line = judge_alone(LESS, both(ours=(1.90, 1.87, 1.93), than=(2.0, 2.0, 2.0)))
    assert line.high < 0
    assert line.p > 0.05
    assert line.verdict == "inconclusive"


def test_a_ratio_is_averaged_as_logarithms_of_positive_numbers():
    asserted = claim(by="ratio", bound=2, expect="more")
    runs = both(ours=(4.0, 8.0, 2.0), than=(1.0, 1.0, 1.0)).assign(mean_span=40.0)
    line = evidence_of(asserted, runs)
    assert line.effect == pytest.approx(4)
    assert line.low * line.high == pytest.approx(16)
    zeros = both().assign(longest_S=[0.0, 0, 0, 8, 8, 8])
    longest = claim(measure="longest_S", by="ratio")
    assert evidence_of(longest, zeros).verdict == "inconclusive"


def test_formulas_are_compared_with_the_printed_digits():
    assert evidence_of(load_claim("feed_forward_share"), both()).verdict == "reproduced"
    formula = {key: CLAIM[key] for key in ("claim", "paper", "where")}
    # the first is truncated
    formula["recomputed"] = ["as.t1.t12.flops", "as.t1.t64.flops"]
    assert evidence_of(parse(Claim, formula, "c"), both()).verdict == "not reproduced"
