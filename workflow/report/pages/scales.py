"""The script that tells every page which scales have a report, so that readers can change scale."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from workflow.config.files import list_folder
from workflow.results.record import write_if_changed

SCRIPT = "scales.js"  # next to the page that leads to all reports
# A page that another scale may have too; the pages of runs belong to one scale alone.
SHARED = re.compile(r"[^/.][^/]*\.html|papers/[^/]+\.html|questions/[^/]+/index\.html")


def write_scales(reports: Path) -> None:
    """Write the script of all scales that have pages."""
    pages = {}
    for folder in list_folder(reports):
        if folder.is_dir():
            files = folder.rglob("*.html")
            pages[folder.name] = [path.relative_to(folder).as_posix() for path in files]
    write_if_changed(reports / SCRIPT, scales_script(pages))


def scales_script(pages: Mapping[str, Iterable[str]]) -> str:
    """Write which pages each scale has: `SCALES = {scale: [address, ...]}`.

    pages: of each scale, from its folder.
    """
    shared = {}
    for name, places in pages.items():
        found = sorted(filter(SHARED.fullmatch, places))
        if found:
            shared[name] = found
    text = json.dumps(shared, separators=(",", ":"))
    # a name that ends a script would end it here
    text = text.replace("<", "\\u003c")
    return f"globalThis.SCALES={text};\n"
