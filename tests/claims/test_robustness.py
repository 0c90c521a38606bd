"""Evidence in addition to one recipe: tuned variants and other model sizes, by hand."""

from dataclasses import fields, replace

import pandas as pd
import pytest

from tests._costs import split_costs
from tests._runs import run
from workflow.claims.evidence import Evidence, LedgerLine, Line, Parameters, SetEvidence
from workflow.claims.ledger import Ledger, collect, judge_all
from workflow.claims.robustness import collect_sizes, collect_tuned
from workflow.claims.schema import load_claim
from workflow.report.answers import size_pairs, sizes
from workflow.report.answers.answer import Answer
from workflow.report.answers.answering import answer_question, read_basis
from workflow.report.answers.caveats import missing_sizes
from workflow.report.answers.model_sizes import trends
from workflow.report.answers.tuning import doubts, tuning_table
from workflow.report.figures.style import as_svg
from workflow.report.pages.headline_claims import headline_claims_page
from workflow.report.pages.question import compare_variants
from workflow.results.runs_table import Frames, join_frames
from workflow.tasks.spec import TASKS

NAME = "adaptive_as_good_as_fixed"
CLAIM = load_claim(NAME)
RATES = (0.5, 1.0, 2.0)
TASK = TASKS["char_lm"]


def scored(variant: str, score: float, question="span_limit", **changes) -> list[dict]:
    """Three seeds around a score."""
    name = "-".join(map(str, (question, variant, *changes.values())))
    about = {"size": 1.0, "tuning": None, "factors": {}, "follows": None, "lr": 0.004, **changes}
    about |= {"late_gain": 0.0, "configuration": name}
    rows = []
    for seed, off in ((1, -0.01), (2, 0.0), (3, 0.011 if variant == "fixed" else 0.01)):
        scores = {"dev_bpc": score + off, "test_bpc": score + off, "digest": f"{name}-{seed}"}
        rows.append(run(question, variant, seed, **about) | scores)
    return rows


def tried(variant: str, scores: tuple) -> list[dict]:
    """Trials at three rates, and the runs that follow the best of them."""
    rows = []
    for rate, score in zip(RATES, scores, strict=True):
        (row,) = scored(variant, score, tuning="trial", factors={"lr": rate}, lr=0.004 * rate)[:1]
        rows.append(row | {"seed": 101, "digest": f"trial-{variant}-{rate}", "dev_bpc": score})
    best = RATES[scores.index(min(scores))]
    return rows + scored(
        variant, min(scores), tuning="tuned", follows=f"trial-{variant}-{best}", lr=0.004 * best
    )


def frames(rows: list[dict]) -> Frames:
    runs, costs = split_costs(rows)
    return join_frames({"runs": runs, **costs}, "here")


@pytest.fixture
def tuned() -> Frames:
    """Adaptive spans are .1 worse on one recipe, and .1 better where both are tuned."""
    rows = scored("fixed", 2.0) + scored("adaptive", 2.1)
    return frames(rows + tried("fixed", (2.2, 2.0, 2.3)) + tried("adaptive", (2.3, 2.1, 1.9)))


def test_a_claim_is_judged_again_where_each_variant_is_tuned(tuned):
    line = collect_tuned(NAME, CLAIM, tuned)
    assert (line.n, line.looks) == (3, 1) and line.effect == pytest.approx(-0.1, abs=0.001)
    assert set(tuned.runs["tuning"].isna()) == {True}  # what tables and figures see
    assert collect_tuned(NAME, CLAIM, Frames(tuned.runs, None)) is None
    cost = load_claim("adaptive_trains_in_less_memory")
    # a rate changes none
    assert collect_tuned("adaptive_trains_in_less_memory", cost, tuned) is None
    # without a pair there is no verdict
    is_tuned = tuned.others["tuning"] == "tuned"
    alone = tuned.others[~(is_tuned & (tuned.others["variant"] == "fixed"))]
    assert collect_tuned(NAME, CLAIM, replace(tuned, others=alone)) is None


def test_the_table_of_trials_says_what_was_chosen_what_it_changes_and_where_the_grid_ends(tuned):
    table = tuning_table(tuned.everything, "dev_bpc", "dev_bpc")
    fixed, adaptive = table.lines
    assert [trial.chosen for trial in fixed.trials] == [False, True, False]
    assert (fixed.lr, fixed.edge, fixed.effect.mean) == (0.004, False, 0.0)
    assert (adaptive.lr, adaptive.edge) == (0.008, True)
    assert adaptive.effect.mean == pytest.approx(-0.2) and table.seed == 101
    assert table.edges == [adaptive.variant]
    assert tuning_table(tuned.runs, "dev_bpc", "dev_bpc") is None
    assert (fixed.recipe, adaptive.recipe) == (True, False)


@pytest.mark.parametrize(
    "trials, seeds, lead, apart, sure",
    [
        ((2.2, 2.0, 2.3), 3, 0.2, 0.06392, True),  # the root of 2 times .010504 times t: 4.3027
        ((2.05, 2.0, 2.3), 3, 0.05, 0.06392, False),
        ((2.2, 2.0, 2.3), 2, 0.2, None, False),  # two seeds say too little of what chance does
    ],
)
def test_the_lead_of_a_trial_stands_beside_what_two_seeds_differ_by(
    trials, seeds, lead, apart, sure
):
    rows = scored("fixed", 2.0)[:seeds] + scored("fixed", 1.0, S=2048) + tried("fixed", trials)
    (line,) = tuning_table(frames(rows).everything, "dev_bpc", "dev_bpc").lines
    assert line.lead == pytest.approx(lead) and line.sure is sure
    assert line.apart == (apart and pytest.approx(apart, abs=1e-5))


def said_of(runs: pd.DataFrame, *, has_trials: bool = True) -> Answer:
    return answer_question(read_basis(runs, TASK, has_trials=has_trials))


def test_a_question_is_answered_with_each_variant_tuned_and_notes_the_recipe(tuned):
    """Adaptive less fixed: -.1, -.1, -.101 tuned, which is -.1003; .1, .1, .099 with the recipe's
    settings.
    """
    said = said_of(tuned.everything)
    assert (said.status, said.settings) == ("answered", "tuned")
    assert said.difference.mean == pytest.approx(-0.1003, abs=1e-4)
    assert any("0.0997 bpc worse" in each for each in said.caveats)  # the recipe says the opposite
    page = compare_variants(tuned, TASK)
    headings, tables = zip(*page.tables, strict=True)
    assert ["tuned" in each for each in headings] == [True, False]
    effects = [next(line.effect.mean for line in each.lines if line.effect) for each in tables]
    assert effects == pytest.approx([-0.1003, 0.0997], abs=1e-4)
    assert page.figures[0].name == "answer-tuned-effect"


def test_an_effect_that_trials_make_up_is_inconclusive():
    """With the recipe's settings adaptive spans are .1 better; the trials of fixed spans make that
    up.
    """
    rows = scored("fixed", 2.0) + scored("adaptive", 1.9)
    made = frames(rows + tried("fixed", (2.2, 2.0, 1.9)) + tried("adaptive", (2.3, 1.9, 2.1)))
    said = said_of(made.everything)
    assert said.status == "inconclusive" and any(
        "0.1003 bpc better" in each for each in said.caveats
    )


def test_an_answer_says_where_variants_are_not_tuned_and_where_trials_chose_the_recipe(tuned):
    assert (
        said_of(tuned.runs).settings == "untuned"
        and said_of(tuned.runs, has_trials=False).settings == "recipe"
    )
    rows = scored("fixed", 2.0) + scored("adaptive", 2.1)
    kept = frames(rows + tried("fixed", (2.2, 2.0, 2.3)) + tried("adaptive", (2.3, 2.1, 2.2)))
    said = said_of(kept.everything)
    assert said.settings == "recipe tuned" and said.difference.mean == pytest.approx(
        0.0997, abs=1e-4
    )
    assert len(compare_variants(kept, TASK).tables) == 1
    # tuned compared with untuned is no comparison
    alone = frames(rows + tried("adaptive", (2.3, 2.1, 1.9)))
    said = said_of(alone.everything)
    assert said.settings == "untuned" and said.difference.mean == pytest.approx(0.0997, abs=1e-4)


def test_it_is_noted_whose_rate_may_be_noise(tuned):
    table = tuning_table(tuned.everything, "dev_bpc", "dev_bpc")
    assert doubts(table) == [] == doubts(None)
    (said,) = doubts(replace(table, lines=[replace(table.lines[0], sure=False), table.lines[1]]))
    assert "fixed span" in said and "adaptive" not in said


@pytest.fixture
def ladder() -> Frames:
    """Adaptive spans beside fixed ones: worse up to the scale's size, .2 better above."""
    rows = []
    for size, effect in ((0.25, 0.2), (0.5, 0.1), (1.0, 0.05), (2.0, -0.2)):
        for variant, score in (("fixed", 2.0), ("adaptive", 2.0 + effect), ("txl", 2.5)):
            shape = {"size": size, "parameters": 1000 * size**2, "macs_executed": 1e4 * size**2}
            rows += scored(variant, score, "span_scaling", **shape)
    return frames(rows)


def test_a_claim_with_a_ladder_has_its_effect_at_each_size(ladder):
    rungs = collect_sizes(NAME, CLAIM, ladder)
    assert [rung.size for rung in rungs] == [0.25, 0.5, 1.0, 2.0]
    assert [round(rung.effect, 2) for rung in rungs] == [0.2, 0.1, 0.05, -0.2]
    assert rungs[0].parameters == Parameters(62.5, 62.5) and len(rungs[0].pairs) == 3
    other = "dynamic_equals_adaptive"
    assert collect_sizes(other, load_claim(other), ladder) == ()


def test_scores_over_size_are_numbers_and_a_figure(ladder):
    numbers = sizes.data(ladder.at_every_size, "dev_bpc")
    mine = numbers[numbers["variant"] == "adaptive span"]
    assert (
        mine["score"].round(2).tolist() == [2.2, 2.1, 2.05, 1.8] and mine["n"].tolist() == [3] * 4
    )
    assert mine["cost"].tolist() == [625.0, 2500.0, 10000.0, 40000.0]
    assert "adaptive span" in as_svg(sizes.draw(numbers, "dev_bpc", "dev bpc", "character"))


def test_every_pair_of_variants_has_its_difference_over_size(ladder):
    pairs = size_pairs.data(ladder.at_every_size, "dev_bpc")
    means = pairs.groupby("label")["mean"].agg(lambda of: of.round(2).tolist())
    assert means["adaptive span − fixed span"] == [0.2, 0.1, 0.05, -0.2]
    assert means["Transformer-XL − adaptive span"] == [0.3, 0.4, 0.45, 0.7]
    assert pairs["label"].nunique() == 3 and pairs["n"].tolist() == [3] * 12
    assert len(size_pairs.draw(pairs, "dev_bpc", "dev bpc").axes) == 3


def test_over_sizes_the_largest_models_answer_and_the_change_is_judged(ladder):
    """Adaptive spans go from .1997 worse to .2003 better; Transformer-XL stays .5 worse."""
    runs = ladder.at_every_size
    said = said_of(runs)
    assert (said.kind, said.status) == ("sizes", "answered")
    of = {each.variant: round(each.mean, 4) for each in said.differences}
    assert (
        of == {"adaptive span": -0.2003, "Transformer-XL": 0.4997}
        and "4,000 parameters" in said.headline
    )
    basis = read_basis(runs, TASK, has_trials=False)
    adaptive, xl = trends(basis.recipe.scored, basis.of, "dev_bpc", "bpc")
    assert (adaptive.changed, xl.changed) == (True, False) and adaptive.parameters == (62.5, 4000.0)
    assert adaptive.small.mean == pytest.approx(
        0.1997, abs=1e-4
    ) and adaptive.change.mean == pytest.approx(-0.4)
    stuck = (runs["size"] == 2) & (runs["variant"] == "txl")
    lost = runs.assign(
        status=runs["status"].mask(stuck, "failed to train"),
        reason=runs["reason"].mask(stuck, "at chance"),
    )
    lost["dev_bpc"] = lost["dev_bpc"].mask(stuck)
    assert any("size 2: 3 runs failed (at chance)" in each for each in said_of(lost).notes)
    late = runs.assign(late_gain=runs["late_gain"].where(runs["size"] == 1, 0.3))
    assert said_of(late).status == "not converged"
    assert said_of(runs[runs["size"] == 1]).kind == "variants"
    assert missing_sizes([0.25, 0.5, 1, 2], runs) == []
    assert "4" in missing_sizes([1, 4], runs)[0]
    some = runs[(runs["size"] != 2) | (runs["variant"] == "adaptive")]
    assert "1 of 3" in missing_sizes([1, 2], some)[0]


def test_models_whose_spans_have_hardly_moved_have_no_effect_at_their_size(ladder):
    """Adaptive spans of the smallest models stay at 9 after a start at 8."""
    least = ladder.others["size"].min()
    smallest = (ladder.others["size"] == least) & (ladder.others["variant"] == "adaptive")
    ladder.others.loc[smallest, ["start_span", "mean_span"]] = (8.0, 9.0)
    rungs = collect_sizes(NAME, CLAIM, ladder)
    assert [rung.effect is None for rung in rungs] == [rung.size == least for rung in rungs]
    runs = ladder.at_every_size
    basis = read_basis(runs, TASK, has_trials=False)
    adaptive, _ = trends(basis.recipe.scored, basis.of, "dev_bpc", "bpc")
    assert adaptive.small.mean == pytest.approx(0.0997, abs=1e-4)  # at half the size
    assert 0.25 not in set(
        size_pairs.data(runs, "dev_bpc").query("variant == 'adaptive span'")["size"]
    )


def test_a_change_over_sizes_is_that_of_the_texts_that_models_of_both_ends_were_trained_on(ladder):
    """Elsewhere the smallest models have other vocabularies, so other numbers of parameters."""
    runs = ladder.at_every_size
    other = runs[runs["size"] < 2].assign(
        corpus="topics", digest="other-" + runs["digest"], parameters=999
    )
    said = said_of(pd.concat([runs, other]))
    assert said.corpora == ("Python sources in 27 letters",) and "4,000 parameters" in said.headline


def page_of(*lines: LedgerLine) -> dict:
    return headline_claims_page(Ledger("laptop", (), lines))


def row_of(*lines: LedgerLine) -> dict:
    """Return the first row of the page of headline claims."""
    return page_of(*lines)["papers"][0][1][0]


def headline(line: Line, *sets: SetEvidence) -> LedgerLine:
    content = vars(line) | {"sets": sets, "speaks": sets[0].set, "overall": line.verdict}
    return LedgerLine(**content | {"abstract": "It is as good."})


def set_of(line: Line, scale: str, **changes) -> SetEvidence:
    content = {each.name: getattr(line, each.name) for each in fields(Evidence)}
    return SetEvidence(set=scale, scale=scale, **content | changes)


def test_the_page_of_headlines_has_forecasts_only_with_their_score(ladder, tuned):
    sized = replace(collect([NAME], tuned)[0], sizes=collect_sizes(NAME, CLAIM, ladder))
    (line,) = judge_all([sized])
    full = headline(line, set_of(line, "laptop"))
    row = row_of(full)
    assert row["tuned"]["verdict"] and row["differs"] and len(row["sizes"]) == 4
    assert [each["score"].ladders for each in row["forecasts"]["told"]] == [1, 1, 1]
    assert row["forecasts"]["agree"]
    assert row["forecasts"]["times"] == pytest.approx(38.36e6 / 4000, rel=0.02)
    # .2, .1, .05 go on falling, below zero
    assert [each.sign for each in page_of(full)["scores"]["all"]] == [0, 1, 1]
    row = row_of(headline(line, set_of(line, "laptop", tuned=None, sizes=None)))
    assert (row["tuned"], row["sizes"], row["forecasts"]["told"]) == (None, [], [])
    assert row["untuned"]


def test_the_longest_ladder_is_shown_and_all_of_them_test_the_predictors(ladder):
    rungs = collect_sizes(NAME, CLAIM, ladder)
    (line,) = judge_all(collect([NAME], ladder))
    small = set_of(line, "small", tuned=None, sizes=rungs[2:3])
    overnight = set_of(line, "overnight", tuned=None, sizes=rungs)
    laptop = set_of(line, "laptop", tuned=None, sizes=rungs[1:])
    shown = headline(line, small, overnight, laptop)
    row = row_of(shown)
    assert (row["of_sizes"], len(row["sizes"])) == ("overnight", 4)
    page = page_of(shown)
    assert {each.ladders for each in page["scores"]["all"]} == {2}
    assert page["few"] and not page["trusted"]
    often = headline(line, small, overnight, laptop, overnight, overnight, overnight)
    page = page_of(often)
    assert {each.ladders for each in page["scores"]["all"]} == {5}
    assert not page["few"] and len(page["scores"]) == 1
    scores = page_of(often, replace(often, unit="BLEU"))["scores"]
    ladders = {part: alone[0].ladders for part, alone in scores.items()}
    assert ladders == {"all": 10, "bpc": 5, "BLEU": 5}
