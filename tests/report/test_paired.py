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
        metric = {column: value}
        row = translated(variant=variant, seed=seed, **metric)
        rows.append(row)
    return as_frame(rows)


def scored(variant: str, *values: float) -> pd.DataFrame:
    return of_seeds(variant, "test_bleu_tokenised", *values)


def test_the_gain_is_the_mean_of_the_differences_by_seed():
    """Differences .4, .5, .6 in any order: standard error .1 / sqrt(3), t(.975, 2) = 4.303."""
    ours = scored("top_k", 20.4, 25.5, 30.6)
    base = scored("softmax", 20.0, 25.0, 30.0)
    reversed_order = ours.iloc[::-1]
    cell = gain("r", "c", reversed_order, base, BLEU)
    standard_error = 0.1 / 3**0.5
    half = 4.303 * standard_error
    assert cell.n == 3
    assert cell.value == pytest.approx(0.5)
    assert cell.high == pytest.approx(0.5 + half, rel=1e-3)
    assert len(cell.digests) == 6


def test_a_failed_seed_leaves_the_gain_over_the_others():
    row = translated(
        variant="top_k",
        seed=1,
        test_bleu_tokenised=20.4,
    )
    broken = translated(seed=2, **BROKEN)
    ours = as_frame([row, broken])
    base = scored("softmax", 20.0, 25.0)
    cell = gain("r", "c", ours, base, BLEU)
    assert cell.value == pytest.approx(0.4)
    assert cell.status == "ok"
    assert "seed 2: diverged" in cell.note


def bleu_gain(row: str, column: str, ours: pd.DataFrame, base: pd.DataFrame):
    return gain(row, column, ours, base, BLEU)


@pytest.mark.parametrize("compare", [bleu_gain, p_value])
def test_a_comparison_with_failed_runs_has_failed_and_with_none_is_not_run(compare):
    ours = scored("top_k", 20.4)
    broken = translated(seed=1, **BROKEN)
    base = as_frame([broken])
    failed = compare("r", "c", ours, base)
    assert failed.status == "failed"
    assert "baseline: seed 1" in failed.value.reason
    no_runs = base.head(0)
    missing = compare("r", "c", ours, no_runs)
    assert missing.status == "not run"


def counted(outputs: list[str]) -> list:
    return count_sentences(outputs, REFERENCES)


def test_the_bootstrap_tells_chance_from_difference():
    good = counted(REFERENCES)
    bad = counted(WORSE)
    difference, p = bootstrap(good, bad)
    assert difference > 10
    assert p < 0.01
    opposite, _ = bootstrap(bad, good)
    assert opposite == pytest.approx(-difference)
    half = len(WORDS) // 2
    first_half_worse = WORSE[:half] + REFERENCES[half:]
    second_half_worse = REFERENCES[:half] + WORSE[half:]
    difference, p = bootstrap(
        counted(first_half_worse),
        counted(second_half_worse),
    )
    assert abs(difference) < 1
    assert p > 0.3
    difference, p = bootstrap(bad, bad)
    assert difference == 0
    assert p == 1


def test_p_is_the_largest_of_the_pairs_and_1_where_they_disagree():
    good = counted(REFERENCES)
    bad = counted(WORSE)
    one_worse = WORSE[:1] + REFERENCES[1:]
    slightly = counted(one_worse)
    base = of_seeds("softmax", "counts", bad, bad)
    ours = of_seeds("top_k", "counts", good, slightly)
    _, first = bootstrap(good, bad)
    _, second = bootstrap(slightly, bad)
    cell = p_value("r", "p", ours, base)
    assert cell.value == max(first, second)
    turned = of_seeds("softmax", "counts", bad, good)
    ours = of_seeds("top_k", "counts", good, bad)
    cell = p_value("r", "p", ours, turned)
    assert cell.value == 1
