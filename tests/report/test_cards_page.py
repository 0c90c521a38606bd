"""The page of all cards: a row for each."""

from dataclasses import replace

import pytest

from tests._cards import card, compared, measured, part
from workflow.cards.card import AS_BASELINE, Costs, card_json
from workflow.report.pages.cards import EDGE, cards_page, read_cards, write_cards
from workflow.report.pages.index import write_root
from workflow.report.pages.site import Site
from workflow.results.record import write_text

SCRIPT = "<script>alert(1)</script>"


def entmax(name: str = "entmax15", **more):
    costs = Costs(macs=0.5)
    better = measured("sorting", "symbols", compared(3.0, 1.0, "better"), costs=costs)
    worse = measured("text", "char_lm", compared(0.2, 0.1, "worse"), margin=0.1)
    return replace(card(better, worse, part("captions"), name=name), **more)


def test_each_card_has_a_row_with_what_it_compares_and_nothing_else():
    only_text = card(measured("text", "char_lm", compared(-0.2, 0.1, "better")), name="other")
    only_text = replace(only_text, title="other", choices={"position": "rotary"})
    page = cards_page([(entmax(), "a.html"), (only_text, "b.html")])
    titles = [title for title, _ in page.columns]
    assert titles[:3] == ["sorting", "text", "captions"]
    first, second = page.rows
    assert (first.page, second.page) == ("a.html", "b.html")
    assert [bool(each) for each in first.cells] == [True, True, True, True, False]
    assert [bool(each) for each in second.cells] == [False, True, False, False, False]
    # of a part that is not run, the reason
    assert first.cells[2].title == "not run"
    assert (first.cells[2].strip, first.cells[2].sort) == (None, None)
    assert first.cells[3].text == "0.50×"


def test_better_is_to_the_right_whichever_direction_a_score_has():
    sorting, text, *_ = cards_page([(entmax(), "a.html")]).rows[0].cells
    assert sorting.told and text.told
    assert (sorting.text, text.text) == ("3.0 better", "0.200 worse")
    assert sorting.strip.value > sorting.strip.zero > text.strip.value
    # the difference is two margins, of five that are drawn
    assert text.strip.value == pytest.approx(50 - 46 * 2 / EDGE, abs=0.1)
    assert text.strip.low < text.strip.value < text.strip.high
    far = measured("sorting", "symbols", compared(90.0, 1.0, "better"))
    (cell, *_) = cards_page([(card(far), "a.html")]).rows[0].cells
    assert cell.strip.value <= 100


def test_the_same_settings_under_another_name_are_said_to_be_the_same():
    again = entmax("mine", title="mine", choices={"normaliser": {"name": "entmax15"}})
    other = entmax("other", title="other", choices={"normaliser": "sparsemax"})
    rows = {row.page: row for row in cards_page([(entmax(), "a"), (again, "b"), (other, "c")]).rows}
    assert rows["a"].same == ("mine",)
    assert rows["b"].same == ("entmax15",)
    assert not rows["c"].same


def test_the_same_runs_under_another_name_are_said_to_be_the_same():
    def of_runs(name: str, choices: dict, *digests: str):
        parts = []
        for title, digest in zip(("sorting", "copying"), digests, strict=True):
            better = compared(3.0, 1.0, "better")
            parts.append(measured(title, "symbols", better, digests=(digest, f"{name}{title}")))
        return replace(card(*parts, name=name), title=name, choices=choices)

    grid = of_runs("grid", {"selection": "top_k"}, "a", "b")
    spelled = of_runs("spelled", {"selection": {"name": "top_k", "k": 4}}, "a", "b")
    other = of_runs("other", {"selection": {"name": "top_k", "k": 8}}, "a", "c")
    page = cards_page([(grid, "grid"), (spelled, "spelled"), (other, "other")])
    same = {row.page: row.same for row in page.rows}
    assert same == {"grid": ("spelled",), "spelled": ("grid",), "other": ()}


def test_a_variant_that_chooses_what_the_baseline_does_is_said_to_be_the_same(tmp_path):
    ungated = card(part("sorting", why=AS_BASELINE), name="no-gate", title="no-gate")
    ungated = replace(ungated, choices={"net": {"gate": False}})
    softmax = replace(ungated, name="softmax", title="softmax", choices={"normaliser": "softmax"})
    nothing = replace(ungated, name="none", title="none", choices={"net": {}})
    cards = [(ungated, "a"), (softmax, "b"), (nothing, "c"), (entmax(), "d")]
    same = {row.page: row.same for row in cards_page(cards).rows}
    assert same["a"] == ("the baseline", "none")
    assert same["b"] == ("the baseline",)
    assert same["d"] == ()
    write_cards(Site(results=tmp_path, reports=tmp_path), cards)
    assert "the same as the baseline" in (tmp_path / "cards" / "index.html").read_text()
    (cell,) = cards_page([(ungated, "a")]).rows[0].cells[:1]
    assert (cell.text, cell.title) == ("=", AS_BASELINE)


def test_a_text_of_ones_own_has_a_column_of_its_own():
    own_part = measured("novel.txt", "char_lm", compared(0.3, 0.1, "worse"), name="text")
    page = cards_page([(entmax(), "a"), (card(own_part), "b")])
    assert [title for title, _ in page.columns][:4] == ["sorting", "text", "captions", "novel.txt"]
    rows = {row.page: row for row in page.rows}
    assert [bool(each) for each in rows["a"].cells[:4]] == [True, True, True, False]
    assert [bool(each) for each in rows["b"].cells[:4]] == [False, False, False, True]
    # another card of one variant is no other variant
    assert rows["a"].same == rows["b"].same == ()


def test_what_a_card_says_is_escaped(tmp_path):
    site = Site(results=tmp_path, reports=tmp_path)
    write_cards(site, [(entmax(title=SCRIPT), "a.html")])
    page = (tmp_path / "cards" / "index.html").read_text()
    assert "alert(1)" in page
    assert SCRIPT not in page


def test_a_new_card_is_one_more_row_of_the_index_and_a_link_once_it_has_a_page(tmp_path):
    results, reports = tmp_path / "results", tmp_path / "reports"
    mine = entmax("mine", title="mine", choices={"normaliser": "sparsemax"})
    write_text(results / "laptop-card-mine" / "card.json", card_json(mine))
    cards = read_cards(results, "laptop")
    assert len(cards) > 1  # those that ship
    write_cards(Site(results / "laptop-card-mine", reports / "laptop"), cards)
    assert write_root(results, reports)
    link = 'href="laptop/cards/mine.html"'
    index = reports / "index.html"
    assert 'data-page="laptop/cards/mine.html"' in index.read_text()
    assert link not in index.read_text()
    write_text(reports / "laptop" / "cards" / "mine.html", "a page")
    write_root(results, reports)
    assert link in index.read_text()
