"""Receive a card that was made elsewhere: `python -m workflow.cli.receive_card FILE.zip [--name
NAME]`.

Checks the archive, compares its records with the baseline that ships with the project, and says
whether the numbers agree with those of the sender. Code in the archive is shown on the page, and
never run. Exits with 3 if numbers differ.
"""

import sys
from pathlib import Path

from workflow.cards.card import card_json
from workflow.cards.receive import Received, receive
from workflow.cards.share import CARD
from workflow.config.command_line import Parser, print_lines, run
from workflow.config.errors import ConfigError, shown
from workflow.config.files import atomic_write
from workflow.report.pages.card import received_page
from workflow.report.pages.site import Site
from workflow.results.record import write_text
from workflow.settings.battery import LONGEST_NAME, VALID_NAME

RECEIVED = Path("results/received")
REPORTS = Path("reports")
ARCHIVE = "card.zip"  # as it was received
DIFFER = 3  # exit status


def store(received: Received, archive: Path, name: str) -> Path:
    """Write the archive, the numbers and the page of a card; return the page.

    `ConfigError` where another card has its name.
    """
    folder = RECEIVED / name
    content = archive.read_bytes()
    kept = folder / ARCHIVE
    if kept.exists() and kept.read_bytes() != content:
        raise ConfigError(f"{folder}: another card has this name; choose one with --name")
    # drawn before anything is written
    page = received_page(received)
    with atomic_write(kept) as file:
        file.write(content)
    write_text(folder / CARD, card_json(received.card))
    site = Site(results=folder, reports=REPORTS / received.card.scale)
    place = f"cards/received/{name}.html"
    site.write("card.html.j2", place, page)
    return site.reports / place


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="receive_card", description=__doc__)
    parser.add_argument("file", type=Path, help="the archive, card.zip")
    parser.add_argument("--name", help="of its files here; default: the card's own")
    options = parser.parse_args(argv)
    if options.name is not None:
        is_valid = VALID_NAME.fullmatch(options.name) and len(options.name) <= LONGEST_NAME
        if not is_valid:
            raise ConfigError(
                f"--name {shown(options.name)}: expected at most {LONGEST_NAME} letters, digits, "
                "_, . and -, a letter or digit first"
            )
    received = receive(options.file)
    page = store(received, options.file, options.name or received.card.name)
    print_lines([received.verdict, *received.differences, *received.notes, f"card: {page}"])
    sys.exit(DIFFER if received.differences else 0)


if __name__ == "__main__":
    run(main)
