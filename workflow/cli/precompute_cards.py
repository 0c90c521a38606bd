"""Ship cards with the project: `python -m workflow.cli.precompute_cards CARD.json...`.

Copies the records of these cards to results/precomputed, then makes all cards that ship again,
because each is compared with the records of all others.
"""

from pathlib import Path

from workflow.cards.card import Card
from workflow.cards.shipped import remake, shipped_cards, write_shipped
from workflow.cards.stored import as_card, read_card
from workflow.cli.precompute import without_texts
from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError
from workflow.config.files import PRECOMPUTED
from workflow.results.store import RUNS, Store, merge_records, ships


def merge_runs_of(cards: list[Card], trained: Store) -> int:
    """Merge the records that these cards compare and that do not ship yet; return their number."""
    merged = {}
    for card in cards:
        for part in card.parts:
            for digest in part.digests:
                if ships(digest):
                    continue
                if digest not in trained:
                    raise ConfigError(f"{trained.describe_place(digest)}: no such record")
                merged[digest] = without_texts(trained.read(digest), drawn=False)
    merge_records(merged.values(), PRECOMPUTED)
    return len(merged)


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="precompute_cards", description=__doc__)
    parser.add_argument("cards", type=Path, nargs="*", help="card.json of each")
    parser.add_argument("--scale", default="laptop", help="scale whose cards ship")
    parser.add_argument("--runs", type=Path, default=RUNS, help="where the runs are")
    options = parser.parse_args(argv)
    new = [as_card(read_card(file)) for file in options.cards]
    for card in new:
        if card.scale != options.scale:
            raise ConfigError(f"{card.name}: a card of scale {card.scale}, not {options.scale}")
    merged = merge_runs_of(new, Store(options.runs))
    cards = {card.name: card for card in (*shipped_cards(options.scale), *new)}
    file = write_shipped(map(remake, cards.values()), options.scale)
    print(f"{file}: {len(cards)} cards, {merged} new records")


if __name__ == "__main__":
    run(main)
