"""All cards of a scale at a glance: a row for each, a column for each part and cost."""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from workflow.cards.card import AS_BASELINE, Card, CardPart
from workflow.cards.shipped import shipped_cards
from workflow.cards.stored import as_card, read_card
from workflow.config.errors import ConfigError
from workflow.report.pages.card_figures import is_significant
from workflow.report.pages.card_words import (
    form_of_effect,
    in_margins,
    say_interval,
    title_of,
    unit_of,
    write_ratio,
)
from workflow.report.pages.site import Site
from workflow.results.numbers import MINUS
from workflow.settings.battery import ALL_CARDS

ALL = f"{ALL_CARDS}.html"  # the page, next to those of the cards
OF_CARD = "-card-"  # in the names of folders of results
SHOWN_COSTS = {"macs": "MACs", "train": "step time"}
EDGE = 5.0  # margins of no difference on both sides of a strip
FREE = 4.0  # per cent of a strip that its outermost mark keeps free


@dataclass(frozen=True)
class Strip:
    """Where an effect is on the axis of its cell, from 0 to 100; better is to the right."""

    zero: float
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class CardCell:
    """A number of a card, or a sign that there is none. title: all that is known of it, or why.
    told: it is significant. sort: what its column sorts by, if anything. strip: of a difference.
    """

    text: str
    title: str
    told: bool
    sort: float | None
    strip: Strip | None = None


@dataclass(frozen=True)
class CardRow:
    """A card. page: its file. same: names of what chooses the same. own: it does not ship. cells:
    None where there is no comparison.
    """

    title: str
    page: str
    same: tuple[str, ...]
    own: bool
    cells: tuple[CardCell | None, ...]


@dataclass(frozen=True)
class CardsPage:
    """All cards of a scale. columns: titles, and what each is in."""

    scale: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[CardRow, ...]
    title: str = "One battery for every variant"

    @property
    def address(self) -> str:
        """Name the folder of the cards' pages, from that of all reports."""
        return f"{quote(self.scale)}/cards/"


def read_cards(results: Path, scale: str) -> list[tuple[Card, str]]:
    """Read the cards of a scale, those made here and those that ship, each with its page's file.

    results: the folder of all results. Of two with one file, the one made here counts. One that
    another version of the suite wrote is left out until it is made again.
    """
    cards = {f"{card.name}.html": card for card in shipped_cards(scale)}
    for file in sorted(results.glob(f"{scale}*{OF_CARD}*/card.json")):
        place, _, name = file.parent.name.partition(OF_CARD)
        page = f"{name}{place.removeprefix(scale)}.html"
        with suppress(ConfigError):
            cards[page] = as_card(read_card(file))
    return [(card, page) for page, card in cards.items()]


def find_cards(results: Path, scale: str) -> CardsPage | None:
    """Lay out the cards of a scale; None if it has none. results: the folder of all results."""
    cards = read_cards(results, scale)
    return cards_page(cards) if cards else None


def write_cards(site: Site, cards: list[tuple[Card, str]]) -> None:
    """Write the page of all cards, next to theirs. cards: each with the name of its page's file."""
    if cards:
        page = cards_page(cards)
        site.write("cards.html.j2", f"cards/{ALL}", {"title": page.title, "cards": page})


def cards_page(cards: list[tuple[Card, str]]) -> CardsPage:
    """Lay out all cards, in the order of their titles."""
    ordered = sorted(cards, key=lambda each: title_of(each[0]).casefold())
    parts: dict[tuple[str, str], CardPart] = {}
    for card, _ in ordered:
        for each in card.parts:
            parts.setdefault(_column(each), each)
    columns = [(each.part.title, unit_of(each)) for each in parts.values()]
    columns += [(title, "ratio") for title in SHOWN_COSTS.values()]
    shipped = {each.name for each in shipped_cards(ordered[0][0].scale)}
    rows = []
    for card, page in ordered:
        cells = [_effect(card, column) for column in parts]
        cells += [_cost(card, name) for name in SHOWN_COSTS]
        same = _same_as(card, [other for other, _ in ordered])
        own = card.name not in shipped
        rows.append(CardRow(title_of(card), page, same, own, tuple(cells)))
    return CardsPage(ordered[0][0].scale, tuple(columns), tuple(rows))


def _column(each: CardPart) -> tuple[str, str]:
    """Tell columns apart: a part that reads the user's text has its title."""
    return each.name, each.part.title


def _same_as(card: Card, cards: Iterable[Card]) -> tuple[str, ...]:
    """Name what the variant of a card is the same as: the baseline, or those of other cards."""
    others = {other.name for other in cards if _alike(other, card)} - {card.name}
    is_baseline = all(each.why == AS_BASELINE for each in card.parts)
    return (*(["the baseline"] if is_baseline else []), *sorted(others))


def _alike(one: Card, other: Card) -> bool:
    """Say whether two cards are of one variant under two names: the same settings, or the same
    runs.
    """
    return _settings(one) == _settings(other) or _have_the_same_runs(one, other)


def _settings(card: Card) -> str:
    chosen = {}
    for axis, choice in card.choices.items():
        chosen[axis] = {"name": choice} if isinstance(choice, str) else choice
    # what is false or null is not chosen
    of_net = {key: value for key, value in card.choices.get("net", {}).items() if value}
    return json.dumps(chosen | {"net": of_net}, sort_keys=True)


def _have_the_same_runs(one: Card, other: Card) -> bool:
    """Say whether the variants of two cards share runs on every part that both have run."""
    theirs = {_column(each): set(each.digests) for each in other.parts}
    shared = []
    for each in one.parts:
        digests = theirs.get(_column(each))
        if digests and each.digests:
            shared.append(not digests.isdisjoint(each.digests))
    return bool(shared) and all(shared)


def _effect(card: Card, column: tuple[str, str]) -> CardCell | None:
    for each in card.parts:
        if _column(each) == column:
            return _cell(each) if each.comparison else _without_comparison(each)
    return None


def _without_comparison(each: CardPart) -> CardCell:
    if each.why == AS_BASELINE:
        return CardCell("=", AS_BASELINE, told=False, sort=0.0)
    return CardCell("–", each.why or "", told=False, sort=None)


def _cell(each: CardPart) -> CardCell:
    compared = each.comparison
    form = form_of_effect(each)
    signed = form.text(compared.difference).replace("-", MINUS)
    signed = signed if signed.startswith(MINUS) else f"+{signed}"
    # in words, as the index has them: lower is better for bpc, higher for points
    margins = in_margins(each, compared.difference)
    words = "worse" if margins < 0 else "better"
    seeds = f"{len(each.ours)} and {len(each.baseline)} seeds"
    return CardCell(
        text=f"{form.text(abs(compared.difference))} {words}",
        title=f"{signed} {unit_of(each)}, 95 % CI {say_interval(each, form)}; {compared.verdict}; "
        f"p = {compared.holm:.2g} after Holm correction; {seeds}",
        told=is_significant(each),
        sort=margins,
        strip=Strip(50.0, *_places(each)),
    )


def _places(each: CardPart) -> tuple[float, float, float]:
    compared = each.comparison
    ends = sorted(in_margins(each, end) for end in (compared.low, compared.high))
    return tuple(_place(at) for at in (in_margins(each, compared.difference), *ends))


def _place(margins: float) -> float:
    inside = max(-EDGE, min(EDGE, margins))
    return round(50 + (50 - FREE) * inside / EDGE, 1)


def _cost(card: Card, name: str) -> CardCell | None:
    """Give the range of a cost over the parts."""
    ratios = sorted(ratio for each in card.parts if (ratio := getattr(each.costs, name)))
    if not ratios:
        return None
    low, high = (write_ratio(ratio) for ratio in (ratios[0], ratios[-1]))
    text = f"{low}×" if low == high else f"{low} to {high}×"
    title = f"{SHOWN_COSTS[name]}: ratio to the baseline, over {len(ratios)} parts"
    return CardCell(text, title, told=False, sort=ratios[-1])
