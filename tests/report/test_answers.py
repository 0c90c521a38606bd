"""What a page says of any question without code of its own: differences worked out by hand, sentences, figures."""

import math

import numpy as np
import pytest
from matplotlib.text import Text

from tests._runs import CURVE, failed, run, translated
from workflow.report.answers import cost_figure, costs, curves_figure, effect_figure
from workflow.report.answers.effects import change_along, compare
from workflow.report.answers.lines import LEGEND
from workflow.report.answers.sentence import _what_is_new, answer_of
from workflow.report.answers.variants import variant_table
from workflow.report.texts import with_titles
from workflow.results.runs_table import as_frame
from workflow.results.statistics import FEWEST
from workflow.results.trained_enough import hardly_moved
from workflow.tasks.spec import TASKS

CHAR_LM, TRANSLATION = TASKS["char_lm"], TASKS["translation"]
T2, T4 = 4.302653, 2.776445  # Student's t at 97.5 % with two degrees of freedom, and with four


def scored(variant: str, *values: float, **changes) -> list[dict]:
    """Runs of seeds 1, 2, ... with these bpc, on one text; the order of the seeds says nothing."""
    rows = [run("adaptive_vs_xl", variant, seed, dev_bpc=bpc, **changes) for seed, bpc in enumerate(values, 1)]
    return [row | {"digest": f"{row['digest']}-{row['corpus']}"} for row in rows[::-1]]


def say(rows: list[dict], task=CHAR_LM):
    return answer_of(as_frame(rows), task)


def test_differences_are_paired_by_seed_and_their_interval_is_students():
    """-.1, -.2, -.3: mean -.2, standard error .1 / sqrt(3); unpaired they would be lost in the scatter of the seeds."""
    rows = [*scored("short", 2.0, 3.0, 4.0), *scored("long", 1.9, 2.8, 3.7)]
    effect = compare(with_titles(as_frame(rows)), "dev_bpc")[0].effect
    half = T2 * 0.1 / math.sqrt(3)
    assert (effect.mean, effect.n) == (pytest.approx(-0.2), 3)
    assert (effect.low, effect.high) == (pytest.approx(-0.2 - half), pytest.approx(-0.2 + half))
    assert effect.told == (half < 0.2) and not effect.told
    line = variant_table(as_frame(rows), "dev_bpc", {})["lines"][1]
    assert (line["variant"], line["mean"]) == ("long", pytest.approx(2.8)) and line["effect"] == effect
    assert [point[:2] for point in line["points"]] == [(3, 3.7), (2, 2.8), (1, 1.9)]


def test_a_variant_is_compared_with_the_one_that_its_question_names():
    """Small 2.0 and 2.1, large 1.8 and 2.0: beside small the other large one would be no worse."""
    rows = scored("small", 2.0, 2.01, 2.02, macs_executed=100.0)
    rows += scored("other", 2.1, 2.11, 2.121, macs_executed=100.0)
    rows += scored("large", 1.8, 1.811, 1.82, label="large, deep", macs_executed=400.0)
    rows += scored("other_large", 2.0, 2.01, 2.021, baseline="large", label="large other", macs_executed=200.0)
    said = say(rows)
    large = "“large, deep”"
    assert f"{large} is 0.1997 bpc better than small. Large other is 0.2000 bpc worse than {large} (" in said.sentence
    assert f"Beside small, {large} has 4.00 times the multiply-adds." in said.costs
    assert f"Beside {large}, large other has 0.50 times the multiply-adds." in said.costs
    table = variant_table(as_frame(rows), "dev_bpc", {})
    assert table["first"] == table["effects"][0][0] == "its own baseline"
    assert table["baselines"] == {"large other": "large, deep"} and table["rest"] == "small"
    assert [line["effect"] and round(line["effect"].mean, 2) for line in table["lines"]] == [None, 0.1, -0.2, 0.2]
    assert dict(table["effects"])["small"][3]["texts"][0] == "0.0003"


def test_pairs_of_two_texts_scatter_around_the_mean_of_their_own():
    """Differences -.10, -.12, -.11 on one text, -.50, -.52, -.51 on the other: mean -.31, df = 6 - 2, s^2 = 1e-4."""
    texts = ({"paper_corpus": "text8", "corpus": "a"}, {"paper_corpus": "enwik8", "corpus": "b"})
    rows = [*scored("short", 2.0, 2.0, 2.0, **texts[0]), *scored("short", 2.0, 2.0, 2.0, **texts[1])]
    rows += [*scored("long", 1.9, 1.88, 1.89, **texts[0]), *scored("long", 1.5, 1.48, 1.49, **texts[1])]
    effect = compare(with_titles(as_frame(rows)), "dev_bpc")[0].effect
    assert effect.mean == pytest.approx(-0.31) and effect.high - effect.mean == pytest.approx(T4 * 0.01 / math.sqrt(6))
    said = say(rows)
    assert said.status == "Found" and "long is 0.310 bpc better than short" in said.sentence
    assert not any("disagree" in line for line in said.remarks)
    turned = say([*rows[:9], *(row | {"dev_bpc": 4.0 - row["dev_bpc"]} for row in rows[9:])])
    assert "The texts disagree: long is 0.110 bpc better on a and 0.510 bpc worse on b, beside short." in turned.remarks
    alone = say([*rows[:9], *scored("longer", 1.9, 1.88, 1.89, **texts[0])])
    assert "Compared on a alone: long and longer." in alone.remarks
    assert not any("alone" in line for line in said.remarks)


def test_a_change_along_a_grid_that_the_texts_disagree_on_is_said():
    """From S = 8 to 64 .11 better on one text and .51 worse on the other."""
    rows = [
        row
        for text, change in (("a", -0.11), ("b", 0.51))
        for S, off in ((8, 0.0), (64, change))
        for row in scored("short", 2.0 + off, 2.01 + off, 1.99 + off, S=S, corpus=text, paper_corpus=text)
    ]
    sizes = "0.1100 bpc better on a and 0.5100 bpc worse on b"
    assert f"The texts disagree: from S = 8 to 64 short gets {sizes}." in say(rows).remarks


def test_a_place_of_the_grid_without_a_score_at_one_end_is_in_neither_mean():
    """From S = 8 to 64 .10 better at k = 2; at k = 4, half a bit worse, the spans of S = 64 have hardly moved."""
    spans = {"span": "adaptive", "start_span": 4.0}
    rows = [
        row
        for k, level in ((2, 2.0), (4, 2.5))
        for S, off, mean_span in ((8, 0.0, 8.0), (64, -0.10, 30.0 if k == 2 else 4.5))
        for row in scored("a", level + off, level + off + 0.01, level + off - 0.01, S=S, k=k, mean_span=mean_span)
    ]
    runs = with_titles(as_frame([row | spans | {"macs_executed": 1e4 * row["S"] * row["k"]} for row in rows]))
    moved = runs.assign(dev_bpc=runs["dev_bpc"].mask(hardly_moved(runs)))
    assert moved["dev_bpc"].isna().sum() == 3
    assert change_along(moved, "S", "dev_bpc").mean == pytest.approx(-0.10)
    assert change_along(moved, "k", "dev_bpc").mean == pytest.approx(0.5)  # of S = 8 alone
    along = costs.growth(runs)
    assert "From S = 8 to 64 the multiply-adds grow 8.00 times with a." in along
    assert "From k = 2 to 4 the multiply-adds grow 2.00 times with a." in along


def test_the_basis_of_an_answer_names_the_texts_that_were_compared():
    """On a the spans stayed at 9: the difference is of b alone, and no mean."""
    fixed = [row for text in "ab" for row in scored("fixed", 2.0, 2.1, 2.2, corpus=text, paper_corpus=text)]
    spans = {"span": "adaptive", "start_span": 8.0}
    on_a = scored("own", 1.7, 1.8, 1.901, mean_span=9.0, corpus="a", paper_corpus="a", **spans)
    on_b = scored("own", 1.9, 2.0, 2.101, mean_span=20.0, corpus="b", paper_corpus="b", **spans)
    basis = say([*fixed, *on_a, *on_b]).sentence.split("(")[1].split(")")[0]
    assert "mean of" not in basis and ", b, scale" in basis


def test_a_reason_without_a_ratio_is_given_once_for_all_variants():
    apart = {
        ("a", "computed in torch, c in compiled C"): {"memory"},
        ("b", "computed in torch, c in compiled C"): {"memory"},
    }
    apart |= {("d", "measured on another machine than c"): {"memory"}}
    first, second = costs._without_ratio(apart)
    assert "a and b" in first and "d" in second


def test_sentences_of_the_recipe_that_tuning_does_not_change_are_not_repeated():
    both = "A is 1 better than c. B is 2 worse than c (3 seeds)."
    assert _what_is_new(both, both) == "the same."
    assert _what_is_new("A is 0.5 better than c. B is 2 worse than c (3 seeds).", both).startswith("A is 0.5 better")
    assert "B is" not in _what_is_new("A is 0.5 better than c. B is 2 worse than c (3 seeds).", both)


def test_costs_of_variants_grow_on_the_same_texts():
    """Fixed spans cost 8 and 2 times as much at S = 64; on b the adaptive ones of S = 64 have hardly moved."""
    rows = []
    for text, grows in (("a", 8.0), ("b", 2.0)):
        for S, macs in ((8, 1e4), (64, 1e4 * grows)):
            place = {"S": S, "corpus": text, "paper_corpus": text}
            rows += scored("plain", 2.0, 2.0, 2.0, macs_executed=macs, span="fixed", **place)
            spans = {"span": "adaptive", "start_span": 8.0, "mean_span": 8.0 if text == "b" else float(S)}
            rows += scored("learned", 2.0, 2.0, 2.0, macs_executed=1e4 * (2 if S == 64 else 1), **spans, **place)
    said = "From S = 8 to 64 the multiply-adds grow on a 8.00 times with plain and 2.00 times with learned."
    assert costs.growth(with_titles(as_frame(rows))) == [said]


def test_of_one_variant_it_says_how_far_its_heads_look_text_by_text_and_without_learned_spans_its_score():
    spans = {"span": "adaptive", "S": 64, "start_span": 8.0}
    near = scored("adaptive", 2.0, 2.2, 2.1, mean_span=20.0, max_span=41.0, corpus="a", **spans)
    far = scored("adaptive", 2.3, 2.5, 2.4, max_span=50.0, corpus="b", **spans)
    said = say([*near, *(row | {"mean_span": 10.0 * row["seed"]} for row in far)])  # 10, 20, 30
    high = 20 + T2 * 10 / math.sqrt(3)  # as far below 20 no span is
    mean = f"adaptive reaches 20 and 20 (0 to {high:.0f}) characters on average over its heads"
    ends = "41 and 50 with the longest of them, of at most 64 (3 seeds, a and b, scale test)."
    assert (said.status, said.sentence) == ("Found", f"{mean}, and {ends}")
    assert not [line for line in said.costs if " looks " in line]  # a mean over texts, of the same
    said = say([*scored("fixed", 2.0, 2.1, 2.2, corpus="a"), *scored("fixed", 2.3, 2.4, 2.5, corpus="b")])
    score = "one variant was run; fixed reaches 2.100 and 2.400 bpc (dev bpc, 3 seeds, a and b, scale test)."
    assert (said.status, said.sentence) == ("Nothing to compare", score)


def test_spans_that_have_not_grown_are_said_to_stand_where_they_began():
    spans = {"span": "adaptive", "S": 32, "start_span": 8.0}
    grown = scored("grown", 2.0, 2.1, mean_span=20.0, **spans)
    said = say([*grown, *scored("stays", 2.0, 2.1, mean_span=9.0, **spans)])
    assert "Grown looks 20 characters far, of at most 32." in said.costs
    assert "Stays looks 9 characters far, of at most 32, as at the start." in said.costs


def test_a_variant_is_not_compared_where_its_spans_have_hardly_moved():
    """On a .3 better with spans that stayed at 9, on b .1 better with spans of 20."""
    fixed = [row for text in "ab" for row in scored("fixed", 2.0, 2.1, 2.2, corpus=text, paper_corpus=text)]
    spans = {"span": "adaptive", "start_span": 8.0}
    on_a = scored("own", 1.7, 1.8, 1.901, mean_span=9.0, corpus="a", paper_corpus="a", **spans)
    on_b = scored("own", 1.9, 2.0, 2.101, mean_span=20.0, corpus="b", paper_corpus="b", **spans)
    said = say([*fixed, *on_a, *on_b])
    assert said.sentence.startswith("own is 0.0997 bpc better than fixed on b alone (")
    assert "no conclusion about spans for own on a (S = 64: 9.0 characters after 8.0)." in said.sentence
    assert "Own looks 9 characters far on a as at the start and 20 on b, of at most 64." in said.costs
    lines = variant_table(as_frame([*fixed, *on_a, *on_b]), "dev_bpc", {})["lines"]
    effects = {line["text"]: line["effect"] and line["effect"].mean for line in lines if line["variant"] == "own"}
    assert effects == {"a": None, "b": pytest.approx(-0.0997, abs=1e-4)}
    said = say([*fixed, *on_a])
    assert said.status == "Not answered yet" and "no conclusion about spans for own on a" in said.sentence
    assert not [line for line in said.remarks + said.costs if "Not compared" in line or "times" in line]


SHORT, LONG = scored("short", 2.0, 2.1, 2.2), scored("long", 2.3, 2.41, 2.49)
WORSE = "long is 0.300 bpc worse than short"
ALIKE = "long cannot be told apart from short"
FEWER = "Fewer than 3 seeds on a text, too few to tell: other at S = 64."
LEARNING = "3 of 6 runs were still learning, by up to 0.30 bits in the last quarter of the updates"


@pytest.mark.parametrize(
    "rows, status, sentence, seeds, remark",
    [
        ([*SHORT, *LONG], "Found", WORSE, "3 seeds", ""),
        ([*SHORT, *scored("long", 2.1, 2.0, 2.2)], "Not answered yet", ALIKE, "3 seeds", ""),
        ([*SHORT, *LONG, *scored("other", 3.0, 3.1)], "Found", WORSE, "2 to 3 seeds", FEWER),
        ([*scored("short", 2.0, 2.1, 2.2, late_gain=0.3), *LONG], "So far", WORSE, "3 seeds", LEARNING),
    ],
)
def test_a_difference_beyond_its_interval_is_found(rows, status, sentence, seeds, remark):
    said = say(rows)
    basis = f" (dev bpc, {seeds}, Python sources in 27 letters, scale test)."
    assert (said.status, said.sentence) == (status, sentence + basis)
    assert said.converged == (remark != LEARNING)
    assert not remark or any(line.startswith(remark) for line in said.remarks)


@pytest.mark.parametrize("seeds", range(1, 6))
def test_what_is_found_is_found_over_as_many_seeds_as_an_interval_takes(seeds):
    """On one text or two, compared or along a grid; of fewer the sentence says how many, and how many it takes."""
    noise = [seed / 1000 for seed in range(seeds)]
    rows, more = (
        [*scored("short", *(2.0 + x for x in noise), **text), *scored("long", *(1.5 - x for x in noise), **text)]
        for text in ({"corpus": "a"}, {"corpus": "b", "paper_corpus": "enwik8"})
    )
    grid = [row | {"S": S, "dev_bpc": row["dev_bpc"] - S} for row in rows for S in (1, 2)]
    grid = [row | {"digest": f"{row['digest']}-{row['S']}"} for row in grid]
    for case in (rows, [*rows, *more], grid, [row for row in grid if row["variant"] == "short"]):
        said = say(case)
        assert (said.status == "Found") == (seeds >= FEWEST), said
        few = f"{seeds} seed{'s' * (seeds > 1)} cannot tell an effect from chance, which takes 3"
        assert (few in said.sentence) == (seeds < FEWEST)
    uneven = say([*rows, *more[:1], *more[seeds : seeds + 1]])  # a second text with one seed
    assert uneven.status == "Not answered yet"


def test_one_text_under_two_names_of_the_papers_is_one_text():
    rows = [*SHORT, *LONG]
    again = [*rows, *(row | {"paper_corpus": "enwik8"} for row in rows)]
    assert say(again) == say(rows)
    once, twice = (variant_table(as_frame(each), "dev_bpc", {})["lines"] for each in (rows, again))
    assert [line["points"] for line in twice] == [line["points"] for line in once]
    assert {line["text"] for line in twice} == {"Python sources in 27 letters"}


def test_failed_runs_are_told_and_are_no_answer_alone():
    rows = [failed(variant=variant, seed=seed) for variant in ("fixed", "adaptive") for seed in (1, 2)]
    said = say(rows)
    assert (said.status, said.sentence) == ("Not answered yet", "all 4 runs failed.")
    assert said.remarks == ["4 of 4 runs failed (4 diverged)."]
    said = say([*rows[:2], *(run(variant="adaptive", seed=seed) for seed in (1, 2))])
    assert said.sentence.startswith("no run of fixed span, with which others are compared, has ended well")
    other = [run(variant="other", seed=seed, baseline="adaptive") for seed in (3, 4)]
    said = say([*(run(variant="adaptive", seed=seed) for seed in (1, 2)), *other])
    assert said.sentence.startswith(
        "no run of adaptive span, with which others are compared, has the text, seed, S and k of"
    )


def test_along_a_grid_it_says_where_a_variant_is_worse_and_what_the_grid_does():
    """As many keys as are enough: 1 is 30 BLEU worse, 2 keys cannot be told apart."""
    rows = [translated(seed=seed, test_bleu=90.0 + seed) for seed in (1, 2, 3)]
    for k, scores in ((1, (61.0, 62.1, 62.9)), (2, (91.1, 91.9, 93.1))):
        rows += [translated(variant="top_k", seed=n, k=k, test_bleu=bleu) for n, bleu in enumerate(scores, 1)]
    said = say(rows, TRANSLATION)
    assert said.sentence.startswith("top-k is worse than softmax at k = 1 and cannot be told apart from it at k = 2. ")
    assert "From k = 1 to 2 top-k gets better by 30.03 BLEU (" in said.sentence


def test_where_k_keeps_every_key_two_variants_are_one_and_nothing_is_compared():
    bpc = {(8, 8): 0, (8, 32): 0, (32, 8): 0.01, (32, 32): 0}  # by S and k: what top-k adds
    rows = [row for S in (8, 32) for row in scored("all", 2.0, 2.1, 2.2, S=S)]
    for (S, k), more in bpc.items():
        rows += scored("few", 2.0 + more, 2.1 + 2 * more, 2.2 - more, S=S, k=k)
    said = say(rows)
    assert said.sentence.startswith("few cannot be told apart from all at S = 32, k = 8. ")
    kept = "Not compared where k keeps every key that the span holds: S = 8, k = 8; S = 8, k = 32; S = 32, k = 32."
    assert kept in said.remarks
    beside_all = dict(variant_table(as_frame(rows), "dev_bpc", {})["effects"])["all"]
    alike = [cells["texts"][0] == "no pair differs" for cells in beside_all if cells]
    assert alike == [more == 0 for more in bpc.values()]


def test_of_many_variants_it_is_counted_and_chance_is_named():
    rows = scored("base", 2.0, 2.1, 2.2)
    rows += [row for n in range(5) for row in scored(f"v{n}", 2.01 + n, 2.11 + n, 2.2 + n)]
    said = say(rows)
    assert said.sentence.startswith(
        "of 5 variants 4 are worse than base and 1 cannot be told apart from it. Worst is v4"
    )


def texts_of(figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(Text))


def test_the_figure_of_effect_has_every_seed_and_says_which_way_is_better():
    data = effect_figure.data(as_frame([*SHORT, *scored("long", 1.0, 1.1)]), "dev_bpc")
    assert data["points"].map(sorted).tolist() == [[2.0, 2.1, 2.2], [1.0, 1.1]]
    assert data["low"].notna().tolist() == [True, False]  # an interval of two says nothing
    text = texts_of(effect_figure.draw(data, "dev_bpc", "dev bpc"))
    assert all(each in text for each in ("short", "long", "dev bpc (lower is better)"))


def test_over_a_grid_it_draws_curves_and_a_variant_without_it_as_a_level():
    rows = [run("quality_vs_cost", "adaptive", seed=seed, S=S) for seed in (1, 2, 3) for S in (32, 64)]
    rows = [run("quality_vs_cost", "transformer_xl", S=None), *rows]
    text = texts_of(effect_figure.draw(effect_figure.data(as_frame(rows), "dev_bpc"), "dev_bpc", "dev bpc"))
    assert all(each in text for each in ("span limit S", "adaptive span", "Transformer-XL"))


@pytest.mark.parametrize("variants, panels", [(2, 1), (6, 6)])
def test_learning_curves_share_a_panel_where_they_are_few(variants, panels):
    """Seeds are one line and a band, and few are themselves."""
    rows = [run(variant=f"v{n}", seed=seed) for n in range(variants) for seed in range(1, 6 if n else 3)]
    data = curves_figure.data(as_frame(rows), "bpc")
    assert len(data) == (2 + variants - 1) * len(CURVE)  # two seeds of the first, the means of the others
    figure = curves_figure.draw(data, "bits per character", "linear")
    assert sum(axes.get_visible() for axes in figure.axes) == panels and len(figure.legends) == 1
    names = [line.get_label() for line in figure.axes[0].lines]
    assert panels > 1 or (names.count("v0"), names.count("v1")) == (2, 1)


@pytest.mark.parametrize("variants", [1, 6])
def test_learning_curves_of_two_k_at_the_same_S_are_two_lines(variants):
    """Joined into one they would go up and down at every step."""
    curve = [{"step": step, "dev_bpc": 3.0 - step / 10} for step in (1, 2)]
    rows = [
        run(variant=f"v{number}", S=S, k=k, seed=seed, curve=curve)
        for number in range(variants)
        for S, k in ((32, 8), (32, 16), (64, 8), (64, 16))
        for seed in (1, 2, 3)
    ]
    figure = curves_figure.draw(curves_figure.data(as_frame(rows), "bpc"), "bits per character", "linear")
    drawn = [line.get_xdata() for axes in figure.axes for line in axes.lines if len(line.get_xdata())]
    assert len(drawn) >= 4 * variants and all((np.diff(steps) > 0).all() for steps in drawn)
    assert [axes.get_title() for axes in figure.axes[:2]] == ["v0, k = 8", "v0, k = 16"] or variants == 1


def test_a_variant_without_a_run_on_a_text_leaves_no_empty_panel():
    rows = [run("adaptive_vs_xl", f"v{number}", corpus=text) for text in ("topics", "sources") for number in range(5)]
    rows = [row | {"digest": f"{row['digest']}-{row['corpus']}"} for row in rows]
    figure = curves_figure.draw(curves_figure.data(as_frame([*rows[:1], *rows[2:]]), "bpc"), "bits", "linear")
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == 9 and all(axes.lines for axes in shown)


def test_costs_are_drawn_where_they_differ_alone():
    def data_of(*rows: dict):
        return cost_figure.data(as_frame([*rows]), "dev_bpc")

    assert not len(data_of(*(run(variant=variant) for variant in ("fixed", "adaptive", "dynamic"))))
    rows = [run(variant="fixed"), run(variant="adaptive", macs_executed=3e4), run(variant="dynamic")]
    assert not len(data_of(*rows[:2]))  # two points are in the table
    data = data_of(*rows)
    assert data["macs_executed"].tolist() == [6e4, 3e4, 6e4] and "train_tokens_per_s" not in data
    many = [run(variant=f"variant {number}", macs_executed=1e4 * number) for number in range(1, LEGEND + 2)]
    assert (len(data_of(*many[:-1])), len(data_of(*many))) == (LEGEND, 0)  # no legend keeps more apart
    assert "(less is better)" in texts_of(cost_figure.draw(data, "dev_bpc", "dev bpc", {}))
