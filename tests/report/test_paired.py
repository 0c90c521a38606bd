"""Two variants compared run by run: gains and p values worked out by hand."""

import pandas as pd
import pytest

from tests._runs import BROKEN, translated
from workflow.report.tables.paired import bootstrap, gain, p_value
from workflow.results.runs_table import as_frame
from workflow.tasks.translation.runner import count_sentences

BLEU = ("test_bleu_tokenised", "test_bleu_tokenised")
WORDS = ["cat", "dog", "cow", "pig", "hen"] * 10
REFERENCES = [f"the {word} sees the {word} and goes home" for word in WORDS]
WORSE = [f"a {word} sees no {word} and goes home" for word in WORDS]


def of_seeds(variant: str, column: str, *values) -> pd.DataFrame:
    rows = []
    for seed, value in enumerate(values, start=1):
        rows.append(translated(variant=variant, seed=seed, **{column: value}))
    return as_frame(rows)


def scored(variant: str, *values: float) -> pd.DataFrame:
    return of_seeds(variant, "test_bleu_tokenised", *values)


def test_the_gain_is_the_mean_of_the_differences_by_seed():
    """Differences .4, .5, .6 in any order: standard error .1 / sqrt(3), t(.975, 2) = 4.303."""
    ours = scored("top_k", 20.4, 25.5, 30.6)
    base = scored("softmax", 20.0, 25.0, 30.0)
    cell = gain("r", "c", ours.iloc[::-1], base, BLEU)
    half = 4.303 * 0.1 / 3**0.5
    assert cell.n == 3
    assert cell.value == pytest.approx(0.5)
    assert cell.high == pytest.approx(0.5 + half, rel=1e-3)
    assert len(cell.digests) == 6


def test_a_failed_seed_leaves_the_gain_over_the_others():
    row = translated(variant="top_k", seed=1, test_bleu_tokenised=20.4)
    ours = as_frame([row, translated(seed=2, **BROKEN)])
    cell = gain("r", "c", ours, scored("softmax", 20.0, 25.0), BLEU)
    assert cell.value == pytest.approx(0.4)
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


def counted(outputs: list[str]) -> list:
    return count_sentences(outputs, REFERENCES)


def test_the_bootstrap_tells_chance_from_difference():
    good = counted(REFERENCES)
    bad = counted(WORSE)
    difference, p = bootstrap(good, bad)
    assert difference > 10
    assert p < 0.01
    assert bootstrap(bad, good)[0] == pytest.approx(-difference)
    first_half = counted(WORSE[:25] + REFERENCES[25:])
    second_half = counted(REFERENCES[:25] + WORSE[25:])
    difference, p = bootstrap(first_half, second_half)
    assert abs(difference) < 1
    assert p > 0.3
    assert bootstrap(bad, bad) == (0.0, 1.0)


def test_p_is_the_largest_of_the_pairs_and_1_where_they_disagree():
    good = counted(REFERENCES)
    bad = counted(WORSE)
    slightly = counted([*WORSE[:1], *REFERENCES[1:]])
    base = of_seeds("softmax", "counts", bad, bad)
    ours = of_seeds("top_k", "counts", good, slightly)
    _, first = bootstrap(good, bad)
    _, second = bootstrap(slightly, bad)
    assert p_value("r", "p", ours, base).value == max(first, second)
    turned = of_seeds("softmax", "counts", bad, good)
    ours = of_seeds("top_k", "counts", good, bad)
    assert p_value("r", "p", ours, turned).value == 1
