"""The cards that ship with the project."""

import json
from dataclasses import replace

import pytest

from tests._cards import card, compared, measured
from workflow.cards import shipped as cards
from workflow.cards.card import AtLimit, Costs, card_content
from workflow.cards.shipped import remake, shipped_cards, with_shipped_costs, write_shipped
from workflow.config.errors import ConfigError
from workflow.plan.targets import Targets
from workflow.report.pages.cards import read_cards
from workflow.results import precomputed
from workflow.results.precomputed import CARDS, runs_of_cards
from workflow.results.record import write_text
from workflow.results.store import shipped_store
from workflow.scripts.card import build_card

DIGESTS = ("0123456789ab", "ba9876543210")
MEASURED = Costs(macs=0.5, memory=0.6, train=1.5, predict=1.25)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Put a folder in place of results/precomputed."""
    for module in (cards, precomputed):
        monkeypatch.setattr(module, "PRECOMPUTED", tmp_path / "precomputed")
    forget()
    yield tmp_path / "precomputed"
    forget()


def forget() -> None:
    for each in (shipped_cards, runs_of_cards):
        each.cache_clear()


def entmax(**more):
    """Make a card with one part. more: what its part has."""
    sorting = {"digests": DIGESTS} | more
    part = measured("sorting", "symbols", compared(3.0, 1.0, "better"), **sorting)
    return card(part, choices={"normaliser": "entmax15", "net": {}})


def test_what_is_written_is_read(folder):
    limits = (AtLimit(64, 0.5, 0.75),)
    other = replace(entmax(digests=()), name="other", title="Other")
    written = [entmax(costs=MEASURED, limits=limits), other]
    file = write_shipped(reversed(written), "laptop")
    assert list(map(card_content, shipped_cards("laptop"))) == list(map(card_content, written))
    assert runs_of_cards("laptop") == set(DIGESTS)
    assert shipped_cards("overnight") == ()
    # a changed card changes one line
    assert len(file.read_text().splitlines()) == len(written) + 2


def test_a_card_that_ships_lends_its_costs_to_the_same_runs_alone(folder):
    limits = (AtLimit(64, 0.5, 0.75),)
    write_shipped([entmax(costs=MEASURED, limits=limits)], "laptop")
    (part,) = with_shipped_costs(entmax()).parts
    assert part.costs == MEASURED
    assert part.limits == limits

    timed_here = Costs(train=2.0)
    (part,) = with_shipped_costs(entmax(costs=timed_here)).parts
    assert part.costs == replace(MEASURED, train=2.0)

    unknown = ("aaaaaaaaaaaa", "bbbbbbbbbbbb")
    for others in ((), unknown, (DIGESTS[0], *unknown), (*unknown, DIGESTS[0])):
        (part,) = with_shipped_costs(entmax(digests=others)).parts
        assert part.costs == Costs()


def test_a_card_tells_its_settings_with_those_that_were_left_out():
    settings = {card.name: card.settings for card in shipped_cards("laptop")}
    assert settings["top_p"] == {"selection": "p = 0.9"}
    assert settings["softmax_one"] == {}
    # a default, which no config names
    assert "start = -4" in settings["dynamic"]["span"]


def test_a_card_made_here_takes_the_place_of_one_that_ships(folder, tmp_path):
    write_shipped([entmax(), replace(entmax(), name="other")], "laptop")
    here = replace(entmax(), title="mine")
    results = tmp_path / "results"
    write_text(results / "laptop-card-entmax15" / "card.json", json.dumps(card_content(here)))
    found = {page: each.title for each, page in read_cards(results, "laptop")}
    assert found == {"entmax15.html": "mine", "other.html": "entmax15"}


def test_a_damaged_card_is_named(folder):
    write_shipped([entmax()], "laptop")
    (good,) = json.loads((folder / "laptop" / CARDS).read_text())
    for wrong, reason in (([good, good | {"scale": 3}], "card 2.*scale"), ({}, "list of cards")):
        write_text(folder / "laptop" / CARDS, json.dumps(wrong))
        forget()
        with pytest.raises(ConfigError, match=reason):
            shipped_cards("laptop")


def test_for_a_card_that_ships_nothing_is_trained_or_timed():
    first, *_ = shipped_cards("laptop")
    config = {"variant": cards.variant_of(first)}
    targets = Targets.of(config)
    assert targets.runs.trained == []
    assert targets.costs_of_card() == []
    anew = Targets.of(config | {"train": "everything"})
    assert anew.runs.trained
    assert anew.costs_of_card()
    more = Targets.of(config | {"card_seeds": 6})
    assert more.runs.trained
    assert more.costs_of_card()


@pytest.mark.slow
def test_cards_that_ship_follow_from_the_records_that_ship():
    for each in shipped_cards("laptop"):
        assert card_content(remake(each)) == card_content(each), each.name


@pytest.mark.slow
def test_a_card_asked_for_by_its_variant_is_the_one_that_ships(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where nothing was trained
    first, *_ = shipped_cards("laptop")
    made = build_card({"variant": cards.variant_of(first)}, [])
    assert card_content(replace(made, back_test=None)) == card_content(first)


@pytest.mark.slow
def test_records_of_cards_ship():
    assert runs_of_cards("laptop") <= set(shipped_store().digests())
