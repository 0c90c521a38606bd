"""The page of a card: its words, its formulas and its figures."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from tests._cards import (
    back_tested,
    card,
    compared,
    full_card,
    known_choice,
    measured,
    part,
    scored,
)
from tests.report.test_pictures import faults
from workflow.cards.backtest import BackTest
from workflow.cards.card import AS_BASELINE, AtLimit, AtSize, Costs, Failed, Rate, card_json
from workflow.config.choices import ATTENTION, AXES, choice_names
from workflow.report.pages.card import card_page, formulas_of, write_card
from workflow.report.pages.card_figures import (
    draw_costs,
    draw_failed,
    draw_lengths,
    draw_limits,
    draw_quality,
    draw_strips,
)
from workflow.report.pages.card_words import conclude, name_known, say_back_test, title_of
from workflow.report.pages.mathml import paragraphs_of, write_line
from workflow.report.pages.site import Site
from workflow.results.numbers import MINUS

SCRIPT = "<script>alert(1)</script>"
FIGURES = (draw_strips, draw_costs, draw_quality, draw_lengths, draw_failed)


# --- conclusion ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "difference", "verdict", "size"),
    [
        ("char_lm", 0.0952, "worse", "0.095 bpc higher"),
        ("char_lm", -0.0952, "better", "0.095 bpc lower"),
        ("symbols", 11.583, "better", "11.6 points higher"),
        ("symbols", -11.583, "worse", "11.6 points lower"),
    ],
)
def test_an_effect_is_told_with_its_direction_and_interval(task, difference, verdict, size):
    half = abs(difference) / 2
    found = conclude(card(measured("one part", task, compared(difference, half, verdict))))[0]
    assert found.lower().startswith(verdict)
    assert "one part" in found
    assert size in found
    low, high = sorted((abs(difference) - half, abs(difference) + half))
    places = 3 if task == "char_lm" else 1
    assert f"{low:.{places}f} to {high:.{places}f}" in found


def test_only_the_largest_effects_are_told_with_their_size():
    sizes = (1.5, 9.0, -7.0, 3.0, -2.0)
    verdicts = ["better" if size > 0 else "worse" for size in sizes]
    parts = [
        measured(f"part of {size}", "symbols", compared(size, 0.5, verdict))
        for size, verdict in zip(sizes, verdicts, strict=True)
    ]
    found = conclude(card(*parts))[0]
    assert found.index("part of 9.0") < found.index("part of 3.0") < found.index("part of -7.0")
    # the others are named alone
    assert "part of 1.5 (" not in found
    assert "part of -2.0 (" not in found
    assert found.index("part of 3.0") < found.index("part of 1.5")


def test_many_smaller_effects_are_counted():
    sizes = (9.0, 8.0, 7.0, 1.5, 1.4, 1.3, 1.2)
    parts = [measured(f"of {size}", "symbols", compared(size, 0.5, "better")) for size in sizes]
    found = conclude(card(*parts))[0]
    assert "4 other parts" in found
    assert "of 1.5" not in found


def test_what_is_open_is_told_with_the_seeds_that_settle_it():
    unclear = [
        measured("copying", "symbols", compared(0.5, 2, "inconclusive", seeds=8)),
        measured("recall", "symbols", compared(0.5, 2, "inconclusive", seeds=20)),
    ]
    equal = measured("sorting", "symbols", compared(0.1, 0.2, "no difference"))
    left_out = part("captions")
    found = " ".join(conclude(card(*unclear, equal, left_out)))
    assert "17 more seeds" in found
    assert f"card_seeds={len(unclear[0].ours) + 17}" in found
    assert found.index("sorting") < found.index("copying") < found.index("captions")
    # three seeds of the variant are enough here, and no number of them is there
    never = measured("copying", "symbols", compared(0.5, 2, "inconclusive", seeds=None))
    enough = measured("recall", "symbols", compared(0.5, 2, "inconclusive", seeds=3))
    assert "baseline" in " ".join(conclude(card(never)))
    assert "seed" not in " ".join(conclude(card(enough)))


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ((Costs(macs=0.35, train=0.42),), ("0.35×", "MACs", "0.42×", "its training time")),
        ((Costs(macs=0.5), Costs(macs=0.7)), ("0.50 to 0.70×", "MACs")),
        ((Costs(macs=1.001), Costs(macs=0.999)), ("as many MACs",)),
        ((Costs(train=1.7),), ("1.70×", "the baseline’s training time")),
        ((Costs(train=0.8), Costs(train=1.3)), ("0.80 to 1.30×", "training time")),
    ],
)
def test_costs_are_in_the_last_sentence(costs, said):
    parts = []
    for number, each in enumerate(costs):
        parts.append(measured(f"part {number}", "symbols", compared(3, 1, "better"), costs=each))
    last = conclude(card(*parts))[-1]
    assert all(words in last for words in said)


def test_a_rate_that_is_better_is_told_where_the_variant_is_not():
    worse = compared(-3.0, 0.5, "worse")
    gain = (Rate(0.5, 2.5, 0.001, 0.004), Rate(2.0, -9.0, 0.0001, 0.0008))
    loss = (Rate(0.5, 0.2, 0.8, 1.0),)
    turned = measured("sorting", "symbols", worse, rates=gain)
    stays = measured("copying", "symbols", worse, rates=loss)
    already = measured("recall", "symbols", compared(3.0, 0.5, "better"), rates=gain)
    said = conclude(card(turned, stays, already))[1]
    assert "sorting" in said
    assert "2.5 points higher at half the rate" in said
    assert "copying" not in said
    assert "recall" not in said
    assert "no part" in conclude(card(stays))[1]
    lower_is_better = measured("text", "char_lm", compared(0.5, 0.1, "worse"), rates=gain[1:])
    assert "twice the rate" in conclude(card(lower_is_better))[1]
    (line, _) = card_page(card(turned)).rates
    assert (line.rate, line.gain) == ("half", "+2.5 points")


@pytest.mark.parametrize("verdict", ["worse", "no difference", "inconclusive"])
def test_without_such_runs_they_are_the_first_option_unless_all_parts_are_better(verdict):
    better = measured("sorting", "symbols", compared(3.0, 0.5, "better"))
    other = measured("copying", "symbols", compared(-3.0, 0.5, verdict, seeds=20))
    said = " ".join(conclude(card(better, other)))
    assert "card_rates=true" in said
    assert said.index("card_rates") < said.find("more seeds") or "more seeds" not in said
    assert ("more seeds" in said) == (verdict == "inconclusive")
    assert "card_rates" not in " ".join(conclude(card(better)))


def test_runs_at_other_rates_that_failed_are_told_with_the_reason():
    worse = compared(-3.0, 0.5, "worse")
    rates = (Rate(0.5, 0.2, 0.8, 1.0, score=52.0), Rate(2.0, why="diverged: the loss is infinite"))
    both = [measured(title, "symbols", worse, rates=rates) for title in ("sorting", "sorting more")]
    made = card(*both)
    (said,) = [each for each in conclude(made) if "rate" in each]
    assert "improve no part" in said
    assert "the run at twice the rate failed on sorting (diverged: the loss is infinite)" in said
    none, failed = card_page(made).rates[:2]
    assert (none.gain, none.why) == ("+0.2 points", "")
    assert (failed.gain, failed.why) == ("", "diverged: the loss is infinite")


def test_a_variant_that_trains_at_another_rate_alone_is_said_to(tmp_path):
    failed = (Failed(1, "diverged", "", ()),)
    rates = (Rate(0.5, score=99.0, why="nothing to compare with"), Rate(2.0, why="diverged"))
    made = card(part("sorting", failed=failed, rates=rates, why="no run finished: diverged"))
    said = " ".join(conclude(made))
    assert "a run finished at half the rate on sorting" in said.lower()
    assert "twice the rate failed on sorting (diverged)" in said
    assert "improve no part" not in said
    write_card(Site(results=tmp_path, reports=tmp_path), "cards/x.html", made)
    at_half, _ = card_page(made).rates
    assert at_half.why == f"nothing to compare with; {made.parts[0].score.title} 99 %"
    assert "nothing to compare with; " in (tmp_path / "cards" / "x.html").read_text()


def test_models_of_another_size_of_which_none_finished_have_a_line_with_the_reason(tmp_path):
    failed = (Failed(1, "oom", "16 GiB are too few", ()),)
    at = AtSize(2.0, {}, {1: 50.0}, None, failed, "no run finished: oom: 16 GiB are too few")
    made = card(measured("sorting", "symbols", compared(3.0, 0.5, "better"), sizes=(at,)))
    assert "at 2× the width no run finished on sorting" in conclude(made)[0]
    (line,) = card_page(made).sizes
    assert (line.size, line.difference, line.verdict) == ("2×", "", at.why)
    assert card_page(made).failed == ("sorting at 2× the width, seed 1: oom: 16 GiB are too few",)
    write_card(Site(results=tmp_path, reports=tmp_path), "cards/x.html", made)
    assert at.why in (tmp_path / "cards" / "x.html").read_text()


def test_the_baseline_is_the_same_as_itself():
    same = part("sorting", why=AS_BASELINE)
    assert conclude(card(same)) == ["The same as the baseline."]
    (said,) = conclude(card(same, part("captions", why="no such dataset")))
    assert "sorting" in said
    assert "captions (no such dataset)" in said


def test_a_variant_that_never_trained_is_said_to():
    failed = (Failed(1, "diverged", "", ()),)
    found = conclude(card(part("sorting", failed=failed, why="no run finished: diverged")))
    assert len(found) == 2
    assert "no run finished on sorting" in found[0].lower()
    assert "card_rates=true" in found[1]


def test_runs_that_failed_are_counted_once():
    failed = (Failed(4, "diverged", "", ()),)
    both = []
    for title in ("sorting", "sorting more"):
        both.append(measured(title, "symbols", compared(0.1, 2, "inconclusive"), failed=failed))
    assert "1 of 4 runs failed" in conclude(card(*both))[0]


# --- back-test -------------------------------------------------------------------------------


def test_the_battery_is_told_next_to_saying_worse_of_every_variant():
    larger = (back_tested("overnight", scored(7, 6, 5)), back_tested("small", scored(9, 4, 8)))
    found = say_back_test(BackTest("laptop", larger, ()))
    overnight, small = found.split(" and ")
    for words in ("overnight", "6 of 7 known variants", "worse\u201d: 5"):
        assert words in overnight
    for words in ("small", "4 of 9", "worse\u201d: 8"):
        assert words in small
    assert "p =" not in found
    assert "Too few" in found


def test_p_is_told_where_there_is_one():
    larger = (back_tested("small", scored(17, 12, 11, p=0.0416)),)
    assert "p = 0.042" in say_back_test(BackTest("laptop", larger, ()))
    larger = (back_tested("small", scored(17, 17, 11, p=0.0001)),)
    assert "p < 0.001" in say_back_test(BackTest("laptop", larger, ()))


def test_nothing_is_said_of_a_battery_that_was_not_tested():
    assert say_back_test(None) == ""
    of_symbols = back_tested("overnight", scored(0, 0, 0), symbols=scored(3, 3, 0))
    assert say_back_test(BackTest("laptop", (of_symbols,), ())) == ""
    assert card_page(card(part("sorting"))).back_test is None


def test_each_card_has_the_back_test_on_its_page_and_in_its_numbers():
    full = full_card()
    table = card_page(full).back_test
    # at overnight: all, tasks of symbols, without each variant, by part; no symbols at small
    assert [line.scale for line in table.lines] == ["overnight"] * 4 + ["small"] * 3
    of_all, of_symbols, left_out, by_part = table.lines[:4]
    assert (of_all.variants, of_all.battery, of_all.always_worse) == ("17", "12", "11")
    assert (of_all.dearer, of_all.rank, of_all.p) == ("2", "−0.25", "0.04")
    assert (of_symbols.variants, of_symbols.battery, of_symbols.p) == ("3", "3", "")
    assert (left_out.variants, left_out.battery) == ("17", "4")
    assert by_part.battery == "6 (informative)"
    assert "copying and recall" in table.note
    at_small = json.loads(card_json(full))["back_test"]["larger"][1]
    assert (at_small["scale"], at_small["score"]["battery"]) == ("small", 7)
    assert json.loads(card_json(card()))["back_test"] is None


# --- names -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choices", "title"),
    [
        ({"normaliser": "entmax15"}, "entmax-1.5"),
        ({"span": {"name": "adaptive", "limit": 64}}, "adaptive span (S = 64)"),
        ({"span": "adaptive", "normaliser": "sparsemax"}, "adaptive span, sparsemax"),
        ({"net": {"gate": True}}, "output gate"),
    ],
)
def test_a_title_is_in_the_words_of_the_field_unless_one_is_given(choices, title):
    assert title_of(card(choices=choices, name="my_name", title="my name")) == title
    assert title_of(card(choices=choices, name="my_name", title="Mine")) == "Mine"


def test_a_known_variant_is_named_by_its_choices():
    assert name_known(known_choice("entmax15", limit=64), {}) == "fixed span, entmax-1.5, S = 64"
    content = json.loads(known_choice())
    content["attention"]["apply_to"] = ["encoder"]
    assert name_known(json.dumps(content), {}).endswith("in encoder only")


def test_a_known_variant_is_told_from_the_baseline_by_shared_keys_and_usual_positions():
    content = json.loads(known_choice()) | {"key_heads": 2}
    assert "2 KV heads" in name_known(json.dumps(content), {"position": "none"})
    assert "absolute" not in name_known(known_choice(), {"position": "none"})
    assert "absolute" in name_known(known_choice(), {"position": "nape"})


AGAINST = {
    "span": "full",
    "selection": "all",
    "normaliser": "softmax",
    "position": "nape",
    "score_scale": "none",
}


def test_the_baseline_is_named_part_by_part():
    on_text = replace(part("text"), against=AGAINST | {"span": "fixed", "position": "rotary"})
    others = [replace(part(title), against=AGAINST) for title in ("sorting", "copying")]
    said = card_page(card(on_text, *others)).note
    assert said.index("RoPE on text") < said.index("NAPE on the other parts")
    assert "fixed span, RoPE" in said
    assert "Baseline" not in card_page(card(part("text"))).note


def test_a_position_is_told_that_the_input_has_others():
    added = AGAINST | {"position": "none", "positional_encoding": "sinusoid"}
    each = replace(measured("phrases", "symbols", compared(3, 1, "better")), against=added)
    (line,) = card_page(card(each, choices={"position": "alibi"})).lines
    assert "still added to the input" in line.note
    (line,) = card_page(card(each, choices={"span": "fixed"})).lines
    assert not line.note


def test_an_interval_ends_where_two_shares_can_differ_by_no_more():
    each = measured("copying", "symbols", compared(-50, 300, "inconclusive"))
    each = replace(each, ours={1: 20.0, 2: 40.0}, baseline={1: 80.0, 2: 80.0})
    (line,) = card_page(card(each)).lines
    assert line.interval == f"{MINUS}80 to 20"
    assert "30" in line.score and "80" in line.score


# --- formulas --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("axis", "name"), [(axis, name) for axis in AXES for name in choice_names(axis)]
)
def test_the_formula_of_every_choice_is_written_as_mathml(axis, name):
    (formula,) = formulas_of({axis: name})
    assert formula.about
    for each in (*formula.formula, *formula.rest):
        for line in each.lines:
            assert "<code>" not in line
            ET.fromstring(f"<p>{line}</p>".replace("&#160;", " "))


def texts(line: str) -> str:
    return "".join(ET.fromstring(f"<p>{write_line(line)}</p>").itertext())


def test_every_choice_but_one_has_a_formula():
    without = []
    for axis in AXES:
        for name in choice_names(axis):
            (formula,) = formulas_of({axis: name})
            if not formula.formula:
                without.append(name)
    assert without == ["all"]


def test_a_fraction_has_all_factors_before_it_above_and_one_below():
    root = ET.fromstring(write_line("y = 2 a b / (c + 1) d"))
    above, below = root.find(".//mfrac")
    assert "".join(above.itertext()) == "2ab"
    assert "".join(below.itertext()) == "c+1"
    assert "".join(root.itertext()).endswith("d")


def test_indices_powers_and_sums_have_their_places():
    root = ET.fromstring(write_line("p_i = exp(z_i)^2 / sum_j x_{j + 1}"))
    assert ["".join(each.itertext()) for each in root.iter("munder")] == ["∑j"]
    assert "".join(root.find(".//msup")[1].itertext()) == "2"
    assert "xj+1" in ["".join(each.itertext()) for each in root.iter("msub")]


@pytest.mark.parametrize(
    "line", ["p = (a", "p = a)", "p = a /", "p = a_", "x^" * 200, "(" * 250, "sum " * 70 + "("]
)
def test_what_is_no_formula_is_written_as_it_is(line):
    assert texts(line) == line


def test_a_formula_is_escaped():
    written = write_line(f"p = {SCRIPT} & <b>")
    assert "<script" not in written
    assert "<b>" not in written


def test_words_between_formulas_are_no_part_of_them():
    written = write_line("m(x) = 1 for the first n keys, else (0 if odd)")
    assert "</math> for the first <math" in written
    assert "</math> keys, else <math" in written
    assert written.count("<mtext>") == 1  # in brackets


def test_prose_stays_prose():
    about, formula, more = paragraphs_of("What it is.\n\n    p = a\n\nOf x = 1 this\nis said.")
    assert not about.lines
    assert len(formula.lines) == 1
    assert more.text == "Of x = 1 this is said."


def test_a_name_from_outside_reads_no_file():
    assert (ATTENTION / "engine" / "engine.py").is_file()
    (formula,) = formulas_of({"span": "../engine/engine"})
    assert not formula.about


# --- figures ---------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", FIGURES)
@pytest.mark.parametrize("parts", [1, 9])
def test_every_figure_can_be_read(draw, parts):
    assert not faults(draw(full_card(parts)).drawing)


def test_costs_that_equal_the_baseline_can_be_read():
    same = measured("sorting", "symbols", compared(3, 1, "better"), costs=Costs(macs=1.0))
    assert not faults(draw_costs(card(same)).drawing)
    assert draw_quality(card(same)) is None


def test_costs_over_S_are_drawn_as_far_as_they_were_measured():
    assert not faults(draw_limits(full_card(2)).drawing)
    counted = (AtLimit(64, 0.5, None), AtLimit(128, 0.7, None))
    drawn = draw_limits(card(part("sorting", limits=counted)))
    assert list(drawn.numbers["cost"]) == ["MACs", "MACs"]
    assert draw_limits(card(part("sorting", limits=(AtLimit(64, None, None),)))) is None


@pytest.mark.parametrize("draw", FIGURES)
def test_nothing_is_drawn_of_nothing(draw):
    assert draw(card(part("sorting"))) is None


def test_a_mark_says_which_known_variant_it_is():
    marks = draw_strips(full_card(1))
    known, ours = marks.numbers.iloc[0], marks.numbers.iloc[-1]
    assert known["label"] == "fixed span, S = 64"
    assert known["difference"] == "90.0 points lower"
    assert ours["label"] == "this variant"


def test_runs_that_two_parts_share_are_listed_once():
    failed = (Failed(1, "diverged", "not finite", ((0, 3.0),)),)
    both = [part(title, corpus="sort", failed=failed) for title in ("sorting", "sorting more")]
    assert len(card_page(card(*both)).failed) == 1


# --- the page --------------------------------------------------------------------------------


def test_a_card_is_written_with_everything_from_outside_escaped(tmp_path):
    failed = (Failed(1, "error", SCRIPT, ((0, 1.0), (1, 2.0))),)
    strange = measured(
        SCRIPT, "symbols", compared(3, 1, "better"), failed=failed, costs=Costs(macs=0.5)
    )
    empty = part("captions", why=SCRIPT)
    site = Site(results=tmp_path, reports=tmp_path)
    write_card(site, "cards/x.html", card(strange, empty, title=SCRIPT))
    page = (tmp_path / "cards" / "x.html").read_text()
    assert "alert(1)" in page
    assert SCRIPT not in page


def test_the_table_lists_every_part_and_the_reason_of_an_empty_one():
    page = card_page(full_card())
    assert len(page.lines) == 10
    *measured_lines, empty = page.lines
    assert all(" to " in line.interval for line in measured_lines)
    assert empty.verdict == "there is no cross-attention in this model"
    assert not empty.difference
    assert [line.told for line in measured_lines[:4]] == [True, True, False, False]


def test_behaviour_is_listed_where_the_variant_was_trained():
    trained = part("sorting", behaviour={"mean_span": (12.0, 256.0)})
    other = part("copying", corpus="copy", behaviour={"mean_span": (None, 256.0)})
    (line,) = card_page(card(trained, other)).behaviour
    assert (line.ours, line.baseline) == ("12", "256")
