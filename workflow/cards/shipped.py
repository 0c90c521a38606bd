"""The cards of known variants, which ship with the project: results/precomputed/SCALE/cards.json.

Scores, comparisons and MACs follow from records, which ship too. Memory and step time are ratios to
the baseline, measured when the card was made. The file keeps both, so that all cards can be shown
without computing one. Its cards are as in card.json, one on each line, without the back-test, which
is of the battery.
"""

import json
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

from workflow.cards.card import Card, CardPart, card_content, make_card
from workflow.cards.collect import collect_asked
from workflow.cards.stored import as_card, parse_card
from workflow.config.errors import ConfigError
from workflow.config.files import PRECOMPUTED, shown_path
from workflow.config.strict import read_json
from workflow.results.precomputed import CARDS, runs_of_cards
from workflow.results.record import write_text
from workflow.results.store import shipped_store
from workflow.settings.config import load_setup


@cache
def shipped_cards(scale: str) -> tuple[Card, ...]:
    """Read the cards that ship for a scale, if any; `ConfigError` names a wrong one."""
    path = PRECOMPUTED / scale / CARDS
    if not path.is_file():
        return ()
    content = read_json(path)
    if not isinstance(content, list):
        raise ConfigError(f"{shown_path(path)}: expected a list of cards; restore the file")
    cards = []
    for number, each in enumerate(content, start=1):
        cards.append(as_card(parse_card(each, f"{shown_path(path)}: card {number}")))
    return tuple(cards)


def write_shipped(cards: Iterable[Card], scale: str) -> Path:
    """Write the cards of a scale, in the order of their names, and return the file."""
    lines = []
    for card in sorted(cards, key=lambda each: each.name):
        content = card_content(card)
        del content["back_test"]
        lines.append(json.dumps(content, separators=(",", ":"), ensure_ascii=False))
    path = PRECOMPUTED / scale / CARDS
    listed = ",\n".join(lines)
    write_text(path, f"[\n{listed}\n]\n")
    for each in (shipped_cards, runs_of_cards):
        each.cache_clear()
    return path


def variant_of(card: Card) -> dict:
    """Return the variant of a card as a config names it."""
    asked = {"name": card.name, "title": card.title} | card.choices
    return {key: value for key, value in asked.items() if value}


def with_shipped_costs(card: Card) -> Card:
    """Fill in the costs that a card lacks where its runs are those of a card that ships.

    What was measured here stays.
    """
    shipped: dict[tuple[str, str], CardPart] = {}
    for other in shipped_cards(card.scale):
        for part in other.parts:
            shipped |= {(part.name, digest): part for digest in part.digests}
    parts = []
    for part in card.parts:
        theirs = [shipped.get((part.name, digest)) for digest in part.digests]
        # a run that does not ship has no part there
        if theirs and theirs[0] and all(each is theirs[0] for each in theirs):
            part = _with_costs(part, theirs[0])
        parts.append(part)
    return replace(card, parts=tuple(parts))


def remake(card: Card) -> Card:
    """Make a card again from the records that ship, with the costs that it has."""
    config = {"scale": card.scale, "variant": variant_of(card), "train": "nothing"}
    setup = load_setup(config)
    runs, empty = collect_asked(setup, shipped_store())
    made = make_card(card.name, card.title, card.choices, card.scale, runs, empty, costs={})
    theirs = {each.name: each for each in card.parts}
    parts = []
    for part in made.parts:
        measured = theirs.get(part.name)
        parts.append(_with_costs(part, measured) if measured else part)
    return replace(made, parts=tuple(parts))


def _with_costs(part: CardPart, shipped: CardPart) -> CardPart:
    """Fill in the costs that a part lacks with those of the same runs in a card that ships."""
    missing = {}
    for kind, ratio in vars(shipped.costs).items():
        if getattr(part.costs, kind) is None:
            missing[kind] = ratio
    limits = part.limits or shipped.limits
    return replace(part, costs=replace(part.costs, **missing), limits=limits)
