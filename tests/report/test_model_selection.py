"""Which net for which cost: a dearer one only where dev prefers it and test confirms it."""

import pandas as pd
import pytest

from tests._runs import as_frame, run, translated
from workflow.report.pages.model_selection import (
    Contest,
    model_selection_page,
    recommend,
)
from workflow.report.pages.site import Site


def of(
    variant: str, cost: float, dev: float, test: float, seeds: int = 3, apart: float = 0.0
) -> list[dict]:
    """Make runs around these scores. apart: how far the first seed is above, and the last below, on
    test.
    """
    rows = []
    for seed in range(1, seeds + 1):
        scores = {
            "dev_bpc": dev + seed / 1000,
            "test_bpc": test + seed / 500 + (2 - seed) * apart,
        }
        rows.append(run(variant=variant, seed=seed, macs_executed=cost, **scores))
    return rows


@pytest.fixture
def runs():
    """Dear and worse, cheap and best on test though not on dev, and one of too few seeds."""
    rows = of("a", 1e4, 2.0, 2.2) + of("b", 2e4, 2.1, 2.0)
    rows += of("c", 3e4, 1.8, 2.1) + of("d", 4e4, 1.9, 1.7)
    rows += of("e", 5e4, 1.0, 1.0, seeds=2)
    return as_frame(rows)


def taken(rows: list[dict]) -> list[str]:
    """Name the variants that are recommended, the cheapest first."""
    made = as_frame(rows)
    contest = Contest(made.assign(title="t"), "dev_bpc", "test_bpc")
    return [contest.models["of"][each.place] for each in recommend(contest)]


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
def test_a_dearer_net_is_recommended_only_where_dev_prefers_it_and_test_confirms_it(
    dearer, expected
):
    assert taken(of("a", 1e4, 2.0, 2.2) + dearer) == expected


def test_nothing_that_is_recommended_is_significantly_worse_on_test_than_what_costs_less(runs):
    (text,) = model_selection_page(runs).texts
    assert [line.model.cost for line in text.lines] == [1e4, 3e4]
    first, second = text.lines
    assert (first.until, second.until) == (3e4, None)
    (other,) = first.alternatives  # b is better on test, and not on dev
    assert other.name.startswith("b, S = 64")
    assert [each.name[0] for each in second.alternatives] == ["d", "b"]
    assert text.nets == 4


def test_translations_are_chosen_by_the_score_that_is_shown():
    """Label smoothing makes perplexity worse and BLEU better: the loss would choose the net
    without.
    """
    rows = []
    for variant, cost, ppl, bleu in (
        ("plain", 1e4, 8.0, 20.0),
        ("smoothed", 1e4, 9.0, 25.0),
        ("dear", 3e4, 9.5, 19.0),
        ("dearer", 4e4, 9.6, 18.0),
    ):
        about = {"macs_executed": cost, "dev_ppl": ppl, "test_bleu": bleu}
        for seed in (1, 2, 3):
            row = translated(variant=variant, seed=seed, dev_bleu=bleu + seed, **about)
            rows.append(row)
    (text,) = model_selection_page(as_frame(rows)).texts
    assert [line.model.name.partition(",")[0] for line in text.lines] == ["smoothed"]


def test_runs_whose_trial_chose_the_recipe_are_not_their_own_rivals(runs):
    """They hold the numbers of the recipe's runs."""
    trial = runs.head(1).assign(tuning="trial", digest="trial", factors=[{"lr": 1.0}])
    copies = runs[runs["variant"] == "c"]
    copies = copies.assign(tuning="tuned", follows="trial", configuration="copies")
    copies["digest"] = "copy of " + copies["digest"]
    tried = pd.concat([runs, trial, copies])
    assert model_selection_page(tried).texts[0].nets == 4
    other = tried.assign(factors=tried["factors"].map(lambda factors: factors and {"lr": 2.0}))
    assert model_selection_page(other).texts[0].nets == 5


@pytest.mark.parametrize(
    "typed, recommended",
    [
        ("30k", 1),
        ("30,000", 1),
        ("10k", 0),
        ("9k", "below"),
        ("3,5k", "invalid"),
    ],
)
def test_a_cost_is_read_with_its_suffix_or_refused(typed, recommended, runs, page, tmp_path):
    """Recommended are one for 10,000 and one for 30,000."""
    Site(tmp_path / "results", tmp_path).write(
        "model_selection.html.j2", "model_selection.html", model_selection_page(runs)
    )
    page.goto((tmp_path / "model_selection.html").as_uri())
    text = page.locator("section.budget").first
    text.locator('input[type="text"]').fill(typed)
    page.keyboard.press("Enter")
    chosen = text.locator("tr[data-cost]").evaluate_all(
        "rows => rows.map((row) => row.classList.contains('chosen'))"
    )
    if isinstance(recommended, int):
        assert chosen == [recommended == 0, recommended == 1]
    else:
        assert chosen == [False, False]
        assert text.locator(".take").get_attribute("data-state") == recommended
        assert not text.locator("div.alternatives").is_visible()
