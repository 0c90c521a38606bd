"""Two variants compared run by run: gains and p values worked out by hand."""

import pandas as pd
import pytest

from tests._runs import BROKEN, translated
from workflow.config.missing import Missing
from workflow.report.tables.paired import bootstrap, gain, p_value
from workflow.results.runs_table import as_frame
from workflow.tasks.translation.runner import count_sentences

BLEU = ("test_bleu_tokenised", "test_bleu_tokenised")
WORDS = [("cat", "chat"), ("dog", "chien"), ("cow", "vache"), ("pig", "cochon"), ("hen", "poule")]
REFERENCES = [f"the {subject} sees the {object} and goes home" for subject, object in WORDS * 10]
WORSE = [f"a {subject} sees no {object} and goes home" for subject, object in WORDS * 10]


def trained(variant: str, **values: tuple) -> pd.DataFrame:
    """Make a run per seed. values: of a column, seed by seed."""
    rows = []
    for column, by_seed in values.items():
        for seed, value in enumerate(by_seed, start=1):
            rows.append(translated(variant=variant, seed=seed, **{column: value}))
    return as_frame(rows)


def scored(variant: str, *values: float) -> pd.DataFrame:
    return trained(variant, test_bleu_tokenised=values)


def test_the_gain_is_the_mean_of_the_differences_by_seed():
    """Differences .4, .5, .6 in any order: standard error .1 / sqrt(3), t(.975, 2) = 4.303."""
    ours = scored("top_k", 20.4, 25.5, 30.6)
    base = scored("softmax", 20.0, 25.0, 30.0)
    cell = gain("r", "c", ours.iloc[::-1], base, BLEU)
    assert cell.value == pytest.approx(0.5)
    assert cell.n == 3
    assert cell.unit == "BLEU"
    half = 4.303 * 0.1 / 3**0.5
    assert cell.high - cell.value == pytest.approx(half, rel=1e-3)
    assert len(cell.digests) == 6
    two = gain("r", "c", ours.head(2), base, BLEU)
    assert two.points == pytest.approx((0.4, 0.5))


def test_a_failed_seed_leaves_the_gain_over_the_others():
    rows = [
        translated(variant="top_k", seed=1, test_bleu_tokenised=20.4),
        translated(seed=2, **BROKEN),
    ]
    cell = gain("r", "c", as_frame(rows), scored("softmax", 20.0, 25.0), BLEU)
    assert cell.value == pytest.approx(0.4)
    assert cell.n == 1
    assert cell.low is None
    assert cell.status == "ok"
    assert "seed 2: diverged" in cell.note


@pytest.mark.parametrize("compare", [lambda *sides: gain(*sides, BLEU), p_value])
def test_a_comparison_with_failed_runs_has_failed_and_with_none_is_not_run(compare):
    ours = scored("top_k", 20.4)
    base = as_frame([translated(seed=1, **BROKEN)])
    failed = compare("r", "c", ours, base)
    assert failed.status == "failed"
    assert "baseline: seed 1" in failed.value.reason
    missing = compare("r", "c", ours, base.head(0))
    assert missing.status == "not run"
    assert isinstance(missing.value, Missing)


def test_seeds_that_only_one_side_has_are_not_paired():
    other = as_frame([translated(variant="top_k", seed=3)])
    cell = gain("r", "c", other, scored("softmax", 20.0), BLEU)
    assert (cell.status, cell.value) == ("not run", Missing("no common seed"))


@pytest.mark.parametrize("mean_span, status", [(9.0, "not run"), (20.0, "ok")])
def test_spans_that_hardly_moved_gain_nothing(mean_span, status):
    """From 8 to 9 is no quarter of 9 more; to 20 is."""
    spans = {"span": "adaptive", "S": 64, "start_span": 8.0, "mean_span": mean_span}
    ours = scored("adaptive", 20.4, 25.5, 30.6).assign(**spans)
    cell = gain("r", "c", ours, scored("softmax", 20.0, 25.0, 30.0), BLEU)
    assert cell.status == status


def counted(outputs: list[str]) -> list:
    return count_sentences(outputs, REFERENCES)


def test_the_bootstrap_tells_chance_from_difference():
    good = counted(REFERENCES)
    bad = counted(WORSE)
    difference, p = bootstrap(good, bad)
    assert difference > 10
    assert p < 0.01
    turned, _ = bootstrap(bad, good)
    assert turned == pytest.approx(-difference)
    first_half = counted(WORSE[:25] + REFERENCES[25:])
    second_half = counted(REFERENCES[:25] + WORSE[25:])
    difference, p = bootstrap(first_half, second_half)
    assert abs(difference) < 1
    assert p > 0.3
    assert bootstrap(bad, bad) == (0.0, 1.0)


def spoken(variant: str, *outputs: list[str]) -> pd.DataFrame:
    return trained(variant, counts=tuple(counted(each) for each in outputs))


def test_p_is_the_largest_of_the_pairs_and_1_where_they_disagree():
    slightly = [*WORSE[:1], *REFERENCES[1:]]
    _, first = bootstrap(counted(REFERENCES), counted(WORSE))
    _, second = bootstrap(counted(slightly), counted(WORSE))
    ps = (first, second)
    base = spoken("softmax", WORSE, WORSE)
    ours = spoken("top_k", REFERENCES, slightly)
    cell = p_value("r", "p", ours, base)
    assert (cell.value, cell.n) == (max(ps), 2)
    assert cell.note.startswith("seed 1: +")
    ours = spoken("top_k", REFERENCES, WORSE)
    assert p_value("r", "p", ours, spoken("softmax", WORSE, REFERENCES)).value == 1
