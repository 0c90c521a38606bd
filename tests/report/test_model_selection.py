"""Which model for which cost: a dearer one only where dev prefers it and test confirms it."""

import pandas as pd
import pytest

from tests._runs import as_frame, run, translated
from workflow.report.pages.model_selection import Contest, model_selection_page, recommend


def of(
    variant: str, cost: float, dev: float, test: float, seeds: int = 3, apart: float = 0.0
) -> list[dict]:
    """Make runs around these scores. apart: how far test scores are around the second seed's."""
    rows = []
    for seed in range(1, seeds + 1):
        dev_bpc = dev + seed / 1000
        test_bpc = test + seed / 500 + (2 - seed) * apart
        row = run(
            variant=variant,
            seed=seed,
            macs_executed=cost,
            dev_bpc=dev_bpc,
            test_bpc=test_bpc,
        )
        rows.append(row)
    return rows


@pytest.fixture
def runs():
    """Dear and worse, cheap and best on test though not on dev, and one of too few seeds."""
    rows = of("a", 1e4, 2.0, 2.2) + of("b", 2e4, 2.1, 2.0)
    rows += of("c", 3e4, 1.8, 2.1) + of("d", 4e4, 1.9, 1.7)
    rows += of("e", 5e4, 1.0, 1.0, seeds=2)
    return as_frame(rows)


@pytest.mark.parametrize(
    "dearer, expected",
    [
        (of("b", 2e4, 1.9, 2.1), ["a", "b"]),  # .1 better on dev, and on test for each seed
        (of("b", 2e4, 1.9, 2.1, apart=0.2), ["a"]),  # .3, .1 and -.1 better on test: within chance
        (of("b", 2e4, 1.9, 2.3), ["a"]),  # better on dev, worse on test
        (of("b", 2e4, 2.1, 2.1), ["a"]),  # better on test, worse on dev
        (of("b", 2e4, 1.9, 2.1, seeds=2), ["a"]),  # too few seeds
        (of("b", 1e4, 1.9, 2.2, apart=0.2), ["b"]),  # as dear as the other: dev decides
        (of("b", 1e4, 1.9, 2.3), ["a"]),  # unless test says the contrary
    ],
)
def test_a_dearer_model_is_recommended_only_where_dev_prefers_it_and_test_confirms_it(
    dearer, expected
):
    made = as_frame(of("a", 1e4, 2.0, 2.2) + dearer).assign(title="t")
    contest = Contest(made, "dev_bpc", "test_bpc")
    assert [contest.models["of"][each.place] for each in recommend(contest)] == expected


def test_translations_are_chosen_by_the_score_that_is_shown():
    """Label smoothing makes perplexity worse and BLEU better."""
    rows = []
    for variant, cost, ppl, bleu in (
        ("plain", 1e4, 8.0, 20.0),
        ("smoothed", 1e4, 9.0, 25.0),
        ("dear", 3e4, 9.5, 19.0),
        ("dearer", 4e4, 9.6, 18.0),
    ):
        about = {"macs_executed": cost, "dev_ppl": ppl, "test_bleu": bleu}
        for seed in (1, 2, 3):
            scores = about | {"dev_bleu": bleu + seed}
            rows.append(translated(variant=variant, seed=seed, **scores))
    (corpus,) = model_selection_page(as_frame(rows)).texts
    assert [line.model.name.partition(",")[0] for line in corpus.lines] == ["smoothed"]


def test_runs_whose_trial_chose_the_recipe_are_not_their_own_rivals(runs):
    """They hold the numbers of the recipe's runs."""
    trial = runs.head(1).assign(tuning="trial", digest="trial", factors=[{"lr": 1.0}])
    copies = runs[runs["variant"] == "c"]
    copies = copies.assign(tuning="tuned", follows="trial", configuration="copies")
    copies["digest"] = "copy of " + copies["digest"]
    tried = pd.concat([runs, trial, copies])
    (corpus,) = model_selection_page(tried).texts
    assert corpus.nets == 4
    other = trial.assign(factors=[{"lr": 2.0}])
    (corpus,) = model_selection_page(pd.concat([runs, other, copies])).texts
    assert corpus.nets == 5
