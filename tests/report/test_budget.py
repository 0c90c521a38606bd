"""Which net for which cost: chosen on dev, shown on test, beside the next best."""

import pandas as pd
import pytest

from tests._runs import as_frame, run, translated
from workflow.report.pages.budget import budget_page, frontier, nets
from workflow.report.pages.site import Site


def of(variant: str, cost: float, dev: float, test: float, seeds: int = 3) -> list[dict]:
    return [
        run(variant=variant, seed=seed, macs_executed=cost, dev_bpc=dev + seed / 1000, test_bpc=test + seed / 500)
        for seed in range(1, seeds + 1)
    ]


@pytest.fixture
def runs():
    """Dear and worse, cheap and best on test though not on dev, and one of too few seeds."""
    rows = of("a", 1e4, 2.0, 2.2) + of("b", 2e4, 2.1, 2.0) + of("c", 3e4, 1.8, 2.1) + of("d", 4e4, 1.9, 1.7)
    return as_frame(rows + of("e", 5e4, 1.0, 1.0, seeds=2))


def test_dev_chooses_and_test_is_shown(runs):
    found = nets(runs, "dev_bpc", "test_bpc")
    assert [name[0] for name in found["variant"]] == ["a", "b", "c", "d"]
    assert frontier(found, "min") == [0, 2]  # a, and from 3e4 on c
    assert frontier(found.assign(decides=-found["decides"]), "max") == [0, 2]
    assert frontier(found.assign(**{"macs_executed": [1e4, 1e4, 3e4, 3e4]}), "min") == [0, 2]  # one at each cost


def test_translations_are_chosen_by_the_score_that_is_shown():
    """Label smoothing makes perplexity worse and BLEU better: the loss would choose the net without."""
    scores = {"plain": (1e4, 8.0, 20.0), "smoothed": (1e4, 9.0, 25.0), "c": (3e4, 9.5, 19.0), "d": (4e4, 9.6, 18.0)}
    rows = [
        translated(variant=variant, seed=seed, macs_executed=cost, dev_ppl=ppl, dev_bleu=bleu + seed, test_bleu=bleu)
        for variant, (cost, ppl, bleu) in scores.items()
        for seed in (1, 2, 3)
    ]
    (text,) = budget_page(as_frame(rows))["texts"]
    assert [line["name"].partition(",")[0] for line in text["lines"]] == ["smoothed"] and "BLEU" in text["decides"]


def test_runs_whose_trial_chose_the_recipe_are_not_their_own_rivals(runs):
    """They hold the numbers of the recipe's runs."""
    trial = {"tuning": "trial", "digest": "trial", "factors": {"lr": 1.0}}
    copies = runs[runs["variant"] == "c"].assign(tuning="tuned", follows="trial", configuration="copies")
    copies["digest"] = "copy of " + copies["digest"]
    tried = pd.concat([runs, runs.iloc[:1].assign(**{key: [value] for key, value in trial.items()}), copies])
    assert budget_page(tried)["texts"][0]["nets"] == 4
    other = tried.assign(factors=tried["factors"].map(lambda factors: factors and {"lr": 2.0}))
    assert budget_page(other)["texts"][0]["nets"] == 5


def test_the_next_best_is_the_best_of_those_that_cost_no_more_than_is_allowed(runs):
    (text,) = budget_page(runs)["texts"]
    first, second = text["lines"]
    assert (first["cost"], first["until"], second["until"]) == (1e4, 3e4, None)
    assert first["second"].startswith("b") and second["second"].startswith("d")
    assert first["sure"].startswith("0.2000 worse than the next best (") and "test does not" in first["sure"]
    assert second["sure"].startswith("0.4000 worse")  # d is better on test, and dev did not choose it
    assert text["nets"] == 4


def test_a_cost_that_is_chosen_names_the_net_to_take(runs, page, tmp_path):
    """By the slider and as a number; where the script does not run, the table says the same."""
    site = Site(tmp_path / "results", tmp_path)
    site.write("budget.html.j2", "budget.html", **budget_page(runs))
    page.goto((tmp_path / "budget.html").as_uri())
    text = page.locator("section.budget").first
    rows = text.locator("tr[data-cost]")
    costs = [float(row.get_attribute("data-cost")) for row in rows.all()]
    assert costs == sorted(costs)
    for number, cost in enumerate(costs):
        text.locator('input[type="text"]').fill(f"{1.001 * cost:.0f}")
        page.keyboard.press("Enter")
        assert rows.nth(number).evaluate("row => row.classList.contains('chosen')")
        assert rows.nth(number).locator("a").inner_text() in text.locator(".take").inner_text()
    text.locator('input[type="range"]').focus()
    page.keyboard.press("Home")
    assert rows.first.evaluate("row => row.classList.contains('chosen')") and "cost." in page.url


def test_nets_that_were_trained_longer_say_so(runs):
    assert not any("updates" in name for name in nets(runs, "dev_bpc", "test_bpc")["variant"])
    longer = runs.assign(steps=runs["steps"].mask(runs["variant"] == "c", 20))
    named = nets(longer, "dev_bpc", "test_bpc")["variant"].tolist()
    assert "c, S = 64, width 16, 20 updates" in named and "a, S = 64, width 16, 10 updates" in named


def test_where_all_cost_the_same_there_is_nothing_to_choose(runs):
    assert not budget_page(runs.assign(macs_executed=1e4))["texts"]
