"""Compare the cells of a table with what the paper prints for them."""

import pandas as pd

from workflow.claims.published import Published, find


def join(cells: pd.DataFrame) -> pd.DataFrame:
    """Add to cells (`workflow.report.tables.cells`) what the paper prints, and the difference where
    comparable.

    published_source: published | inferred | digitised. difference_pct: in per cent.
    """
    rows = []
    for cell in cells.to_dict("records"):
        key = cell.get("published")
        published = find(key) if isinstance(key, str) else None
        cell["published_value"] = published.value if published else None
        cell["published_text"] = published.text if published else ""
        for column in ("unit", "kind", "where", "note", "source"):
            cell[f"published_{column}"] = getattr(published, column) if published else None
        cell["conflict"] = published.conflict if published else None
        cell["comparable"] = bool(published) and is_comparable(cell, published)
        cell["difference_pct"] = _difference(cell, published) if cell["comparable"] else None
        rows.append(cell)
    return pd.DataFrame(rows)


def is_comparable(cell: dict, published: Published) -> bool:
    """Whether a difference in per cent to what the paper prints means something, in tables and on
    pages.

    It does for what a formula gives, unless the printed number was inferred, and for a ratio of
    costs. It does for a score or a span only if nets and text are the paper's own, never for
    smaller nets or another text. Times and memory belong to a machine, and a setting is chosen, not
    found.
    """
    if cell["kind"] == "analytic":
        return published.source != "inferred"
    if cell["kind"] != "measured":
        return False
    return cell["unit"] == "×" or published.kind == "trained" and cell["as_the_paper"]


def _difference(cell: dict, published: Published) -> float | None:
    value, printed = cell["value"], published.value
    numbers = all(
        isinstance(side, int | float) and not isinstance(side, bool) for side in (value, printed)
    )
    return 100 * (value / printed - 1) if numbers and printed and value == value else None
