"""What a figure's file carries: the runs behind it, their commits, its numbers. Written and read
here alone.

It is in the file's own metadata, as JSON: dc:source of an SVG, Keywords of a PDF, Source of a
PNG.
"""

import json
import logging
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
from PIL import Image

from workflow.config.errors import ConfigError
from workflow.config.strict import StrictModel, parse
from workflow.results.runs_table import csv_text

SOURCE = "{http://purl.org/dc/elements/1.1/}source"
UNREADABLE = (ElementTree.ParseError, OSError, ValueError, SyntaxError, LookupError, TypeError)
UNREADABLE += (RecursionError, Image.DecompressionBombError)


def trace_of(
    used: pd.DataFrame | None,
    origin: str,
    texts: list[dict],
    numbers: pd.DataFrame,
    commits: list[str],
) -> str:
    """Write the JSON that a figure carries. used: the runs behind it; numbers: what is drawn;
    texts: see `Trace`.
    """
    runs = sorted(used["digest"].unique()) if used is not None and len(used) else []
    content = {
        "origin": origin,
        "texts": texts,
        "runs": runs,
        "signed": signatures(used, runs),
        "commits": commits,
    }
    return json.dumps(content | {"data": csv_text(numbers)})


def signatures(runs: pd.DataFrame | None, digests: Iterable[str]) -> dict[str, str]:
    """Map each of these runs to the signature of its record."""
    known = (
        {}
        if runs is None or not len(runs)
        else dict(zip(runs["digest"], runs["signature"], strict=True))
    )
    return {digest: known[digest] for digest in digests if digest in known}


def metadata(title: str, origin: str, trace: str) -> dict[str, dict[str, str | None]]:
    """Give what matplotlib writes into a file of each format; no date, so that the same data give
    the same bytes.
    """
    return {
        "svg": {"Title": title, "Description": origin, "Source": trace, "Date": None},
        "pdf": {"Title": title, "Subject": origin, "Keywords": trace, "CreationDate": None},
        "png": {"Title": title, "Description": origin, "Source": trace},
    }


class Trace(StrictModel):
    """What a figure carries. texts: badge and about of what its runs read. signed: the signature of
    each run's record.

    data: its numbers, as CSV.
    """

    origin: str
    texts: list[dict[str, str]] = []  # a file of an earlier version names none
    runs: list[str]
    signed: dict[str, str] = {}
    commits: list[str]
    data: str


def read(path: Path) -> Trace:
    """Read what a figure (.svg, .pdf, .png) or a table (.json) carries; `ConfigError` for any other
    file.
    """
    readers = {".svg": _svg, ".pdf": _pdf, ".png": _png, ".json": _table}
    if path.suffix not in readers:
        raise ConfigError(f"{path}: expected a figure or table of this suite: {', '.join(readers)}")
    if not path.is_file():
        raise ConfigError(f"{path}: no such file")
    try:
        content = readers[path.suffix](path)
    except UNREADABLE as error:
        raise ConfigError(f"{path}: cannot be read ({type(error).__name__}: {error})") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: has no provenance; only files made by this suite have")
    return parse(Trace, content, f"{path}: names no runs")


def _svg(path: Path):
    source = ElementTree.parse(path).find(f".//{SOURCE}")
    return json.loads(source.text) if source is not None and source.text else None


def _pdf(path: Path):
    from pypdf import PdfReader  # imported here, as few read a figure's file
    from pypdf.errors import PyPdfError

    # we report a file that cannot be read, in one line
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        entries = PdfReader(path).metadata
    except PyPdfError as error:
        raise ValueError(error) from None
    return json.loads(entries["/Keywords"]) if entries and "/Keywords" in entries else None


def _png(path: Path):
    with Image.open(path, formats=("PNG",)) as image:
        source = image.info.get("Source")
    return json.loads(source) if source else None


def _table(path: Path):
    """Collect the digests behind all cells of a table's JSON, or behind all verdicts of a
    ledger's.
    """
    content = json.loads(path.read_bytes())
    if isinstance(content, dict) and "claims" in content:
        return _ledger(content)
    if not isinstance(content, dict) or "cells" not in content:
        return None
    runs = sorted({digest for cell in content["cells"] for digest in cell["digests"]})
    texts = [{key: text[key] for key in ("badge", "about")} for text in content.get("texts", [])]
    about = {
        "origin": content["provenance"],
        "texts": texts,
        "runs": runs,
        "commits": content.get("commits", []),
    }
    about["signed"] = content.get("signed", {})
    return about | {"data": csv_text(pd.DataFrame(content["cells"]))}


def _ledger(content: dict) -> dict:
    """Collect the records that the verdicts of these results rest on; those of other results lie
    elsewhere.
    """
    signed = {digest: mark for line in content["claims"] for digest, mark in line["signed"].items()}
    rows = [
        {
            "claim": line["name"],
            "verdict": line["verdict"],
            "run": digest,
            "signed": line["signed"].get(digest),
        }
        for line in content["claims"]
        for digest in line["digests"]
    ]
    origins = (
        [content["provenance"]]
        if isinstance(content["provenance"], str)
        else content["provenance"] or []
    )
    about = {"origin": "; ".join(origins), "runs": sorted(signed), "signed": signed, "commits": []}
    return about | {
        "data": csv_text(pd.DataFrame(rows, columns=["claim", "verdict", "run", "signed"]))
    }
