"""Pack a card for others: its numbers, the records and costs behind them, its code and its page.

The archive is that of a bundle (`workflow.results.archive`). Records that ship with the project are
not in it: shipped.json lists them by digest and `contents`. The files of its choices are text,
choices/FOLDER/NAME.py.txt: they can be read and copied, and not imported.
"""

import re
from dataclasses import dataclass
from json import dumps
from pathlib import Path

import yaml

from workflow.config.choices import AXES
from workflow.config.files import ROOT
from workflow.plan import sources
from workflow.results.archive import Kind, write_archive
from workflow.results.record import Record
from workflow.results.registry import COSTS, OVER_S
from workflow.results.store import SHIPPED, Store
from workflow.settings.battery import Carded

CARD, PLAN, VARIANT = "card.json", "plan.json", "variant.yaml"
CODE = ".py.txt"
OF_CARD = (*COSTS, OVER_S)  # kinds of costs
_NAME = r"\w[\w .,=+()-]*"
PLACES = (
    rf"results/{_NAME}/(card\.json|plan\.json|{re.escape(SHIPPED)}|variant\.yaml)",
    rf"results/{_NAME}/({'|'.join(OF_CARD)})/{_NAME}\.json",
    rf"results/{_NAME}/choices/({'|'.join(AXES.values())})/\w+\.py\.txt",
    r"results/runs/[0-9a-f]{12}/record\.json",
    rf"reports/{_NAME}/suite\.js",
    rf"reports/{_NAME}/cards/{_NAME}\.(html|md|png)",
)
ARCHIVE = Kind("card", re.compile("|".join(PLACES)), largest=256 << 20, is_closed=True)


@dataclass(frozen=True)
class Shared:
    """What an archive of a card is made from.

    card: the variant. folder: of its results. page: of the card. records: all that it compares.
    code: the files of its choices, by place: `spans/fixed`.
    """

    card: Carded
    folder: Path
    page: Path
    records: tuple[Record, ...]
    code: dict[str, bytes]


def pack(out: Path, shared: Shared, store: Store) -> int:
    """Write the archive, or nothing; return the number of its files."""
    inside = f"results/{shared.folder.name}"
    digests = sorted({record.digest for record in shared.records})
    written = {
        f"{inside}/{SHIPPED}": _shipped(digests, store),
        f"{inside}/{VARIANT}": variant_yaml(shared.card).encode(),
    }
    for place, source in shared.code.items():
        written[f"{inside}/choices/{place}{CODE}"] = source
    for digest in digests:
        path = store.file_of(digest)
        if path is not None:
            written[f"results/runs/{digest}/record.json"] = path.read_bytes()
    files = {f"{inside}/{name}": shared.folder / name for name in (CARD, PLAN)}
    for kind in OF_CARD:
        for path in sorted((shared.folder / kind).glob("*.json")):
            files[f"{inside}/{kind}/{path.name}"] = path
    scale = shared.page.parent.parent
    for path in (scale / "suite.js", *map(shared.page.with_suffix, (".html", ".md", ".png"))):
        if path.is_file():
            files[f"reports/{scale.name}/{path.relative_to(scale).as_posix()}"] = path
    commits = [record.origin.commit for record in shared.records]
    manifest = write_archive(out, files, written, shared.folder.name, commits, {})
    return len(manifest.files)


def _shipped(digests: list[str], store: Store) -> bytes:
    """List the records that ship with the project, digest -> contents."""
    ship = {digest: store.shipped[digest].contents for digest in digests if digest in store.shipped}
    return (dumps(ship, indent=1) + "\n").encode()


def variant_yaml(card: Carded) -> str:
    """Write the file from which `--config variant=FILE` reads the variant."""
    content = {"name": card.name, "title": card.title} | card.choices.axes
    if card.choices.net:
        content["net"] = card.choices.net
    return yaml.safe_dump(content, sort_keys=False)


def code_of(card: Carded) -> dict[str, bytes]:
    """Read the file of each choice, and those next to it that it imports: by place."""
    files = set()
    for axis, choice in card.choices.axes.items():
        name = choice["name"] if isinstance(choice, dict) else choice
        folder = f"models/attention/{AXES[axis]}"
        files |= sources.closure(f"{folder}/{name}.py", rooms=(folder,))
    code = {}
    for file in sorted(files):
        path = ROOT / file
        code[f"{path.parent.name}/{path.stem}"] = path.read_bytes()
    return code
