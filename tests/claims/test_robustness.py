"""Evidence in addition to one recipe: tuned variants and other model sizes, by hand."""

from dataclasses import replace

import pandas as pd
import pytest

from tests._costs import split_costs
from tests._runs import run
from workflow.claims.collect import collect, collect_sizes, collect_tuned
from workflow.claims.ledger import Ledger, compare_sets, judge_all
from workflow.claims.schema import load_claim
from workflow.report.answers import size_pairs
from workflow.report.answers.answer import Answer
from workflow.report.answers.answering import answer_question, read_basis
from workflow.report.answers.evidence import trends
from workflow.report.answers.tuning import tuning_table
from workflow.report.pages.headline_claims import headline_claims_page
from workflow.results.runs_table import Frames, join_frames
from workflow.tasks.spec import TASKS

NAME = "adaptive_as_good_as_fixed"
CLAIM = load_claim(NAME)
RATES = (0.5, 1.0, 2.0)
TASK = TASKS["char_lm"]
RECIPE = {
    "size": 1.0,
    "tuning": None,
    "factors": {},
    "follows": None,
    "lr": 0.004,
    "late_gain": 0.0,
}


def scored(variant: str, score: float, question="span_limit", **changes) -> list[dict]:
    """Make three seeds around a score; those of fixed spans are a thousandth further apart."""
    parts = [question, variant, *changes.values()]
    name = "-".join(map(str, parts))
    about = RECIPE | changes
    offsets = [-0.01, 0.0, 0.01]
    if variant == "fixed":
        offsets[-1] = 0.011
    rows = []
    for seed, off in enumerate(offsets, 1):
        about["configuration"] = name
        about["digest"] = f"{name}-{seed}"
        about["dev_bpc"] = score + off
        about["test_bpc"] = score + off
        rows.append(run(question, variant, seed, **about))
    return rows


def tried(variant: str, *scores: float) -> list[dict]:
    """Make trials at three rates, and the runs that follow the best of them."""
    rows = []
    for rate, score in zip(RATES, scores, strict=True):
        trial = RECIPE | {
            "tuning": "trial",
            "factors": {"lr": rate},
            "lr": 0.004 * rate,
            "digest": f"trial-{variant}-{rate}",
            "dev_bpc": score,
        }
        rows.append(run("span_limit", variant, 101, **trial))
    best = min(scores)
    position = scores.index(best)
    rate = RATES[position]
    rows += scored(
        variant,
        best,
        tuning="tuned",
        follows=f"trial-{variant}-{rate}",
        lr=0.004 * rate,
    )
    return rows


def frames(rows: list[dict]) -> Frames:
    runs, costs = split_costs(rows)
    return join_frames({"runs": runs, **costs}, "here")


@pytest.fixture
def tuned() -> Frames:
    """Adaptive spans are .1 worse on one recipe, and .1 better where both are tuned."""
    rows = scored("fixed", 2.0)
    rows += scored("adaptive", 2.1)
    rows += tried("fixed", 2.2, 2.0, 2.3)
    rows += tried("adaptive", 2.3, 2.1, 1.9)
    return frames(rows)


def test_a_claim_is_judged_again_where_each_variant_is_tuned(tuned):
    line = collect_tuned(NAME, CLAIM, tuned)
    assert (line.n, line.looks) == (3, 1)
    assert line.effect == pytest.approx(-0.1, abs=0.001)
    # tables and figures see none of these runs
    assert tuned.runs["tuning"].isna().all()
    # a learning rate changes no memory
    name = "adaptive_trains_in_less_memory"
    memory = load_claim(name)
    assert collect_tuned(name, memory, tuned) is None
    others = tuned.others
    is_tuned = others["tuning"] == "tuned"
    is_fixed = others["variant"] == "fixed"
    left_out = is_tuned & is_fixed
    one_side = replace(tuned, others=others[~left_out])
    assert collect_tuned(NAME, CLAIM, one_side) is None


def test_the_table_of_trials_says_what_was_chosen_and_where_the_grid_ends(tuned):
    table = tuning_table(tuned.everything, "dev_bpc", TASK)
    fixed, adaptive = table.lines
    chosen = [trial.chosen for trial in fixed.trials]
    assert chosen == [False, True, False]
    assert fixed.lr == 0.004
    assert fixed.recipe
    assert not fixed.edge
    assert adaptive.lr == 0.008
    assert adaptive.edge
    assert adaptive.effect.mean == pytest.approx(-0.2)
    assert table.edges == [adaptive.variant]


def say(runs: pd.DataFrame) -> Answer:
    basis = read_basis(runs, TASK, has_trials=True)
    return answer_question(basis)


BEST_IN_THE_MIDDLE = (2.2, 2.0, 2.3)
BEST_AT_THE_END = (2.3, 2.1, 1.9)


@pytest.mark.parametrize(
    "recipe, fixed, adaptive, settings, mean, contradicted",
    [
        # -.1, -.1, -.101 tuned; .1, .1, .099 with the recipe's settings
        (2.1, BEST_IN_THE_MIDDLE, BEST_AT_THE_END, "tuned", -0.1003, "0.0997"),
        # the trials of fixed spans make up what adaptive ones are better
        (1.9, (2.2, 2.0, 1.9), (2.3, 1.9, 2.1), "tuned", -0.0003, "0.1003"),
        (2.1, BEST_IN_THE_MIDDLE, (2.3, 2.1, 2.2), "recipe tuned", 0.0997, ""),
        # tuned compared with untuned is no comparison
        (2.1, (), BEST_AT_THE_END, "untuned", 0.0997, ""),
    ],
)
def test_a_question_is_answered_with_each_variant_tuned_if_both_are(
    recipe, fixed, adaptive, settings, mean, contradicted
):
    rows = scored("fixed", 2.0)
    rows += scored("adaptive", recipe)
    if fixed:
        rows += tried("fixed", *fixed)
    rows += tried("adaptive", *adaptive)
    collected = frames(rows)
    said = say(collected.everything)
    assert said.settings == settings
    assert said.difference.mean == pytest.approx(mean, abs=1e-4)
    too_small = abs(mean) < 0.01
    assert said.status == ("inconclusive" if too_small else "answered")
    assert contradicted in " ".join(said.caveats)


@pytest.fixture
def ladder() -> Frames:
    """Adaptive spans are worse up to size 1, and .2 better above; Transformer-XL .5 worse."""
    effects = {0.25: 0.2, 0.5: 0.1, 1.0: 0.05, 2.0: -0.2}
    rows = []
    for size, effect in effects.items():
        shape = {
            "size": size,
            "parameters": 1000 * size**2,
            "macs_executed": 1e4 * size**2,
        }
        rows += scored("fixed", 2.0, "span_scaling", **shape)
        rows += scored("adaptive", 2.0 + effect, "span_scaling", **shape)
        rows += scored("txl", 2.5, "span_scaling", **shape)
    return frames(rows)


def trends_of(runs: pd.DataFrame) -> list:
    basis = read_basis(runs, TASK, has_trials=False)
    return trends(basis.recipe.scored, basis.of, "dev_bpc", "bpc")


def test_a_claim_with_a_ladder_and_each_pair_of_variants_has_its_effect_at_each_size(ladder):
    rungs = collect_sizes(NAME, CLAIM, ladder)
    effects = {rung.size: round(rung.effect, 2) for rung in rungs}
    assert effects == {0.25: 0.2, 0.5: 0.1, 1.0: 0.05, 2.0: -0.2}
    assert rungs[0].parameters.ours == 62.5
    pairs = size_pairs.data(ladder.at_every_size, "dev_bpc")
    by_label = pairs.set_index("label")
    means = by_label.loc["Transformer-XL − adaptive span", "mean"]
    assert means.round(2).tolist() == [0.3, 0.4, 0.45, 0.7]
    assert pairs["n"].tolist() == [3] * 12


def test_over_sizes_the_largest_models_answer_and_the_change_is_judged(ladder):
    """Adaptive spans go from .1997 worse to .2003 better; Transformer-XL stays .5 worse."""
    runs = ladder.at_every_size
    said = say(runs)
    assert (said.kind, said.status) == ("sizes", "answered")
    means = {each.variant: each.mean for each in said.differences}
    expected = {"adaptive span": -0.2003, "Transformer-XL": 0.4997}
    assert means == pytest.approx(expected, abs=5e-5)
    adaptive, xl = trends_of(runs)
    assert adaptive.changed
    assert not xl.changed
    assert adaptive.small.mean == pytest.approx(0.1997, abs=1e-4)
    assert adaptive.change.mean == pytest.approx(-0.4)
    middle = runs["size"] == 1
    late_gain = runs["late_gain"].where(middle, 0.3)
    late = runs.assign(late_gain=late_gain)
    assert say(late).status == "not converged"


def test_a_change_over_sizes_is_of_corpora_on_which_both_ends_were_trained(ladder):
    """On the other corpus models have another vocabulary, so other numbers of parameters."""
    runs = ladder.at_every_size
    is_small = runs["size"] < 2
    small = runs[is_small]
    other = small.assign(
        corpus="topics",
        digest="other-" + small["digest"],
        parameters=999,
    )
    both = pd.concat([runs, other])
    said = say(both)
    assert said.corpora == ("Python sources in 27 letters",)


def test_the_page_of_headlines_has_forecasts_only_with_their_score(ladder, tuned):
    claims = {NAME: CLAIM}
    (collected,) = collect(claims, tuned)
    sizes = collect_sizes(NAME, CLAIM, ladder)
    sized = replace(collected, sizes=sizes, abstract="It is.")
    judged = judge_all([sized], claims)
    (line,) = compare_sets(judged, "laptop", "laptop", [])
    ledger = Ledger("laptop", (), (line,))
    page = headline_claims_page(ledger)
    _, (row,) = page.papers[0]
    assert row.tuned.verdict
    assert row.differs
    assert len(row.sizes) == 4
    forecasts = row.forecasts
    ladders = [each.score.ladders for each in forecasts.told]
    assert ladders == [1, 1, 1]
    assert forecasts.times == pytest.approx(38.36e6 / 4000, rel=0.02)
    # .2, .1, .05 go on falling, below zero
    signs = [each.sign for each in page.scores["all"]]
    assert signs == [0, 1, 1]
