"""Two variants compared run by run: gains, ratios and p values worked out by hand."""

import pandas as pd
import pytest

from tests._runs import BROKEN, translated
from workflow.report.tables.paired import bootstrap, gain, p_value
from workflow.results.runs_table import as_frame
from workflow.tasks.translation.runner import count_sentences

BLEU = ("test_bleu_tokenised", "test_bleu_tokenised")
PAIRS = [
    ("cat", "chat"),
    ("dog", "chien"),
    ("cow", "vache"),
    ("pig", "cochon"),
    ("hen", "poule"),
] * 10
REFERENCES = [f"the {subject} sees the {object} and goes home" for subject, object in PAIRS]
WORSE = [f"a {subject} sees no {object} and goes home" for subject, object in PAIRS]


def scored(variant: str, *values) -> pd.DataFrame:
    return as_frame(
        [
            translated(variant=variant, seed=n, test_bleu_tokenised=v)
            for n, v in enumerate(values, 1)
        ]
    )


def test_the_gain_is_the_mean_of_the_differences_by_seed():
    """Differences .4, .5, .6 in whatever order the rows stand: standard error .1 / sqrt(3), t(.975,
    2) = 4.303.
    """
    ours, base = scored("top_k", 20.4, 25.5, 30.6), scored("softmax", 20.0, 25.0, 30.0)
    cell = gain("r", "c", ours.iloc[::-1], base, BLEU)
    assert (cell["value"], cell["n"], cell["unit"]) == (pytest.approx(0.5), 3, "BLEU")
    assert cell["high"] - cell["value"] == pytest.approx(4.303 * 0.1 / 3**0.5, rel=1e-3)
    assert len(cell["digests"]) == 6
    assert gain("r", "c", ours.head(2), base, BLEU)["points"] == pytest.approx([0.4, 0.5])


def test_a_seed_that_failed_leaves_the_gain_a_gain_over_failed_runs_is_failed_and_over_none_is_not_run():
    some = as_frame(
        [
            translated(variant="top_k", seed=1, test_bleu_tokenised=20.4),
            translated(seed=2, **BROKEN),
        ]
    )
    cell = gain("r", "c", some, scored("softmax", 20.0, 25.0), BLEU)
    assert (cell["value"], cell["n"], cell["low"], cell["status"]) == (
        pytest.approx(0.4),
        1,
        None,
        "ok",
    )
    assert cell["note"] == "seed 2: diverged: mean loss nan"
    runs, base = scored("top_k", 20.4), as_frame([translated(seed=1, **BROKEN)])
    for make in (
        lambda base: gain("r", "c", runs, base, BLEU),
        lambda base: p_value("r", "c", runs, base),
    ):
        failed, missing = make(base), make(base.head(0))
        assert (failed["status"], failed["value"]) == (
            "failed",
            None,
        ) and "baseline: seed 1" in failed["note"]
        assert (missing["status"], missing["value"]) == ("not run", None)
    strangers = as_frame([translated(variant="top_k", seed=3)])
    assert gain("r", "c", strangers, scored("softmax", 20.0), BLEU)["note"] == "no common seed"


def test_spans_that_hardly_moved_gain_nothing():
    """From 8 to 9 is no quarter of 9 more; to 20 is."""
    spans = {"span": "adaptive", "S": 64, "start_span": 8.0}
    base = scored("softmax", 20.0, 25.0, 30.0)
    for mean_span, status in ((9.0, "not run"), (20.0, "ok")):
        ours = scored("adaptive", 20.4, 25.5, 30.6).assign(**spans, mean_span=mean_span)
        cell = gain("r", "c", ours, base, BLEU)
        assert (cell["status"], cell["value"] is None) == (status, status != "ok")


def counted(outputs):
    return count_sentences(outputs, REFERENCES)


def test_the_bootstrap_tells_chance_from_difference():
    difference, p = bootstrap(counted(REFERENCES), counted(WORSE))
    assert difference > 10 and p < 0.01
    assert bootstrap(counted(WORSE), counted(REFERENCES))[0] == pytest.approx(-difference)
    difference, p = bootstrap(
        counted(WORSE[:25] + REFERENCES[25:]), counted(REFERENCES[:25] + WORSE[25:])
    )
    assert abs(difference) < 1 and p > 0.3
    assert bootstrap(counted(WORSE), counted(WORSE)) == (0.0, 1.0)
    assert bootstrap(counted(["a"] * 50), counted(["b"] * 50)) == (0.0, 1.0)  # BLEU 0 both


def spoken(variant: str, *outputs) -> pd.DataFrame:
    return as_frame(
        [
            translated(variant=variant, seed=n, counts=counted(each))
            for n, each in enumerate(outputs, 1)
        ]
    )


def test_p_is_the_largest_of_the_pairs_and_1_where_they_disagree():
    slightly = [*WORSE[:1], *REFERENCES[1:]]
    ps = [bootstrap(counted(outputs), counted(WORSE))[1] for outputs in (REFERENCES, slightly)]
    base = spoken("softmax", WORSE, WORSE)
    cell = p_value("r", "p", spoken("top_k", REFERENCES, slightly), base)
    assert (cell["value"], cell["n"]) == (max(ps), 2) and cell["note"].startswith("seed 1: +")
    assert (
        p_value("r", "p", spoken("top_k", REFERENCES, WORSE), spoken("softmax", WORSE, REFERENCES))[
            "value"
        ]
        == 1
    )
