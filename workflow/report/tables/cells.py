"""Make the cells of tables: one row per cell, so that a number keeps its unit, runs and failure.

row, column    where the cell stands
value          a number or a text, a mean over n seeds, or turns of a timing; low, high: its 95 %
interval (Student's t) points         the values of fewer than three, in their order, in place of an
interval: `workflow.results.statistics` unit, kind     measured | analytic | setting | cited; a
function of each of these names makes such a cell published      the id of what the paper prints for
this cell, or None as_the_paper   whether the runs behind it have the paper's size and text: scale
`paper`, and no text that stands in digests        the runs behind the number
status, note   ok | failed | not run, and why
late_gain      what the last quarter of the updates still brought, in bits, at most over the runs
behind it: of a score,
               and of all that follows from learned spans
"""

import pandas as pd

from workflow.config.errors import check_known
from workflow.results.makers import NO_RATIO, why_apart
from workflow.results.precomputed import NOT_MEASURED, NOT_RUN
from workflow.results.registry import MEASURED_BY, REGISTRY, bounds_of
from workflow.results.statistics import Bounds, over_seeds
from workflow.results.timings import SPEEDS, TIMED, all_turns, ratio_over_turns
from workflow.results.trained_enough import UNMOVED, hardly_moved, learned_spans

COLUMNS = [
    *("row", "column", "value", "low", "high", "points", "n", "unit", "kind"),
    *("published", "as_the_paper", "digests", "status", "note", "late_gain"),
]
OF_VALUES = ("value", "low", "high", "points")
NOT_TRAINED = "not trained here"  # what every cited cell says without a note of its own
NO_RUN = "this variant was not run"
NO_SEARCH = "no search for this span"
PAPERS_SIZE = "paper"  # the scale whose nets are the papers'
OF_CHARACTERS = {"MACs": "MACs/character", "tokens/s": "characters/s"}


def pick(runs: pd.DataFrame, **wanted) -> pd.DataFrame:
    """Pick the runs whose columns have the wanted values."""
    for column, value in wanted.items():
        check_known("column of runs", column, runs.columns)
        runs = runs[runs[column] == value]
    return runs


def make_cell(
    row, column, value, unit, kind, published=None, *, n=None, runs=None, status="ok", note=""
) -> dict:
    runs = None if runs is None or not len(runs) else runs
    digests = [] if runs is None else list(runs["digest"].unique())
    like_paper = runs is not None and _as_the_paper(runs)
    values = (
        row,
        column,
        value,
        None,
        None,
        None,
        n,
        unit,
        kind,
        published,
        like_paper,
        digests,
        status,
        note,
        None,
    )
    return dict(zip(COLUMNS, values, strict=True))


def _as_the_paper(runs: pd.DataFrame) -> bool:
    return bool(
        (runs["scale"] == PAPERS_SIZE).all() and (runs["corpus"] == runs["paper_corpus"]).all()
    )


def make_table(cells: list[dict]) -> pd.DataFrame:
    return pd.DataFrame(cells, columns=COLUMNS)


def unit_of(quantity: str) -> str:
    """Return the registered unit, in the words of a language model; empty for what is not
    registered.
    """
    registered = REGISTRY[quantity].unit if quantity in REGISTRY else ""
    return (
        "ms"
        if quantity in TIMED and quantity not in SPEEDS
        else OF_CHARACTERS.get(registered, registered)
    )


def measured(
    row: str,
    column: str,
    runs: pd.DataFrame,
    quantity: str,
    published: str | None = None,
    *,
    unit: str | None = None,
    bounds: Bounds | None = None,
) -> dict:
    """Return the cell of a measured quantity over the seeds in `runs`, or of a timing over its
    turns.

    unit: where it is not that of `unit_of`. bounds: of a quantity that is not registered. The note
    names runs that failed, or have no such score, and says where learned spans have hardly moved.
    If the measurement failed, or its own check refuses a count, the status is `failed`, and the
    note says why.
    """
    cell = _over_seeds(row, column, runs, quantity, published, unit=unit, bounds=bounds)
    if cell["value"] is None:
        return cell
    ok = runs[runs["status"] == "ok"]
    is_score = quantity in REGISTRY and REGISTRY[quantity].source == "metric"
    changing = ok if is_score else learned_spans(ok)
    late_gain = float(changing["late_gain"].max()) if len(changing) else None
    notes = [cell["note"], UNMOVED if hardly_moved(ok).any() else ""]
    return cell | {"late_gain": late_gain, "note": "; ".join(filter(None, notes))}


def _over_seeds(
    row: str,
    column: str,
    runs: pd.DataFrame,
    quantity: str,
    published: str | None,
    *,
    unit: str | None,
    bounds: Bounds | None,
) -> dict:
    """Return the cell of a quantity over seeds or turns, without what training would change."""
    # a text may stand in for two of the paper's
    runs = runs.drop_duplicates("digest") if len(runs) else runs
    ok = runs[runs["status"] == "ok"] if len(runs) else runs
    values = values_of(ok, quantity)
    refusals = _refusals(ok, quantity, bool(values))
    told = runs[["seed", "status", "reason", "missing"]].to_dict("records") if len(runs) else []
    failures = [f"seed {run['seed']}: {why}" for run in told if (why := why_missing(run, quantity))]
    failures += refusals
    status = "failed" if refusals else "ok" if values else "failed" if failures else NOT_RUN
    missing = "" if values else _why_not_run(runs, quantity)
    unit, note = unit_of(quantity) if unit is None else unit, "; ".join(failures) or missing
    about = {"n": len(values), "runs": runs, "status": status, "note": note}
    cell = make_cell(row, column, None, unit, "measured", published, **about)
    return cell | over_seeds(values, bounds=bounds or bounds_of(quantity))


def _why_not_run(runs: pd.DataFrame, quantity: str) -> str:
    """Say why there is neither a value nor a failure."""
    if not len(runs):
        return NO_RUN
    kind = MEASURED_BY.get(quantity)
    return NOT_MEASURED if kind and (runs[f"{kind}_status"] == NOT_RUN).any() else "not measured"


def why_missing(run, quantity: str) -> str:
    """Say why a run failed, or why this score of it is missing; an empty text of any other."""
    return (
        run["missing"].get(quantity, "")
        if run["status"] == "ok"
        else f"{run['status']}: {run['reason']}"
    )


def values_of(runs: pd.DataFrame, quantity: str) -> list[float]:
    """List the values behind a mean: one of each run, of a timing one of each turn of a
    configuration.
    """
    if quantity in TIMED or not len(runs):
        return all_turns(runs, quantity) if len(runs) else []
    return runs[quantity].dropna().astype(float).tolist()


def _refusals(runs: pd.DataFrame, quantity: str, has_values: bool) -> list[str]:
    """List why measurements of a quantity do not count: they left no number, or their reason names
    the quantity.
    """
    kind = MEASURED_BY.get(quantity)
    if kind is None or not len(runs):
        return []
    failed = runs[runs[f"{kind}_status"].notna() & ~runs[f"{kind}_status"].isin(["ok", NOT_RUN])]
    reasons = list(dict.fromkeys(failed[f"{kind}_reason"].fillna(failed[f"{kind}_status"])))
    return [reason for reason in reasons if not has_values or quantity in reason]


def take_cost_row(runs: pd.DataFrame) -> pd.DataFrame:
    """Take the one row that holds a cost measured once per configuration: of a run that ended well
    if any did.
    """
    ok = runs[runs["status"] == "ok"]
    return (ok if len(ok) else runs).head(1)


def take_rows(runs: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Take the rows behind a mean of a quantity: every seed, or one where it is measured once per
    configuration.
    """
    return take_cost_row(runs) if quantity in MEASURED_BY else runs


def summarise(runs: pd.DataFrame, by: list[str], quantity: str) -> pd.DataFrame:
    """Compute by group a quantity's mean, 95 % interval or points over the seeds that ended well;
    count the others.

    unmoved: whether the learned spans of these runs have hardly moved from their start.
    What is measured once per configuration stands on the row of each seed, and counts as one value
    without an interval, or as the turns of a timing.
    """
    rows = []
    for key, group in runs.groupby(by, dropna=False, sort=True):
        group = take_rows(group.drop_duplicates("digest"), quantity)
        finished = group[(group["status"] == "ok") & group[quantity].notna()]
        values = values_of(finished, quantity)
        seeds = over_seeds(values, bounds=bounds_of(quantity))
        row = dict(zip(by, key, strict=True)) | {"mean": seeds.pop("value")} | seeds
        counts = {"n": len(values), "failed": len(group) - len(finished)}
        counts |= {"unmoved": bool(hardly_moved(finished).any())}
        rows.append({**row, **counts, "runs": name_runs(finished, quantity)})
    groups = pd.DataFrame(
        rows, columns=[*by, "mean", "low", "high", "points", "n", "failed", "unmoved", "runs"]
    )
    return groups.astype(dict.fromkeys(("mean", "low", "high"), float))


def name_runs(runs: pd.DataFrame, quantity: str) -> str:
    """Name the runs behind a mean as `DIGEST=VALUE DIGEST=VALUE`; a timing belongs to turns, not to
    runs.
    """
    if quantity in TIMED:
        return " ".join(runs["digest"])
    return " ".join(
        f"{run}={value:.6g}" for run, value in zip(runs["digest"], runs[quantity], strict=True)
    )


def ratio(
    row: str,
    column: str,
    quantity: str,
    runs: pd.DataFrame,
    base: pd.DataFrame,
    base_name: str,
    base_quantity: str = "",
) -> dict:
    """Return the cell of a cost over that of the base: of means over seeds, of two values measured
    once, or of turns.

    base_quantity: where the base's cost has another name. There is none across backends or
    machines.
    """
    sides = ((runs, quantity), (base, base_quantity or quantity))
    numerator, denominator = (
        measured(row, column, take_rows(side, name), name, unit="×") for side, name in sides
    )
    for cell, prefix in ((numerator, ""), (denominator, f"{base_name}: ")):
        if cell["status"] != "ok":
            note = prefix + cell["note"]
            return make_cell(
                row, column, None, "×", "measured", runs=runs, status=cell["status"], note=note
            )
    if apart := why_apart(runs, base, quantity, base_name, base_quantity):
        note = f"{NO_RATIO}: {apart}"
        return make_cell(row, column, None, "×", "measured", runs=runs, status=NOT_RUN, note=note)
    if not denominator["value"]:
        return make_cell(
            row, column, None, "×", "measured", runs=runs, status=NOT_RUN, note=f"{base_name}: 0"
        )
    numerator["note"] = "; ".join(
        dict.fromkeys(filter(None, (numerator["note"], denominator["note"])))
    )
    if quantity not in TIMED:
        return numerator | _only(numerator["value"] / denominator["value"])
    shown = ratio_over_turns(runs, base, quantity, base_quantity)
    elsewhere = (
        {}
        if shown["value"]
        else {"status": NOT_RUN, "note": f"no timing on a corpus shared with {base_name}"}
    )
    return numerator | shown | elsewhere


def setting(
    row: str,
    column: str,
    runs: pd.DataFrame,
    quantity: str,
    published: str | None = None,
    *,
    unit: str | None = None,
) -> dict:
    """Return the cell of a number that the job itself fixes: the same for every seed, so it has no
    interval.
    """
    cell = _over_seeds(row, column, runs, quantity, published, unit=unit, bounds=None)
    return cell | {"kind": "setting"} | _only(cell["value"])


def _only(value: float | None) -> dict:
    """Return a cell's values for a number without an interval."""
    return dict.fromkeys(OF_VALUES) | {"value": value}


def analytic(
    row: str, column: str, value: float, unit: str, published: str | None = None, note: str = ""
) -> dict:
    """Return the cell of a number from a formula, at the paper's size."""
    return make_cell(row, column, value, unit, "analytic", published, note=note)


def cited(row: str, column: str, published: str, unit: str, note: str = NOT_TRAINED) -> dict:
    """Return a cell that only the paper fills."""
    return make_cell(row, column, None, unit, "cited", published, note=note)
