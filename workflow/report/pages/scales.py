"""The script that tells every page which scales have a report, so that a reader can change the
scale on any page.
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from workflow.config.files import list_folder
from workflow.results.record import write_if_changed

SCRIPT = "scales.js"  # beside the page that leads to all reports
# A page that another scale may have too; the pages of runs belong to one scale alone.
SHARED = re.compile(r"[^/.][^/]*\.html|papers/[^/]+\.html|questions/[^/]+/index\.html")


def write_scales(reports: Path) -> None:
    """Write the script of all scales that have pages."""
    pages = {
        folder.name: [path.relative_to(folder).as_posix() for path in folder.rglob("*.html")]
        for folder in list_folder(reports)
        if folder.is_dir()
    }
    write_if_changed(reports / SCRIPT, scales_script(pages))


def scales_script(pages: Mapping[str, Iterable[str]]) -> str:
    """Write which pages each scale has: `SCALES = {scale: [address, ...]}`. pages: of each scale,
    from its folder.
    """
    shared = {name: sorted(filter(SHARED.fullmatch, places)) for name, places in pages.items()}
    text = json.dumps(
        {name: places for name, places in shared.items() if places}, separators=(",", ":")
    )
    return f"globalThis.SCALES={text.replace('<', chr(92) + 'u003c')};\n"
