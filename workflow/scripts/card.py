"""Write the card of a variant: `python -m workflow.scripts.card OUT PAGE --costs FILES... [--config
CONFIG]`, CONFIG as JSON.

Compares the variant that the config names with the baseline on every part of the battery. OUT holds
the comparison as JSON. A summary in Markdown and a picture are next to PAGE.
"""

import os
from dataclasses import replace
from pathlib import Path

from workflow.cards.backtest import back_test
from workflow.cards.card import Card, card_json, make_card
from workflow.cards.collect import collect_asked, read_costs
from workflow.cards.shipped import with_shipped_costs
from workflow.config.command_line import Parser, run
from workflow.config.environment import CONFIG
from workflow.config.strict import parse_json
from workflow.report.pages.card import write_card
from workflow.report.pages.card_summary import write_summary
from workflow.report.pages.cards import read_cards, write_cards
from workflow.report.pages.index import write_root
from workflow.report.pages.site import Site, link_pages
from workflow.results.record import write_text
from workflow.results.store import own_store, shipped_store
from workflow.settings.config import battery_at, load_setup


def build_card(config: dict, files: list[Path]) -> Card:
    """Compare the variant that a config names. files: the costs of its models."""
    setup = load_setup(config)
    runs, empty = collect_asked(setup, own_store())
    choices = setup.card.choices.axes | {"net": setup.card.choices.net}
    about = (setup.card.name, setup.card.title, choices, setup.config.scale)
    card = with_shipped_costs(make_card(*about, runs, empty, read_costs(files)))
    # of what ships, so that it does not depend on this variant or on what was trained here
    scale = setup.config.scale
    return replace(card, back_test=back_test(battery_at(scale), scale, shipped_store()))


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="card", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("page", type=Path)
    parser.add_argument("--costs", type=Path, nargs="*", default=[])
    parser.add_argument("--config", default=os.environ.get(CONFIG, "{}"))
    options = parser.parse_args(argv)
    card = build_card(parse_json(options.config, "config"), options.costs)
    write_text(options.out, card_json(card))
    reports = options.page.parent.parent
    site = Site(results=options.out.parent, reports=reports)
    told = write_card(site, options.page.relative_to(reports).as_posix(), card)
    write_summary(options.page, card, told)
    # one more row of the page of all cards, and of the index
    write_cards(site, read_cards(site.results.parent, card.scale))
    link_pages(reports)
    write_root(site.results.parent, reports.parent)


if __name__ == "__main__":
    run(main)
