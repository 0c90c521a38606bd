"""The answer to a question without code of its own: its numbers, by hand, and its status."""

import math

import pytest

from tests._runs import failed, run, translated
from workflow.claims.schema import tolerances
from workflow.config.errors import ConfigError
from workflow.report.answers import curves_figure, effect_figure
from workflow.report.answers.answer import (
    Answer,
    Ratio,
    answer_file,
    read_answer,
    write_answer_file,
    write_interval,
    write_size,
)
from workflow.report.answers.answering import (
    MOST_WORDS,
    answer_question,
    answers_by_baseline,
    read_basis,
)
from workflow.report.answers.effects import baselines, change_along, compare_places, list_places
from workflow.report.answers.forest import forest_of
from workflow.report.answers.ratios import Growth, growth
from workflow.report.answers.variants import variant_table
from workflow.report.tables.cells import measured
from workflow.results.datasets import with_titles
from workflow.results.record import write_text
from workflow.results.runs_table import as_frame
from workflow.results.trained_enough import hardly_moved
from workflow.tasks.spec import TASKS

# Student's t at 97.5 % with two degrees of freedom, and with four
T2 = 4.302653
T4 = 2.776445
ON_A = {"paper_corpus": "text8", "corpus": "a"}
ON_B = {"paper_corpus": "enwik8", "corpus": "b"}
BROKEN = {"status": "oom", "reason": "no memory"}


def scored(variant: str, *values: float, **changes) -> list[dict]:
    """Make runs of seeds 1, 2, ... with these bpc, on one corpus; their order says nothing."""
    rows = []
    for seed, bpc in enumerate(values, 1):
        row = run("adaptive_vs_xl", variant, seed, dev_bpc=bpc, **changes)
        if row["status"] != "ok":
            row["dev_bpc"] = None
        row["digest"] += f"-{row['corpus']}"
        rows.append(row)
    return rows[::-1]


def around(variant: str, S: int, bpc: float, **changes) -> list[dict]:
    """Three seeds around a score, each of which costs S MACs."""
    about = {"S": S, "macs_executed": float(S)} | changes
    return scored(variant, bpc, bpc + 0.011, bpc + 0.02, **about)


def basis_of(rows: list[dict], task="char_lm"):
    return read_basis(as_frame(rows), TASKS[task], has_trials=False)


def say(rows: list[dict], task="char_lm", equal_within=None) -> Answer:
    said = answer_question(basis_of(rows, task), equal_within)
    assert len(said.sentence.split()) <= MOST_WORDS
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
    assert effect.mean == pytest.approx(-0.2)
    assert effect.n == 3
    assert (effect.low, effect.high) == pytest.approx((-0.2 - half, -0.2 + half))
    assert not effect.significant
    line = variant_table(as_frame(rows), "dev_bpc", {}).lines[1]
    assert line.variant == "long"
    assert line.mean == pytest.approx(2.8)
    assert line.effect == effect


@pytest.mark.parametrize(
    "mean, low, high, size, interval",
    [
        (-0.026, -0.0444, -0.0072, "0.026 bpc better", "0.007 to 0.044"),
        (-0.0024, -0.0081, 0.0033, "0.0024 bpc better", "0.0033 worse to 0.0081 better"),
        (0.5, None, None, "0.5000 bpc worse", ""),
    ],
)
def test_a_difference_is_written_in_the_direction_of_its_mean(mean, low, high, size, interval):
    half = None if low is None else (high - low) / 2
    assert write_size("dev_bpc", "bpc", mean, half) == size
    assert write_interval("dev_bpc", mean, low, high) == interval


@pytest.mark.parametrize(
    "quantity, value, number",
    [
        ("train_tokens_per_s", 2.4, "42 %"),  # 1 / 2.4
        ("predict_tokens_per_s", 0.25, "4.0×"),
        ("macs_executed", 0.35, "35 %"),
    ],
)
def test_the_ratio_of_a_speed_is_written_as_that_of_a_time(quantity, value, number):
    assert Ratio("a", "b", None, None, quantity, value, None, None).number == number


def test_a_variant_is_compared_with_the_one_that_its_question_names():
    """Compared with small, the other large one would be no worse."""
    rows = scored("small", 2.0, 2.01, 2.02)
    rows += scored("other", 2.1, 2.11, 2.121)
    rows += scored("large", 1.8, 1.811, 1.82, label="large, deep")
    rows += scored("other_large", 2.0, 2.01, 2.021, baseline="large", label="large other")
    said = say(rows)
    of = {each.variant: (each.baseline, round(each.mean, 2)) for each in said.differences}
    assert of["other"] == ("small", 0.1)
    assert of["large, deep"] == ("small", -0.2)
    assert of["large other"] == ("large, deep", 0.2)
    # the first after the baseline is the main one
    assert said.difference.variant == "other"
    table = variant_table(as_frame(rows), "dev_bpc", {})
    assert table.baselines == {"large other": "large, deep"}
    effects = [line.effect and round(line.effect.mean, 2) for line in table.lines]
    assert effects == [None, 0.1, -0.2, 0.2]


def test_a_place_of_the_grid_without_a_score_at_one_end_is_in_neither_mean():
    """From S = 8 to 64 .10 better at k = 2; at k = 4, half a bit worse, the spans of S = 64 have
    hardly moved.
    """
    rows = []
    for S, k, bpc, mean_span in (
        (8, 2, 2.0, 8.0),
        (64, 2, 1.9, 30.0),
        (8, 4, 2.5, 8.0),
        (64, 4, 2.4, 4.5),
    ):
        about = {"span": "adaptive", "start_span": 4.0, "mean_span": mean_span}
        rows += around("a", S, bpc, k=k, macs_executed=1e4 * S * k, **about)
    runs = with_titles(as_frame(rows))
    moved = runs.assign(dev_bpc=runs["dev_bpc"].mask(hardly_moved(runs)))
    assert moved["dev_bpc"].isna().sum() == 3
    assert change_along(moved, "S", "dev_bpc").mean == pytest.approx(-0.10)
    assert change_along(moved, "k", "dev_bpc").mean == pytest.approx(0.5)  # of S = 8 alone
    assert growth(runs) == [Growth("S", 8.0, 64.0, {"a": 8.0}), Growth("k", 2.0, 4.0, {"a": 2.0})]


def test_a_variant_is_not_compared_where_its_spans_have_hardly_moved():
    """On a .3 better with spans that stayed at 9, on b .1 better with spans of 20."""
    fixed = scored("fixed", 2.0, 2.1, 2.2, **ON_A)
    fixed += scored("fixed", 2.0, 2.1, 2.2, **ON_B)
    spans = {"span": "adaptive", "start_span": 8.0}
    on_a = scored("own", 1.7, 1.8, 1.901, mean_span=9.0, **ON_A, **spans)
    on_b = scored("own", 1.9, 2.0, 2.101, mean_span=20.0, **ON_B, **spans)
    said = say([*fixed, *on_a, *on_b])
    assert said.difference.by_corpus == {"b": pytest.approx(-0.0997, abs=1e-4)}
    assert said.corpora == ("b",)
    said = say([*fixed, *on_a])
    assert said.status == "not tested"
    assert said.difference is None
    assert said.costs == ()


SHORT = scored("short", 2.0, 2.1, 2.2)
STILL_LEARNING = scored("short", 2.0, 2.1, 2.2, late_gain=0.3)
LONG = scored("long", 2.3, 2.41, 2.49)


@pytest.mark.parametrize(
    "rows, status, state, low",
    [
        ([*SHORT, *LONG], "answered", "worse", 0.275),
        ([*SHORT, *scored("long", 2.1, 2.0, 2.2)], "inconclusive", "inconclusive", -0.248),
        ([*STILL_LEARNING, *LONG], "not converged", "worse", 0.275),
    ],
)
def test_a_difference_whose_interval_excludes_zero_answers_once_runs_have_converged(
    rows, status, state, low
):
    """.3, .31, .29: mean .3, standard error .01 / sqrt(3); .1, -.1, 0: mean 0, .1 / sqrt(3)."""
    said = say(rows)
    assert (said.status, said.difference.state) == (status, state)
    assert said.difference.low == pytest.approx(low, abs=1e-3)
    assert said.converged == (status != "not converged")


def test_within_what_a_claim_calls_equal_two_variants_are_equivalent():
    rows = [*SHORT, *scored("long", 2.001, 2.1, 2.2)]
    for equal_within, status in (
        (None, "inconclusive"),
        ({("long", "short"): 0.02}, "equivalent"),
        ({("long", "short"): 0.0001}, "inconclusive"),
    ):
        assert say(rows, equal_within=equal_within).status == status
    within = tolerances("dynamic_span", "dev_bpc")
    assert within["dynamic span", "adaptive span"] == 0.02
    assert within["adaptive span", "dynamic span"] == 0.02
    assert tolerances("dynamic_span", "test_bleu") == {}


def test_an_answer_is_written_and_read_as_the_same_typed_data(tmp_path):
    said = say([*SHORT, *LONG, *scored("other", 1.0, 1.1, 1.3, macs_executed=1.0)])
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
        for seed, bleu in enumerate(scores, 1):
            rows.append(translated(variant="top_k", seed=seed, k=k, test_bleu=bleu))
    said = say(rows, "translation")
    assert states(said) == {("top-k", None, 2): "inconclusive", ("top-k", None, 1): "worse"}
    assert said.status == "answered"
    assert said.kind == "curve"
    assert said.difference.k == 2
    (change,) = basis_of(rows, "translation").recipe.changes
    assert change.difference.mean == pytest.approx(30.03, abs=0.01)


def test_where_k_keeps_every_key_two_variants_are_one_and_nothing_is_compared():
    rows = []
    for S in (8, 32):
        rows += scored("all", 2.0, 2.1, 2.2, S=S)
    for S, k, more in ((8, 8, 0), (8, 32, 0), (32, 8, 0.01), (32, 32, 0)):
        rows += scored("few", 2.0 + more, 2.1 + 2 * more, 2.2 - more, S=S, k=k)
    assert states(say(rows)) == {("few", 32, 8): "inconclusive"}


def test_many_variants_are_counted_after_holm_correction():
    """Four differences scatter by .01, the fifth by .1; .05 is significant alone, not after
    correction for five.
    """
    rows = scored("base", 2.0, 2.1, 2.2)
    for n in range(4):
        rows += scored(f"v{n}", 2.01 + n, 2.11 + n, 2.2 + n)
    rows += scored("weak", 2.02, 2.13, 2.24)
    said = say(rows)
    (weak,) = (each for each in said.differences if each.variant == "weak")
    assert weak.p <= 0.05 < weak.holm
    assert weak.state == "inconclusive"
    assert said.kind == "many"
    assert said.difference is None
    assert len(said.others) == 5
    assert [*states(said).values()].count("worse") == 3


def test_pairs_of_two_corpora_scatter_around_the_mean_of_their_own():
    """Differences -.10, -.12, -.11 on one, -.50, -.52, -.51 on the other.

    Mean -.31, six pairs less two means leave four degrees of freedom, s^2 = 1e-4.
    """
    short = scored("short", 2.0, 2.0, 2.0, **ON_A)
    short += scored("short", 2.0, 2.0, 2.0, **ON_B)
    on_a = scored("long", 1.9, 1.88, 1.89, **ON_A)
    said = say([*short, *on_a, *scored("long", 1.5, 1.48, 1.49, **ON_B)])
    found = said.difference
    half = T4 * 0.01 / math.sqrt(6)
    assert (found.mean, found.high) == pytest.approx((-0.31, -0.31 + half))
    assert said.status == "answered"
    assert found.pairs == {"a": 3, "b": 3}
    assert said.corpora == ("a", "b")
    assert found.by_corpus == {"a": pytest.approx(-0.11), "b": pytest.approx(-0.51)}
    assert not said.caveats
    reversed_on_b = say([*short, *on_a, *scored("long", 2.5, 2.52, 2.51, **ON_B)])
    assert reversed_on_b.difference.signs_differ
    assert reversed_on_b.caveats
    assert set(say([*short, *on_a]).difference.by_corpus) == {"a"}


def test_with_every_variant_as_the_baseline_answer_and_forest_change():
    rows = scored("short", 2.0, 2.01, 2.02, macs_executed=100.0)
    rows += scored("long", 1.9, 1.912, 1.92, macs_executed=200.0)
    rows += scored("longest", 1.5, 1.511, 1.52, macs_executed=400.0)
    answers = answers_by_baseline(basis_of(rows))
    means = {name: round(each.difference.mean, 2) for name, each in answers.items()}
    assert means == {"short": -0.1, "long": 0.1, "longest": 0.5}
    (ratio,) = answers["longest"].costs  # of the headline's variant
    assert (ratio.variant, ratio.value) == ("short", 0.25)
    colours = {"short": "#000000", "long": "#111111", "longest": "#222222"}
    forest = forest_of(answers["short"], colours)
    assert [row.variant for row in forest.rows] == ["long", "longest"]
    for row in forest.rows:
        assert row.low < row.mean < row.high < forest.zero


def test_failed_runs_are_no_answer():
    fixed = [failed(variant="fixed", seed=seed) for seed in (1, 2)]
    adaptive = [run(variant="adaptive", seed=seed) for seed in (1, 2)]
    said = say([*fixed, *adaptive])
    assert (said.status, said.difference) == ("not tested", None)


def test_where_the_largest_place_of_the_baseline_failed_a_smaller_one_is_compared():
    rows = around("a", 32, 2.0)
    rows += around("a", 256, 2.0, **BROKEN)
    rows += around("b", 32, 2.1, macs_executed=64.0)
    rows += around("b", 256, 1.9, macs_executed=512.0)
    said = say(rows)
    assert said.difference.S == 32
    assert len(said.differences) == 1
    assert said.difference.mean == pytest.approx(0.1)
    assert not said.costs


def test_variants_that_are_the_same_or_share_no_place_have_nothing_to_compare():
    rows = around("a", 32, 2.0)
    rows += around("a", 256, 2.0)
    same = [row | {"variant": "b", "label": "b"} for row in rows]
    apart = around("b", 128, 2.0)
    for others in (same, apart):
        said = say([*rows, *others])
        assert (said.status, said.difference) == ("not tested", None)


def test_a_run_of_one_corpus_in_place_of_two_counts_once():
    rows = scored("a", 1.97, 2.0, 2.04)
    once = as_frame(rows)
    twice = as_frame([*rows, *(row | {"paper_corpus": "enwik8"} for row in rows)])
    for data, key in ((effect_figure.data, "dev_bpc"), (curves_figure.data, "bpc")):
        alone, both = (data(runs, key).drop(columns="text") for runs in (once, twice))
        assert alone.equals(both)
    cells = [measured("row", "column", runs, "dev_bpc") for runs in (once, twice)]
    assert [cell.n for cell in cells] == [3, 3]
    assert cells[0].low == cells[1].low


def test_learning_curves_of_two_k_at_the_same_S_are_two_lines():
    """Joined into one they would go up and down at every step."""
    curve = [{"step": step, "dev_bpc": 3.0 - step / 10} for step in (1, 2)]
    rows = [run(S=32, k=k, seed=seed, curve=curve) for k in (8, 16) for seed in (1, 2, 3)]
    data = curves_figure.data(as_frame(rows), "bpc")
    figure = curves_figure.draw(data, "bits per character", "linear")
    drawn = [len(line.get_xdata()) for axes in figure.axes for line in axes.lines]
    assert drawn.count(2) >= 2
    assert max(drawn) == 2


def test_one_variant_alone_has_its_mean_span_or_else_its_score():
    spans = {"span": "adaptive", "S": 64, "start_span": 8.0, "max_span": 41.0}
    rows = scored("adaptive", 2.3, 2.5, 2.4, corpus="b", **spans)
    for row in rows:
        row["mean_span"] = 10.0 * row["seed"]  # 10, 20, 30
    said = say(rows)
    assert said.status == "answered"
    assert said.kind == "level"
    assert said.difference is None
    # as far below 20 as the interval is wide no span is
    assert f"0 to {20 + T2 * 10 / math.sqrt(3):.0f}" in said.headline
    alone = say(scored("fixed", 2.0, 2.1, 2.2, corpus="a"))
    assert alone.kind == "level"
    assert alone.headline.startswith("2.10 bpc (95 % CI 1.85 to 2.35")
