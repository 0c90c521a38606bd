"""Every published number of kind `analytic`, computed again from its formula."""

from dataclasses import dataclass

import pandas as pd

from workflow.claims.published import Published, Recomputed, load

TITLE = "Published numbers recomputed by formula"
ASYMPTOTIC = "asymptotic"


@dataclass(frozen=True)
class RecomputedRow:
    """A published number and what its formula gives.

    id, row, column, unit   as in the study: `Published`; where with the origin
    published, printed      its value, and the text that is printed
    source                  published | inferred | digitised
    error_pct               of the result, in per cent; None of what no paper prints
    rounds_to_paper         whether the result rounds to the digits that are printed
    formula, inputs, result None where the value cannot be computed; `note` then says why
    """

    id: str
    where: str
    row: str
    column: str
    published: float | str | list
    printed: str
    source: str
    unit: str
    error_pct: float | None
    rounds_to_paper: bool | None
    formula: str | None
    inputs: str | None
    result: float | None
    note: str | None


def build() -> pd.DataFrame:
    """Compute every published number of kind `analytic` again; a row each, as `RecomputedRow`."""
    rows = []
    for key, value in load().items():
        if value.kind == "analytic" and value.unit != ASYMPTOTIC:
            rows.append(_recompute(key, value))
    return pd.DataFrame(rows)


def _recompute(key: str, value: Published) -> RecomputedRow:
    recomputed = value.recomputed
    error_pct = None
    rounds_to_paper = None
    if recomputed is not None and value.source == "published":
        rounds_to_paper = value.is_rounded(recomputed.result)
        if value.number:
            error_pct = 100 * (recomputed.result / value.number - 1)
    return RecomputedRow(
        id=key,
        where=value.place_seen,
        row=value.row,
        column=value.column,
        published=value.plain,
        printed=value.text,
        source=value.source,
        unit=value.unit,
        error_pct=error_pct,
        rounds_to_paper=rounds_to_paper,
        formula=recomputed.formula if recomputed else None,
        inputs=_write_inputs(recomputed) if recomputed else None,
        result=recomputed.result if recomputed else None,
        note=(recomputed.note or "") if recomputed else value.not_recomputed,
    )


def _write_inputs(recomputed: Recomputed) -> str:
    inputs = ", ".join(f"{name} = {number:g}" for name, number in recomputed.inputs.items())
    return inputs if recomputed.times == 1 else f"{inputs}; times {recomputed.times:g}"
