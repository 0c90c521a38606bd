"""Write the pages of the cards that ship: `python -m workflow.scripts.cards --scale SCALE`.

Each is made from its records. A card of the same name that was made here keeps its page.
"""

from dataclasses import replace

from workflow.cards.backtest import back_test
from workflow.cards.shipped import remake, shipped_cards
from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError
from workflow.report.pages.card import write_card
from workflow.report.pages.card_summary import write_summary
from workflow.report.pages.cards import OF_CARD, read_cards, write_cards
from workflow.report.pages.site import parse_with_site
from workflow.results.store import shipped_store
from workflow.settings.config import battery_at


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="cards", description="Write the pages of the cards that ship.")
    options, site = parse_with_site(parser, argv)
    scale = options.scale
    cards = shipped_cards(scale)
    if not cards:
        raise ConfigError(f"scale {scale}: no cards of it ship")
    tested = back_test(battery_at(scale), scale, shipped_store())
    for shipped in cards:
        if (options.results / f"{scale}{OF_CARD}{shipped.name}" / "card.json").exists():
            continue
        card = replace(remake(shipped), back_test=tested)
        place = f"cards/{card.name}.html"
        told = write_card(site, place, card)
        write_summary(site.reports / place, card, told)
        print(site.reports / place)
    write_cards(site, read_cards(options.results, scale))


if __name__ == "__main__":
    run(main)
