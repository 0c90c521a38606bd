"""The answer to a question without code of its own: its numbers, by hand, and its status."""

import math

import pytest

from tests._runs import failed, recalled, run, translated
from workflow.config.errors import ConfigError
from workflow.report.answers import caveats
from workflow.report.answers.answer import Answer, answer_file, read_answer, write_answer_file
from workflow.report.answers.answering import answer_question, read_basis
from workflow.report.answers.effects import change_along
from workflow.report.answers.forest import forest_of
from workflow.report.answers.ratios import Growth, growth
from workflow.report.answers.variants import variant_table
from workflow.report.figures.colours import as_named
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


def scored(variant: str, *values: float, **changes) -> list[dict]:
    """Make runs of seeds 1, 2, ... with these bpc, on one corpus; their order says nothing."""
    rows = []
    for seed, bpc in enumerate(values, 1):
        row = run("adaptive_vs_xl", variant, seed, dev_bpc=bpc, **changes)
        if row["status"] != "ok":
            row["dev_bpc"] = None
        corpus = row["corpus"]
        row["digest"] += f"-{corpus}"
        rows.append(row)
    return rows[::-1]


def around(variant: str, S: int, bpc: float, **changes) -> list[dict]:
    """Make three seeds around a score; each costs S MACs."""
    about = {"S": S, "macs_executed": float(S)} | changes
    return scored(variant, bpc, bpc + 0.011, bpc + 0.02, **about)


def basis_of(rows: list[dict], task="char_lm"):
    return read_basis(as_frame(rows), TASKS[task], has_trials=False)


def say(rows: list[dict], task="char_lm", equal_within=None) -> Answer:
    return answer_question(basis_of(rows, task), equal_within)


def at_sort(variant: str, *reaches: float, accuracy=99.5) -> list[dict]:
    """Make a seed of a model of sequences for each reach."""
    rows = []
    for seed, reach in enumerate(reaches, 1):
        rows.append(recalled(variant=variant, seed=seed, test_reach=reach, test_accuracy=accuracy))
    return rows


def test_where_seeds_are_not_paired_their_deviation_is_pooled_over_all_variants():
    """Squares around the means 2, 2 and 8: 2, 0 and 2, with 2 degrees of freedom each."""
    rows = at_sort("softmax", 1.0, 2.0, 3.0) + at_sort("sparsemax", 2.0, 2.0, 2.0)
    rows += at_sort("entmax15", 9.0, 8.0, 7.0)
    _, further = say(rows, "symbols").differences
    half = 2.446912 * math.sqrt(4 / 6 * 2 / 3)
    assert further.mean == 6
    assert (further.low, further.high) == pytest.approx((6 - half, 6 + half))
    table = variant_table(as_frame(rows), "test_reach", {}, pooled=True)
    *_, line = table.lines
    assert (line.effect.low, line.effect.high) == pytest.approx((further.low, further.high))


def test_nothing_is_concluded_where_a_variant_has_not_learned_its_task():
    rows = at_sort("softmax", 1.0, 1.1, 1.2)
    rows += at_sort("entmax15", 2.0, 2.1, 2.2) + at_sort("top_2", 0.0, 0.0, 0.0, accuracy=80.0)
    said = say(rows, "symbols")
    assert {each.variant for each in said.differences} == {"entmax-1.5"}
    without_baseline = at_sort("softmax", 1.0, 1.1, 1.2, accuracy=98.9)
    without_baseline += at_sort("entmax15", 2.0, 2.1, 2.2)
    assert say(without_baseline, "symbols").status == "not tested"


def test_tasks_whose_seeds_are_not_paired_are_compared_one_by_one():
    rows = at_sort("softmax", 1.0, 1.1, 1.2) + at_sort("entmax15", 2.0, 2.1, 2.2)
    for row in at_sort("softmax", 3.0, 3.1, 3.2) + at_sort("entmax15", 1.0, 1.1, 1.2):
        row["digest"] += "-reverse"
        rows.append(row | {"corpus": "reverse", "paper_corpus": "reverse"})
    said = say(rows, "symbols")
    found = {each.corpora: (round(each.mean, 6), each.state) for each in said.differences}
    assert found == {("sort",): (1.0, "better"), ("reverse",): (-2.0, "worse")}
    assert "1 of 1 variant on sort and 0 of 1 on reverse; worse: 1 on reverse (" in said.headline
    further = at_sort("sparsemax", 2.0, 2.1, 2.2)
    said = say(rows + further, "symbols")
    colours = dict.fromkeys(("entmax-1.5", "sparsemax"), "#000000")
    labels = [row.label for row in forest_of(said, colours).rows]
    assert labels == ["entmax-1.5, sort", "sparsemax, sort", "entmax-1.5, reverse"]


@pytest.mark.parametrize(
    "ours, softmax, reach, told, in_table",
    [
        ("above", None, 5.0, "≥ ", "≥ "),
        (None, "above", 5.0, "≤ ", "≤ "),
        ("above", "above", 5.0, "≈ ", "≈ "),
        (None, None, 5.0, "", "3.9"),
        ("above", None, 0.5, "≤ ", "≥ "),  # at least -0.6: at most 0.6 worse
    ],
)
def test_a_difference_of_censored_scores_is_told_as_a_bound(ours, softmax, reach, told, in_table):
    rows = at_sort("softmax", 1.0, 1.1, 1.2) + at_sort("entmax15", reach, reach, reach)
    for row in rows:
        row["censored"] = softmax if row["variant"] == "softmax" else ours
    said = say(rows, "symbols")
    (only,) = said.differences
    assert only.text.startswith(f"{told}{abs(only.mean):.1f}")
    (row,) = forest_of(said, {"entmax-1.5": "#000000"}).rows
    assert row.number.startswith(f"{told}{abs(only.mean):.1f}")
    table = variant_table(as_frame(rows), "test_reach", {}, pooled=True)
    (_, written), *_ = table.effects
    (mean, *_) = written[-1].texts
    assert mean.startswith(in_table)


def test_censored_scores_that_are_equal_do_not_differ_as_far_as_was_tested():
    rows = at_sort("softmax", 5.0, 5.0, 5.0) + at_sort("entmax15", 5.0, 5.0, 5.0)
    said = say([row | {"censored": "above"} for row in rows], "symbols")
    (only,) = said.differences
    (row,) = forest_of(said, {"entmax-1.5": "#000000"}).rows
    assert "as far as tested" in only.text
    assert row.number == "no difference as far as tested"


def test_what_is_not_learned_is_named_corpus_by_corpus():
    rows = at_sort("softmax", 1.0, 1.1, 1.2)
    for variant, corpus in [("entmax15", "sort"), ("ssmax", "sort"), ("entmax15", "reverse")]:
        for seed in (1, 2, 3):
            place = {"variant": variant, "seed": seed, "paper_corpus": corpus}
            rows.append(recalled(**place, test_reach=0.0, test_accuracy=50.0))
    (line,) = caveats.unsolved_tasks(with_titles(as_named(as_frame(rows))))
    assert "entmax-1.5 and SSMax on sort; entmax-1.5 on reverse" in line


def states(said: Answer) -> dict[tuple, str]:
    found = {}
    for each in said.differences:
        found[each.variant, each.S, each.k] = each.state
    return found


def test_differences_are_paired_by_seed_and_their_interval_is_students():
    """-.1, -.2, -.3: mean -.2, standard error .1 / sqrt(3).

    Unpaired they would be lost in the scatter of the seeds.
    """
    rows = scored("short", 2.0, 3.0, 4.0)
    rows += scored("long", 1.9, 2.8, 3.7)
    (difference,) = say(rows).differences
    standard_error = 0.1 / math.sqrt(3)
    half = T2 * standard_error
    assert difference.mean == pytest.approx(-0.2)
    assert difference.low == pytest.approx(-0.2 - half)
    assert difference.high == pytest.approx(-0.2 + half)
    table = variant_table(as_frame(rows), "dev_bpc", {})
    _, line = table.lines
    assert line.mean == pytest.approx(2.8)
    assert line.effect.mean == difference.mean


def test_a_variant_is_compared_with_the_one_that_its_question_names():
    """Compared with small, the other large one would be no worse."""
    rows = scored("small", 2.0, 2.01, 2.02)
    rows += scored("other", 2.1, 2.11, 2.121)
    rows += scored("large", 1.8, 1.811, 1.82, label="large, deep")
    rows += scored("other_large", 2.0, 2.01, 2.021, baseline="large", label="large other")
    said = say(rows)
    found = {}
    for each in said.differences:
        mean = round(each.mean, 2)
        found[each.variant] = (each.baseline, mean)
    assert found == {
        "other": ("small", 0.1),
        "large, deep": ("small", -0.2),
        "large other": ("large, deep", 0.2),
    }
    # the first after the baseline is the main one
    assert said.difference.variant == "other"


def test_a_place_of_the_grid_without_a_score_at_one_end_is_in_neither_mean():
    """From S = 8 to 64 .1 better at k = 2; at k = 4 the spans of S = 64 have hardly moved."""
    rows = []
    for S, k, bpc, mean_span in (
        (8, 2, 2.0, 8.0),
        (64, 2, 1.9, 30.0),
        (8, 4, 2.5, 8.0),
        (64, 4, 2.4, 4.5),
    ):
        about = {
            "k": k,
            "macs_executed": 1e4 * S * k,
            "span": "adaptive",
            "start_span": 4.0,
            "mean_span": mean_span,
        }
        rows += around("a", S, bpc, **about)
    runs = with_titles(as_frame(rows))
    bpc_of_moved = runs["dev_bpc"].mask(hardly_moved(runs))
    moved = runs.assign(dev_bpc=bpc_of_moved)
    along_S = change_along(moved, "S", "dev_bpc")
    assert along_S.mean == pytest.approx(-0.10)
    # of S = 8 alone
    along_k = change_along(moved, "k", "dev_bpc")
    assert along_k.mean == pytest.approx(0.5)
    assert growth(runs) == [
        Growth("S", 8.0, 64.0, {"a": 8.0}),
        Growth("k", 2.0, 4.0, {"a": 2.0}),
    ]


def test_a_variant_is_not_compared_where_its_spans_have_hardly_moved():
    """On a .3 better with spans that stayed at 9, on b .1 better with spans of 20."""
    spans = {"span": "adaptive", "start_span": 8.0}
    on_a = scored("fixed", 2.0, 2.1, 2.2, **ON_A)
    on_a += scored("own", 1.7, 1.8, 1.901, mean_span=9.0, **ON_A, **spans)
    on_b = scored("fixed", 2.0, 2.1, 2.2, **ON_B)
    on_b += scored("own", 1.9, 2.0, 2.101, mean_span=20.0, **ON_B, **spans)
    said = say(on_a + on_b)
    assert said.difference.by_corpus == {"b": pytest.approx(-0.0997, abs=1e-4)}
    said = say(on_a)
    assert said.status == "not tested"
    assert said.difference is None
    assert said.costs == ()


SHORT = scored("short", 2.0, 2.1, 2.2)
STILL_LEARNING = scored("short", 2.0, 2.1, 2.2, late_gain=0.3)
LONG = scored("long", 2.3, 2.41, 2.49)
UNLIKE = scored("long", 2.1, 2.0, 2.2)
ALIKE = scored("long", 2.001, 2.1, 2.2)
PAIR = ("long", "short")


@pytest.mark.parametrize(
    "rows, equal_within, status",
    [
        # .3, .31, .29: mean .3, standard error .01 / sqrt(3)
        (SHORT + LONG, None, "answered"),
        (STILL_LEARNING + LONG, None, "not converged"),
        # .1, -.1, 0
        (SHORT + UNLIKE, None, "inconclusive"),
        (SHORT + ALIKE, None, "inconclusive"),
        (SHORT + ALIKE, {PAIR: 0.02}, "equivalent"),
        (SHORT + ALIKE, {PAIR: 0.0001}, "inconclusive"),
    ],
)
def test_an_interval_that_excludes_zero_or_all_that_counts_answers(rows, equal_within, status):
    said = say(rows, equal_within=equal_within)
    assert said.status == status
    assert said.converged == (status != "not converged")


def test_an_answer_is_written_and_read_as_the_same_typed_data(tmp_path):
    other = scored("other", 1.0, 1.1, 1.3, macs_executed=1.0)
    said = say(SHORT + LONG + other)
    write_answer_file(tmp_path, "mine", said)
    assert read_answer(tmp_path, "mine") == said
    write_text(answer_file(tmp_path, "old"), '{"status": "Found", "sentence": "a"}')
    with pytest.raises(ConfigError, match="old"):
        read_answer(tmp_path, "old")


def test_along_a_grid_the_largest_place_is_the_headline_and_any_significant_place_answers():
    """As many keys as are enough: 1 is 30 BLEU worse, 2 keys are inconclusive."""
    rows = []
    for seed, all_keys, one_key, two_keys in (
        (1, 91.0, 61.0, 91.1),
        (2, 92.0, 62.1, 91.9),
        (3, 93.0, 62.9, 93.1),
    ):
        top_k = {"variant": "top_k", "seed": seed}
        rows.append(translated(seed=seed, test_bleu=all_keys))
        rows.append(translated(**top_k, k=1, test_bleu=one_key))
        rows.append(translated(**top_k, k=2, test_bleu=two_keys))
    said = say(rows, "translation")
    assert states(said) == {
        ("top-k", None, 2): "inconclusive",
        ("top-k", None, 1): "worse",
    }
    assert said.status == "answered"
    assert said.kind == "curve"
    assert said.difference.k == 2
    (change,) = basis_of(rows, "translation").recipe.changes
    assert change.difference.mean == pytest.approx(30.03, abs=0.01)


def test_where_k_keeps_every_key_two_variants_are_one_and_nothing_is_compared():
    alike = (2.0, 2.1, 2.2)
    rows = []
    for S in (8, 32):
        rows += scored("all", *alike, S=S)
        rows += scored("few", *alike, S=S, k=32)
    rows += scored("few", *alike, S=8, k=8)
    rows += scored("few", 2.01, 2.12, 2.19, S=32, k=8)
    assert states(say(rows)) == {("few", 32, 8): "inconclusive"}


def test_many_variants_are_counted_after_holm_correction():
    """.05 is significant alone, not after correction for five."""
    rows = scored("base", 2.0, 2.1, 2.2)
    rows += scored("v0", 2.01, 2.11, 2.2)
    rows += scored("v1", 3.01, 3.11, 3.2)
    rows += scored("v2", 4.01, 4.11, 4.2)
    rows += scored("v3", 5.01, 5.11, 5.2)
    rows += scored("weak", 2.02, 2.13, 2.24)
    said = say(rows)
    by_variant = {each.variant: each for each in said.differences}
    weak = by_variant["weak"]
    assert weak.p <= 0.05
    assert weak.holm > 0.05
    assert weak.state == "inconclusive"
    assert said.kind == "many"
    assert said.difference is None
    found = [each.state for each in said.differences]
    assert found.count("worse") == 3


def test_pairs_of_two_corpora_scatter_around_the_mean_of_their_own():
    """Differences -.10, -.12, -.11 on one, -.50, -.52, -.51 on the other.

    Mean -.31, six pairs less two means leave four degrees of freedom, s^2 = 1e-4.
    """
    rows = scored("short", 2.0, 2.0, 2.0, **ON_A)
    rows += scored("short", 2.0, 2.0, 2.0, **ON_B)
    rows += scored("long", 1.9, 1.88, 1.89, **ON_A)
    better_on_b = scored("long", 1.5, 1.48, 1.49, **ON_B)
    found = say(rows + better_on_b).difference
    half = T4 * 0.01 / math.sqrt(6)
    assert found.mean == pytest.approx(-0.31)
    assert found.high - found.mean == pytest.approx(half)
    assert found.pairs == {"a": 3, "b": 3}
    assert found.by_corpus == pytest.approx({"a": -0.11, "b": -0.51})
    worse_on_b = scored("long", 2.5, 2.52, 2.51, **ON_B)
    reversed_on_b = say(rows + worse_on_b)
    assert reversed_on_b.difference.signs_differ
    assert reversed_on_b.caveats


BASE = around("a", 32, 2.0) + around("a", 256, 2.0)
COPY = [row | {"variant": "b", "label": "b"} for row in BASE]
BASELINE_FAILED = [
    failed(variant="fixed", seed=1),
    failed(variant="fixed", seed=2),
    run(variant="adaptive", seed=1),
    run(variant="adaptive", seed=2),
]


@pytest.mark.parametrize(
    "rows",
    [
        BASE + COPY,
        BASE + around("b", 128, 2.0),
        BASELINE_FAILED,
    ],
    ids=["the same runs", "no common place", "failed"],
)
def test_there_is_nothing_to_compare(rows):
    said = say(rows)
    assert said.status == "not tested"
    assert said.difference is None


def test_where_the_largest_place_of_the_baseline_failed_a_smaller_one_is_compared():
    rows = around("a", 32, 2.0)
    rows += around("a", 256, 2.0, status="oom", reason="no memory")
    rows += around("b", 32, 2.1, macs_executed=64.0)
    rows += around("b", 256, 1.9, macs_executed=512.0)
    said = say(rows)
    assert said.difference.S == 32
    assert len(said.differences) == 1
    assert said.difference.mean == pytest.approx(0.1)
    assert not said.costs


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
    half = T2 * 10 / math.sqrt(3)
    high = 20 + half
    assert f"0 to {high:.0f}" in said.headline
    alone = say(scored("fixed", 2.0, 2.1, 2.2, corpus="a"))
    assert alone.headline.startswith("2.10 bpc (95 % CI 1.85 to 2.35")


@pytest.mark.parametrize(
    "headline, says, bracket",
    [
        ("0.1 better (95 % CI 0 to 1)", "0.1 better", "(95 % CI 0 to 1)"),
        ("recall (MQAR): 4 of 9 (n = 5)", "recall (MQAR): 4 of 9", "(n = 5)"),
        ("19 characters (on text8 (3 MB); n = 3)", "19 characters", "(on text8 (3 MB); n = 3)"),
        ("recall (MQAR): not tested", "recall (MQAR): not tested", ""),
    ],
)
def test_the_bracket_that_ends_a_headline_is_told_from_that_of_a_name(headline, says, bracket):
    answer = Answer("answered", "variants", headline, "", "laptop", ())
    assert answer.told == (says, bracket)
