"""Tables and figures as the templates take them."""

import json

from workflow.report.builders import load_builder
from workflow.report.pages.site import Site, read_svg
from workflow.results import provenance
from workflow.results.flatness import FLAT

NOT_MADE = "not made yet"


def runs_at(ablation: str) -> str:
    """Where the pages of an ablation's runs lie, from the top of the scale's reports."""
    return f"ablations/{ablation}/"


def table(site: Site, name: str, ablation: str) -> dict:
    """Rows by columns, each cell with its measured and its published value. ablation: whose runs it is made from."""
    path = site.results / "tables" / f"{name}.json"
    if not path.exists():
        return {"name": name, "title": name, "missing": NOT_MADE}
    content = json.loads(path.read_text(encoding="utf-8"))
    cells = content.pop("cells")
    rows = list(dict.fromkeys(cell["row"] for cell in cells))
    columns = list(dict.fromkeys(cell["column"] for cell in cells))
    grid = {(cell["row"], cell["column"]): _with_half_interval(cell) for cell in cells}
    notes = [f"{cell['row']}, {cell['column']}: {cell['note']}" for cell in cells if _needs_note(cell)]
    units = {column: _common_unit([cell["unit"] for cell in cells if cell["column"] == column]) for column in columns}
    return {
        **content,
        "name": name,
        "runs_at": runs_at(ablation),
        "columns": [(column, units[column]) for column in columns],
        "rows": [(row, [grid.get((row, column)) for column in columns]) for row in rows],
        "notes": list(dict.fromkeys(notes)),
        "still_learning": any(cell["still_learning"] for cell in grid.values()),
        "flat": FLAT,
        "files": [site.offer(path.with_suffix(ending)) for ending in (".csv", ".tex", ".json")],
    }


def _common_unit(units: list[str]) -> str:
    return units[0] if len(set(units)) == 1 else ""


def _needs_note(cell: dict) -> bool:
    """Whether a cell's note belongs under the table: `not run` and `cited` say enough in the cell."""
    return bool(cell["note"]) and (cell["status"] == "failed" or cell["value"] is not None)


def _with_half_interval(cell: dict) -> dict:
    half = (cell["high"] - cell["low"]) / 2 if cell["high"] is not None else None
    value = cell["value"] if cell["value"] is not None else cell["published_value"]
    still_learning = (cell.get("late_gain") or 0.0) > FLAT
    return {
        **cell,
        "half": half,
        "still_learning": still_learning,
        "sort": value if isinstance(value, int | float) else "",
    }


def figure(site: Site, name: str, ablation: str) -> dict:
    """The picture inline, with the title and caption of its builder."""
    path = site.results / "figures" / f"{name}.svg"
    builder = load_builder("figures", name)
    about = {"name": name, "runs_at": runs_at(ablation), "title": builder.TITLE, "caption": builder.CAPTION}
    if not path.exists():
        return {**about, "missing": NOT_MADE}
    files = [site.offer(path.with_suffix(ending)) for ending in (".svg", ".pdf", ".png", ".csv")]
    return {**about, "svg": read_svg(path, name), "files": files, "runs": provenance.read(path).runs}
