"""Make the cells of Tables 1 and 2, which differ in their corpus and in the cited rows."""

import pandas as pd

from workflow.claims.published import find, load
from workflow.report.tables.cells import (
    Cell,
    analytic,
    cited,
    make_table,
    measured,
    pick,
    setting,
    unit_of,
)

SCORES = (("dev", "dev_bpc"), ("test", "test_bpc"))
MACS = unit_of("macs_paper")
ORDER = [
    "#layers",
    "avg. span",
    "#params",
    "#FLOPS",
    "dev",
    "test",
    "#params, paper size",
    "#FLOPS, paper size",
]


def build(
    runs: pd.DataFrame, paper_corpus: str, prefix: str, rows: list[tuple[str, str, str | None]]
) -> pd.DataFrame:
    """Build the paper's columns and ours.

    rows: the label, the key of the published row, and our variant; None of a cited row.
    """
    runs = pick(runs, question="adaptive_vs_xl", paper_corpus=paper_corpus)
    cells = []
    for label, key, variant in rows:
        stem = f"{prefix}.{key}"
        if variant:
            cells += _trained(label, stem, pick(runs, variant=variant))
        else:
            cells += _only_cited(label, stem)
        cells += _at_paper_size(label, stem)
    # sorted by column, because the first row, a cited one, lacks some columns
    return make_table(sorted(cells, key=lambda cell: ORDER.index(cell.column)))


def _id(stem: str, column: str) -> str | None:
    """Return the id of the published value; None where the paper prints none."""
    return f"{stem}.{column}" if f"{stem}.{column}" in load() else None


def _trained(label: str, stem: str, runs: pd.DataFrame) -> list[Cell]:
    cells = [
        setting(label, "#layers", runs, "layers", _id(stem, "layers"), unit="layers"),
        measured(label, "avg. span", runs, "mean_span", _id(stem, "span")),
        setting(label, "#params", runs, "parameters"),
        measured(label, "#FLOPS", runs, "macs_paper"),
    ]
    return cells + [
        measured(label, name, runs, quantity, _id(stem, name)) for name, quantity in SCORES
    ]


def _only_cited(label: str, stem: str) -> list[Cell]:
    columns = (
        ("#layers", "layers", "layers"),
        ("avg. span", "span", "characters"),
        ("dev", "dev", "bpc"),
        ("test", "test", "bpc"),
    )
    return [
        cited(label, name, _id(stem, key), unit) for name, key, unit in columns if _id(stem, key)
    ]


def _at_paper_size(label: str, stem: str) -> list[Cell]:
    """Return cells with parameters and FLOPS by formula, at the paper's size."""
    cells = []
    for column, key, unit in (
        ("#params, paper size", "params", "parameters"),
        ("#FLOPS, paper size", "flops", MACS),
    ):
        name = _id(stem, key)
        if name is None:  # one of our rows that the paper does not have
            continue
        if recomputed := find(name).recomputed:
            cells.append(
                analytic(label, column, recomputed.result, unit, name, recomputed.note or "")
            )
        else:
            reason = find(name).not_recomputed or "not published"
            cells.append(cited(label, column, name, unit, reason))
    return cells
