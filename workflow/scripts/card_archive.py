"""Pack the card that a config names into one archive: `python -m workflow.scripts.card_archive OUT
PAGE [--config CONFIG]`, CONFIG as JSON.

OUT is in the folder of the card's results. PAGE: of the card.
"""

import os
from pathlib import Path

from workflow.cards.collect import collect_asked
from workflow.cards.share import Shared, code_of, pack
from workflow.config.command_line import Parser, run
from workflow.config.environment import CONFIG
from workflow.config.strict import parse_json
from workflow.results.store import own_store
from workflow.settings.config import load_setup


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="card_archive", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("page", type=Path)
    parser.add_argument("--config", default=os.environ.get(CONFIG, "{}"))
    options = parser.parse_args(argv)
    setup = load_setup(parse_json(options.config, "config"))
    store = own_store()
    runs, _ = collect_asked(setup, store)
    records = tuple(record for part in runs.values() for record in part.records)
    code = code_of(setup.card)
    shared = Shared(setup.card, options.out.parent, options.page, records, code)
    files = pack(options.out, shared, store)
    print(f"{options.out}: {files:,} files, {options.out.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    run(main)
