"""Export a card in the schema of Every Eval Ever: `python -m workflow.cli.export_card CARD --by
DEVELOPER`.

CARD: a card.json. Writes every_eval_ever/data/attention-suite/DEVELOPER/NAME/ID.json next to it, as
that project's store names it.
"""

import json
import tomllib
from pathlib import Path

from workflow.cards.stored import read_card
from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError, shown
from workflow.config.files import ROOT
from workflow.report.every_eval_ever import Exported, export, place_of
from workflow.results.record import write_text
from workflow.settings.battery import VALID_NAME


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="export_card", description=__doc__)
    parser.add_argument("card", type=Path, help="a card.json")
    parser.add_argument("--by", required=True, help="who developed the variant")
    options = parser.parse_args(argv)
    if not VALID_NAME.fullmatch(options.by) or options.by.endswith("."):
        raise ConfigError(
            f"--by {shown(options.by)}: expected letters, digits, _, . and -, "
            "with a letter or digit first"
        )
    if not options.card.is_file():
        raise ConfigError(f"{options.card}: no such file; expected the card.json of a card")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    made = int(options.card.stat().st_mtime)
    log = export(read_card(options.card), Exported(options.by, project["version"], made))
    path = options.card.parent / "every_eval_ever" / place_of(log)
    write_text(path, json.dumps(log, indent=1, ensure_ascii=False) + "\n")
    print(f"written: {path}")


if __name__ == "__main__":
    run(main)
