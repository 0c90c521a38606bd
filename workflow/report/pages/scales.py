"""The script that tells every page which scales have a report, so that a reader can change the scale on any page."""

import json
from pathlib import Path

from workflow.config.files import list_folder
from workflow.results.record import write_if_changed

SCRIPT = "scales.js"  # beside the page that leads to all reports
PAGES = ("*.html", "papers/*.html", "questions/*/index.html")  # of a scale; runs belong to one scale alone


def write_scales(reports: Path) -> None:
    """Write the script of all scales that have pages."""
    write_if_changed(reports / SCRIPT, scales_script(list_folder(reports)))


def scales_script(folders: list[Path]) -> str:
    """Write which pages each scale has: `SCALES = {scale: [address, ...]}`. folders: the reports of each."""
    pages = {folder.name: _pages_of(folder) for folder in folders if folder.is_dir()}
    text = json.dumps({name: found for name, found in pages.items() if found}, separators=(",", ":"))
    return f"globalThis.SCALES={text.replace('<', chr(92) + 'u003c')};\n"


def _pages_of(folder: Path) -> list[str]:
    """List the addresses of a scale's pages, relative to its folder."""
    return sorted(path.relative_to(folder).as_posix() for pattern in PAGES for path in folder.glob(pattern))
