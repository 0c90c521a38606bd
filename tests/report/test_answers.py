"""The answer to a question without code of its own: numbers worked out by hand, their status,
caveats and figures.
"""

import math

import numpy as np
import pytest

from tests._runs import failed, run, translated
from workflow.claims.tolerances import tolerances
from workflow.config.errors import ConfigError
from workflow.report.answers import curves_figure
from workflow.report.answers.answer import (
    COST_TITLES,
    Answer,
    Ratio,
    write_interval,
    write_size,
)
from workflow.report.answers.answering import (
    MOST_WORDS,
    answer_question,
    answers_by_baseline,
    read_basis,
)
from workflow.report.answers.effects import (
    OWN,
    baselines,
    change_along,
    compare_places,
    list_places,
)
from workflow.report.answers.files import answer_file, read_answer, write_answer_file
from workflow.report.answers.forest import forest_of
from workflow.report.answers.ratios import Growth, growth
from workflow.report.answers.variants import variant_table
from workflow.results.datasets import with_titles
from workflow.results.record import write_text
from workflow.results.runs_table import as_frame
from workflow.results.trained_enough import hardly_moved
from workflow.tasks.spec import TASKS

CHAR_LM, TRANSLATION = TASKS["char_lm"], TASKS["translation"]
T2, T4 = 4.302653, 2.776445  # Student's t at 97.5 % with two degrees of freedom, and with four


def scored(variant: str, *values: float, **changes) -> list[dict]:
    """Runs of seeds 1, 2, ... with these bpc, on one text; the order of the seeds says nothing."""
    rows = [
        run("adaptive_vs_xl", variant, seed, dev_bpc=bpc, **changes)
        for seed, bpc in enumerate(values, 1)
    ]
    return [row | {"digest": f"{row['digest']}-{row['corpus']}"} for row in rows[::-1]]


def basis_of(rows: list[dict], task=CHAR_LM):
    return read_basis(as_frame(rows), task, has_trials=False)


def say(rows: list[dict], task=CHAR_LM, equal_within=None) -> Answer:
    said = answer_question(basis_of(rows, task), equal_within)
    assert len(said.sentence.split()) <= MOST_WORDS
    assert len(said.caveats) <= 2
    return said


def states(said: Answer) -> dict[tuple, str]:
    return {(each.variant, each.S, each.k): each.state for each in said.differences}


def test_differences_are_paired_by_seed_and_their_interval_is_students():
    """-.1, -.2, -.3: mean -.2, standard error .1 / sqrt(3); unpaired they would be lost in the
    scatter of the seeds.
    """
    rows = [*scored("short", 2.0, 3.0, 4.0), *scored("long", 1.9, 2.8, 3.7)]
    runs = with_titles(as_frame(rows))
    effect = compare_places(list_places(runs, "dev_bpc"), baselines(runs))[0].effect
    half = T2 * 0.1 / math.sqrt(3)
    assert (effect.mean, effect.n) == (pytest.approx(-0.2), 3)
    assert (effect.low, effect.high) == (pytest.approx(-0.2 - half), pytest.approx(-0.2 + half))
    assert effect.significant == (half < 0.2)
    assert not effect.significant
    line = variant_table(as_frame(rows), "dev_bpc", {}).lines[1]
    assert (line.variant, line.mean) == ("long", pytest.approx(2.8))
    assert line.effect == effect
    assert [(run.seed, run.score) for run in line.points] == [(3, 3.7), (2, 2.8), (1, 1.9)]


@pytest.mark.parametrize(
    "mean, low, high, size, interval",
    [
        (-0.026, -0.0444, -0.0072, "0.026 bpc better", "0.007 to 0.044"),
        (0.026, 0.0072, 0.0444, "0.026 bpc worse", "0.007 to 0.044"),
        (-0.0024, -0.0081, 0.0033, "0.0024 bpc better", "0.0033 worse to 0.0081 better"),
        (0.5, None, None, "0.5000 bpc worse", ""),
        (0.0, 0.0, 0.0, "no difference in bpc", ""),
    ],
)
def test_a_difference_is_written_in_the_direction_of_its_mean(mean, low, high, size, interval):
    half = None if low is None else (high - low) / 2
    assert write_size("dev_bpc", "bpc", mean, half) == size
    assert write_interval("dev_bpc", mean, low, high) == interval


def test_a_variant_is_compared_with_the_one_that_its_question_names():
    """Small 2.0 and 2.1, large 1.8 and 2.0: compared with small, the other large one would be no
    worse.
    """
    rows = scored("small", 2.0, 2.01, 2.02, macs_executed=100.0)
    rows += scored("other", 2.1, 2.11, 2.121, macs_executed=100.0)
    rows += scored("large", 1.8, 1.811, 1.82, label="large, deep", macs_executed=400.0)
    rows += scored(
        "other_large", 2.0, 2.01, 2.021, baseline="large", label="large other", macs_executed=200.0
    )
    said = say(rows)
    of = {
        each.variant: (each.baseline, round(each.mean, 2), each.state) for each in said.differences
    }
    assert of["other"] == ("small", 0.1, "worse")
    assert of["large, deep"] == ("small", -0.2, "better")
    assert of["large other"] == ("large, deep", 0.2, "worse")
    # the first after the baseline is the main one
    assert said.difference.variant == "other"
    assert said.baseline is None
    table = variant_table(as_frame(rows), "dev_bpc", {})
    assert table.first == table.effects[0][0] == OWN
    assert table.baselines == {"large other": "large, deep"}
    assert table.rest == "small"
    assert [line.effect and round(line.effect.mean, 2) for line in table.lines] == [
        None,
        0.1,
        -0.2,
        0.2,
    ]
    assert dict(table.effects)["small"][3].texts[0] == "0.0003"


@pytest.mark.parametrize(
    "quantity, value, number",
    [
        ("train_tokens_per_s", 2.4, "42 %"),  # 1 / 2.4
        ("train_tokens_per_s", 0.52, "1.92×"),
        ("predict_tokens_per_s", 0.25, "4.0×"),
        ("macs_executed", 0.35, "35 %"),
        ("memory_train_bytes", 2.4, "2.4×"),
    ],
)
def test_the_ratio_of_a_speed_is_written_as_that_of_a_time(quantity, value, number):
    ratio = Ratio("a", "b", None, None, quantity, value, None, None)
    assert ratio.number == number
    assert ratio.text.startswith(number)
    assert ratio.text.endswith(COST_TITLES[quantity])


def test_a_place_of_the_grid_without_a_score_at_one_end_is_in_neither_mean():
    """From S = 8 to 64 .10 better at k = 2; at k = 4, half a bit worse, the spans of S = 64 have
    hardly moved.
    """
    spans = {"span": "adaptive", "start_span": 4.0}
    rows = [
        row
        for k, level in ((2, 2.0), (4, 2.5))
        for S, off, mean_span in ((8, 0.0, 8.0), (64, -0.10, 30.0 if k == 2 else 4.5))
        for row in scored(
            "a", level + off, level + off + 0.01, level + off - 0.01, S=S, k=k, mean_span=mean_span
        )
    ]
    runs = with_titles(
        as_frame([row | spans | {"macs_executed": 1e4 * row["S"] * row["k"]} for row in rows])
    )
    moved = runs.assign(dev_bpc=runs["dev_bpc"].mask(hardly_moved(runs)))
    assert moved["dev_bpc"].isna().sum() == 3
    assert change_along(moved, "S", "dev_bpc").mean == pytest.approx(-0.10)
    assert change_along(moved, "k", "dev_bpc").mean == pytest.approx(0.5)  # of S = 8 alone
    assert growth(runs) == [
        Growth("S", 8.0, 64.0, {"a": 8.0}),
        Growth("k", 2.0, 4.0, {"a": 2.0}),
    ]


def test_a_variant_is_not_compared_where_its_spans_have_hardly_moved():
    """On a .3 better with spans that stayed at 9, on b .1 better with spans of 20."""
    fixed = [
        row
        for text in "ab"
        for row in scored("fixed", 2.0, 2.1, 2.2, corpus=text, paper_corpus=text)
    ]
    spans = {"span": "adaptive", "start_span": 8.0}
    on_a = scored("own", 1.7, 1.8, 1.901, mean_span=9.0, corpus="a", paper_corpus="a", **spans)
    on_b = scored("own", 1.9, 2.0, 2.101, mean_span=20.0, corpus="b", paper_corpus="b", **spans)
    said = say([*fixed, *on_a, *on_b])
    assert said.difference.by_corpus == {"b": pytest.approx(-0.0997, abs=1e-4)}
    assert said.corpora == ("b",)
    assert any("on b only" in each and "barely moved on a" in each for each in said.caveats)
    assert any("9 on a (barely above its initial value of 8)" in each for each in said.notes)
    lines = variant_table(as_frame([*fixed, *on_a, *on_b]), "dev_bpc", {}).lines
    effects = {
        line.text: line.effect and line.effect.mean for line in lines if line.variant == "own"
    }
    assert effects == {"a": None, "b": pytest.approx(-0.0997, abs=1e-4)}
    said = say([*fixed, *on_a])
    assert (said.status, said.difference, said.costs) == ("not tested", None, ())


SHORT, LONG = scored("short", 2.0, 2.1, 2.2), scored("long", 2.3, 2.41, 2.49)


@pytest.mark.parametrize(
    "rows, status, state, low",
    [
        ([*SHORT, *LONG], "answered", "worse", 0.275),
        ([*SHORT, *scored("long", 2.1, 2.0, 2.2)], "inconclusive", "inconclusive", -0.248),
        ([*scored("short", 2.0, 2.1, 2.2, late_gain=0.3), *LONG], "not converged", "worse", 0.275),
    ],
)
def test_a_difference_whose_interval_excludes_zero_answers_once_runs_have_converged(
    rows, status, state, low
):
    """.3, .31, .29: mean .3, standard error .01 / sqrt(3); .1, -.1, 0: mean 0, .1 / sqrt(3)."""
    said = say(rows)
    assert (said.status, said.difference.state) == (status, state)
    assert said.difference.low == pytest.approx(low, abs=1e-3)
    assert (
        said.converged
        == (status != "not converged")
        == (not any("3 of 6 runs" in each for each in said.caveats))
    )


def test_within_what_a_claim_calls_equal_two_variants_are_equivalent():
    rows = [*SHORT, *scored("long", 2.001, 2.1, 2.2)]
    assert say(rows).status == "inconclusive"
    assert say(rows, equal_within={("long", "short"): 0.02}).status == "equivalent"
    assert say(rows, equal_within={("long", "short"): 0.0001}).status == "inconclusive"
    assert tolerances("dynamic_span", "dev_bpc") == {
        ("dynamic span", "adaptive span"): 0.02,
        ("adaptive span", "dynamic span"): 0.02,
    }
    assert tolerances("dynamic_span", "test_bleu") == {}


def test_an_answer_is_written_and_read_as_the_same_typed_data(tmp_path):
    rows = [*SHORT, *LONG, *scored("other", 1.0, 1.1, 1.3, macs_executed=1.0)]
    said = say(rows)
    assert said.difference
    assert said.others
    write_answer_file(tmp_path, "mine", said)
    assert read_answer(tmp_path, "mine") == said
    write_text(answer_file(tmp_path, "old"), '{"status": "Found", "sentence": "a"}')
    with pytest.raises(ConfigError, match="old"):
        read_answer(tmp_path, "old")


def test_along_a_grid_the_largest_place_is_the_headline_and_any_significant_place_answers():
    """As many keys as are enough: 1 is 30 BLEU worse, 2 keys are inconclusive."""
    rows = [translated(seed=seed, test_bleu=90.0 + seed) for seed in (1, 2, 3)]
    for k, scores in ((1, (61.0, 62.1, 62.9)), (2, (91.1, 91.9, 93.1))):
        rows += [
            translated(variant="top_k", seed=n, k=k, test_bleu=bleu)
            for n, bleu in enumerate(scores, 1)
        ]
    said = say(rows, TRANSLATION)
    assert states(said) == {("top-k", None, 2): "inconclusive", ("top-k", None, 1): "worse"}
    assert (said.status, said.kind, said.difference.k) == ("answered", "curve", 2)
    assert said.difference.quantity == "test_bleu"
    assert " at k = 2 (" in said.headline
    (change,) = basis_of(rows, TRANSLATION).recipe.changes
    assert change.difference.mean == pytest.approx(30.03, abs=0.01)


def test_where_k_keeps_every_key_two_variants_are_one_and_nothing_is_compared():
    bpc = {(8, 8): 0, (8, 32): 0, (32, 8): 0.01, (32, 32): 0}  # by S and k: what top-k adds
    rows = [row for S in (8, 32) for row in scored("all", 2.0, 2.1, 2.2, S=S)]
    for (S, k), more in bpc.items():
        rows += scored("few", 2.0 + more, 2.1 + 2 * more, 2.2 - more, S=S, k=k)
    said = say(rows)
    assert states(said) == {("few", 32, 8): "inconclusive"}
    assert any("S = 8, k = 8; S = 8, k = 32; S = 32, k = 32" in each for each in said.notes)
    beside_all = dict(variant_table(as_frame(rows), "dev_bpc", {}).effects)["all"]
    alike = [cells.texts[0] == "no pair differs" for cells in beside_all if cells]
    assert alike == [more == 0 for more in bpc.values()]


def test_many_variants_are_counted_after_holm_correction():
    """Four differences scatter by .01, the fifth by .1; .05 is significant alone, not after
    correction for five.
    """
    rows = scored("base", 2.0, 2.1, 2.2)
    rows += [row for n in range(4) for row in scored(f"v{n}", 2.01 + n, 2.11 + n, 2.2 + n)]
    rows += scored("weak", 2.02, 2.13, 2.24)
    said = say(rows)
    weak = next(each for each in said.differences if each.variant == "weak")
    assert weak.p <= 0.05 < weak.holm
    assert weak.state == "inconclusive"
    assert (said.kind, said.difference, len(said.others)) == ("many", None, 5)
    counts = [*states(said).values()]
    assert (counts.count("worse"), counts.count("inconclusive")) == (
        3,
        2,
    )
    assert said.headline.startswith("3 of 5 ")
    assert "v3" in said.sentence
    assert any("4 are significant individually, 3" in each for each in said.caveats)


def test_pairs_of_two_corpora_scatter_around_the_mean_of_their_own():
    """Differences -.10, -.12, -.11 on one, -.50, -.52, -.51 on the other.

    Mean -.31, six pairs less two means leave four degrees of freedom, s^2 = 1e-4.
    """
    a = {"paper_corpus": "text8", "corpus": "a"}
    b = {"paper_corpus": "enwik8", "corpus": "b"}
    short = [*scored("short", 2.0, 2.0, 2.0, **a), *scored("short", 2.0, 2.0, 2.0, **b)]
    long = [*scored("long", 1.9, 1.88, 1.89, **a), *scored("long", 1.5, 1.48, 1.49, **b)]
    said = say([*short, *long])
    found = said.difference
    half = T4 * 0.01 / math.sqrt(6)
    assert (found.mean, found.high) == (pytest.approx(-0.31), pytest.approx(-0.31 + half))
    assert (said.status, found.pairs, said.corpora) == ("answered", {"a": 3, "b": 3}, ("a", "b"))
    assert found.by_corpus == {"a": pytest.approx(-0.11), "b": pytest.approx(-0.51)}
    assert not said.caveats
    reversed_on_b = [*scored("long", 1.9, 1.88, 1.89, **a), *scored("long", 2.5, 2.52, 2.51, **b)]
    answer = say([*short, *reversed_on_b])
    assert answer.difference.signs_differ
    assert answer.caveats
    assert set(say([*short, *long[:3]]).difference.by_corpus) == {"a"}


def test_with_every_variant_as_the_baseline_answer_forest_and_table_change():
    rows = [
        *scored("short", 2.0, 2.01, 2.02, macs_executed=100.0),
        *scored("long", 1.9, 1.912, 1.92, macs_executed=200.0),
        *scored("longest", 1.5, 1.511, 1.52, macs_executed=400.0),
    ]
    answers = answers_by_baseline(basis_of(rows))
    assert [*answers] == ["short", "long", "longest"]
    assert [round(each.difference.mean, 2) for each in answers.values()] == [-0.1, 0.1, 0.5]
    ratios = [{each.variant: each.value for each in said.costs} for said in answers.values()]
    assert ratios == [{"long": 2.0}, {"short": 0.5}, {"short": 0.25}]  # of the headline's variant
    colours = {"short": "#000000", "long": "#111111", "longest": "#222222"}
    forest = forest_of(answers["short"], colours)
    assert [row.variant for row in forest.rows] == ["long", "longest"]
    assert all(row.low < row.mean < row.high < forest.zero for row in forest.rows)
    assert forest.left == "better"
    effects = dict(variant_table(as_frame(rows), "dev_bpc", {}).effects)
    assert [cells and cells.told for cells in effects["long"]] == [True, None, True]


def test_failed_runs_are_counted_and_are_no_answer_alone():
    rows = [
        failed(variant=variant, seed=seed) for variant in ("fixed", "adaptive") for seed in (1, 2)
    ]
    said = say(rows)
    assert (said.status, said.difference) == ("not tested", None)
    assert any(note.startswith("4 of 4 runs failed") for note in said.notes)
    one_side = [*rows[:2], *(run(variant="adaptive", seed=seed) for seed in (1, 2))]
    assert say(one_side).status == "not tested"


def test_learning_curves_of_two_k_at_the_same_S_are_two_lines():
    """Joined into one they would go up and down at every step."""
    curve = [{"step": step, "dev_bpc": 3.0 - step / 10} for step in (1, 2)]
    rows = []
    for S, k in ((32, 8), (32, 16), (64, 8), (64, 16)):
        rows += [run(S=S, k=k, seed=seed, curve=curve) for seed in (1, 2, 3)]
    data = curves_figure.data(as_frame(rows), "bpc")
    figure = curves_figure.draw(data, "bits per character", "linear")
    drawn = [line.get_xdata() for axes in figure.axes for line in axes.lines]
    drawn = [steps for steps in drawn if len(steps)]
    assert len(drawn) >= 4
    assert all((np.diff(steps) > 0).all() for steps in drawn)


def test_one_variant_alone_has_its_mean_span_or_else_its_score_on_each_corpus():
    spans = {"span": "adaptive", "S": 64, "start_span": 8.0, "max_span": 41.0}
    near = scored("adaptive", 2.0, 2.2, 2.1, mean_span=20.0, corpus="a", **spans)
    far = scored("adaptive", 2.3, 2.5, 2.4, corpus="b", **spans)
    far = [row | {"mean_span": 10.0 * row["seed"]} for row in far]  # 10, 20, 30
    said = say([*near, *far])
    assert (said.status, said.kind, said.difference) == ("answered", "level", None)
    # as far below 20 as the interval is wide no span is
    assert f"0 to {20 + T2 * 10 / math.sqrt(3):.0f} on b" in said.headline
    alone = say(scored("fixed", 2.0, 2.1, 2.2, corpus="a"))
    assert alone.kind == "level"
    assert alone.headline.startswith("2.10 bpc (95 % CI 1.85 to 2.35")
