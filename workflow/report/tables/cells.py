"""Make the cells of tables: one row per cell, so that a number keeps its unit, runs and failure.

The cells of a table travel as a DataFrame with the columns `COLUMNS`, the fields of `Cell`.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Literal

import pandas as pd

from workflow.config.errors import check_known
from workflow.config.missing import Missing
from workflow.results.makers import NO_RATIO, why_apart
from workflow.results.precomputed import NOT_MEASURED, NOT_RUN
from workflow.results.registry import MEASURED_BY, REGISTRY, bounds_of
from workflow.results.statistics import Bounds, Summary, over_seeds
from workflow.results.timings import SPEEDS, TIMED, all_turns, ratio_over_turns
from workflow.results.trained_enough import UNMOVED, hardly_moved, learned_spans

Kind = Literal["measured", "analytic", "setting", "cited"]
Status = Literal["ok", "failed", "not run"]

NOT_TRAINED = "not trained here"  # what every cited cell says without a note of its own
NO_RUN = "this variant was not run"
NO_SEARCH = "no search for this span"
PAPERS_SIZE = "paper"  # the scale whose models are the papers'
OF_CHARACTERS = {"MACs": "MACs/character", "tokens/s": "characters/s"}


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A value of a table with its unit, the runs behind it and, where it is missing, the reason.

    row, column     where the cell is
    value           a mean over n seeds or rounds of a timing, a single number, or a formula as
                    text; `Missing` with the reason
    low, high       the value's 95 % interval: `workflow.results.statistics`
    points          the values of fewer than three seeds, in their order, in place of an interval
    bound           ≥ or ≤ where the value is a bound, since some of what it is made of is censored
    kind            a function of each of these names makes such a cell
    published       the id of what the paper prints for this cell
    as_the_paper    whether the runs behind it have the paper's size and dataset
    digests         the runs behind the value
    note            what to know of a value: seeds that failed, spans that hardly moved
    late_gain       what the last quarter of the updates still brought, in bits, at most over the
                    runs: of a score, and of all that follows from learned spans
    """

    row: str
    column: str
    value: float | str | Missing
    low: float | None = None
    high: float | None = None
    points: tuple[float, ...] | None = None
    n: int | None = None
    bound: str = ""
    unit: str
    kind: Kind
    published: str | None = None
    as_the_paper: bool = False
    digests: tuple[str, ...] = ()
    status: Status = "ok"
    note: str = ""
    late_gain: float | None = None

    @property
    def explanation(self) -> str:
        """Return why the value is missing, or else what to know of it."""
        return self.value.reason if isinstance(self.value, Missing) else self.note

    def as_record(self) -> dict:
        """Return the cell as tables and files keep it: the note is why a value is missing."""
        missing = isinstance(self.value, Missing)
        return asdict(self) | {
            "value": None if missing else self.value,
            "points": None if self.points is None else list(self.points),
            "digests": list(self.digests),
            "note": self.explanation,
        }

    @classmethod
    def from_record(cls, record: Mapping) -> "Cell":
        """Read what `as_record` returned, from a DataFrame or a file."""
        values = {}
        for field in fields(cls):
            if field.name in record:
                given = record[field.name]
                is_nan = isinstance(given, float) and given != given
                values[field.name] = None if is_nan else given
        if values["value"] is None:
            values["value"] = Missing(values["note"])
            values["note"] = ""
        if values["points"] is not None:
            values["points"] = tuple(values["points"])
        if values["n"] is not None:  # a column of counts with gaps holds floats
            values["n"] = int(values["n"])
        values["digests"] = tuple(values["digests"])
        return cls(**values)


COLUMNS = [field.name for field in fields(Cell)]


def make_table(cells: list[Cell]) -> pd.DataFrame:
    return pd.DataFrame([cell.as_record() for cell in cells], columns=COLUMNS)


def pick(runs: pd.DataFrame, **wanted) -> pd.DataFrame:
    """Pick the runs whose columns have the wanted values."""
    for column, value in wanted.items():
        check_known("column of runs", column, runs.columns)
        runs = runs[runs[column] == value]
    return runs


def make_cell(
    row: str,
    column: str,
    value: float | str | Missing,
    unit: str,
    kind: Kind,
    published: str | None = None,
    *,
    n: int | None = None,
    runs: pd.DataFrame | None = None,
    status: Status = "ok",
    note: str = "",
) -> Cell:
    """Make a cell of one value. runs: those behind it; the cell keeps their digests."""
    has_runs = runs is not None and len(runs) > 0
    return Cell(
        row=row,
        column=column,
        value=value,
        n=n,
        unit=unit,
        kind=kind,
        published=published,
        as_the_paper=has_runs and _as_the_paper(runs),
        digests=tuple(runs["digest"].unique()) if has_runs else (),
        status=status,
        note=note,
    )


def _as_the_paper(runs: pd.DataFrame) -> bool:
    of_its_size = (runs["scale"] == PAPERS_SIZE).all()
    on_its_dataset = (runs["corpus"] == runs["paper_corpus"]).all()
    return bool(of_its_size and on_its_dataset)


def with_mean(cell: Cell, summary: Summary) -> Cell:
    """Put a mean with its interval or points into a cell.

    A cell whose mean is None keeps its reason for that.
    """
    points = summary.points
    return replace(
        cell,
        value=cell.value if summary.value is None else summary.value,
        low=summary.low,
        high=summary.high,
        points=None if points is None else tuple(points),
    )


def _without_interval(cell: Cell, value: float | str | Missing) -> Cell:
    return replace(cell, value=value, low=None, high=None, points=None)


def unit_of(quantity: str) -> str:
    """Return the registered unit, in the words of a language model; empty where there is none."""
    if quantity in TIMED and quantity not in SPEEDS:
        return "ms"
    registered = REGISTRY[quantity].unit if quantity in REGISTRY else ""
    return OF_CHARACTERS.get(registered, registered)


def measured(
    row: str,
    column: str,
    runs: pd.DataFrame,
    quantity: str,
    published: str | None = None,
    *,
    unit: str | None = None,
    bounds: Bounds | None = None,
) -> Cell:
    """Return the cell of a measured quantity over the seeds in `runs`, or of a timing over rounds.

    unit: where it is not that of `unit_of`. bounds: of a quantity that is not registered. The note
    names runs that failed, or have no such score, and says where learned spans have hardly moved.
    If the measurement failed, or its own check refuses a count, the status is `failed`.
    """
    cell = _over_seeds(row, column, runs, quantity, published, unit=unit, bounds=bounds)
    if isinstance(cell.value, Missing):
        return cell
    ok = runs[runs["status"] == "ok"]
    is_score = quantity in REGISTRY and REGISTRY[quantity].source == "metric"
    # of a cost, only learned spans make it depend on how long training went on
    changing = ok if is_score else learned_spans(ok)
    late_gain = float(changing["late_gain"].max()) if len(changing) else None
    unmoved = UNMOVED if hardly_moved(ok).any() else ""
    return replace(cell, late_gain=late_gain, note=_join_notes([cell.note, unmoved]))


def _join_notes(notes: list[str]) -> str:
    return "; ".join(note for note in notes if note)


def _over_seeds(
    row: str,
    column: str,
    runs: pd.DataFrame,
    quantity: str,
    published: str | None,
    *,
    unit: str | None,
    bounds: Bounds | None,
) -> Cell:
    """Return the cell of a quantity over seeds or rounds, without what training would change."""
    # a dataset may replace two of the paper's
    runs = runs.drop_duplicates("digest") if len(runs) else runs
    ok = runs[runs["status"] == "ok"] if len(runs) else runs
    values = values_of(ok, quantity)
    refusals = _refusals(ok, quantity, bool(values))
    failures = [*_failures(runs, quantity), *refusals]
    if refusals:
        status = "failed"
    elif values:
        status = "ok"
    else:
        status = "failed" if failures else NOT_RUN
    note = "; ".join(failures)
    if not note and not values:
        note = _why_not_run(runs, quantity)
    cell = make_cell(
        row,
        column,
        Missing(note),
        unit_of(quantity) if unit is None else unit,
        "measured",
        published,
        n=len(values),
        runs=runs,
        status=status,
        note=note if values else "",
    )
    return with_mean(cell, over_seeds(values, bounds=bounds or bounds_of(quantity)))


def _failures(runs: pd.DataFrame, quantity: str) -> list[str]:
    """List the seeds whose run failed or lacks this score, each with the reason."""
    if not len(runs):
        return []
    has_failed = runs["status"] != "ok"
    # asked of two columns first, for most runs lack nothing
    if not has_failed.any() and not any(quantity in missing for missing in runs["missing"]):
        return []
    failures = []
    for run in runs[["seed", "status", "reason", "missing"]].to_dict("records"):
        reason = why_missing(run, quantity)
        if reason:
            failures.append(f"seed {run['seed']}: {reason}")
    return failures


def _why_not_run(runs: pd.DataFrame, quantity: str) -> str:
    """Say why there is neither a value nor a failure."""
    if not len(runs):
        return NO_RUN
    kind = MEASURED_BY.get(quantity)
    if kind and (runs[f"{kind}_status"] == NOT_RUN).any():
        return NOT_MEASURED
    return "not measured"


def why_missing(run: Mapping, quantity: str) -> str:
    """Say why a run failed, or why this score of it is missing; an empty string of any other."""
    if run["status"] == "ok":
        return run["missing"].get(quantity, "")
    return f"{run['status']}: {run['reason']}"


def values_of(runs: pd.DataFrame, quantity: str) -> list[float]:
    """List the values behind a mean: one of each run, or of a timing one of each round."""
    if not len(runs):
        return []
    if quantity in TIMED:
        return all_turns(runs, quantity)
    return runs[quantity].dropna().astype(float).tolist()


def _refusals(runs: pd.DataFrame, quantity: str, has_values: bool) -> list[str]:
    """List why measurements do not count: they left no number, or their reason names the quantity.

    A measurement that broke may have counted some quantities, and a count may fail its own check.
    """
    kind = MEASURED_BY.get(quantity)
    if kind is None or not len(runs):
        return []
    status = runs[f"{kind}_status"]
    has_failed = status.notna() & ~status.isin(["ok", NOT_RUN])
    if not has_failed.any():
        return []
    failed = runs[has_failed]
    reasons = failed[f"{kind}_reason"].fillna(failed[f"{kind}_status"]).unique()
    return [reason for reason in reasons if not has_values or quantity in reason]


def take_cost_row(runs: pd.DataFrame) -> pd.DataFrame:
    """Take one row, for a cost measured once per configuration: of a finished run if any is."""
    ok = runs[runs["status"] == "ok"]
    return (ok if len(ok) else runs).head(1)


def take_rows(runs: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Take the rows behind a mean: every seed, or one for what a configuration is measured for."""
    return take_cost_row(runs) if quantity in MEASURED_BY else runs


def summarise(runs: pd.DataFrame, by: list[str], quantity: str) -> pd.DataFrame:
    """Compute by group a quantity's mean and its 95 % interval, or points, over the finished seeds.

    n, failed: how many seeds ended well, and how many others. unmoved: whether the learned spans of
    these runs have hardly moved from their start. What is measured once per configuration is on the
    row of each seed, and counts as one value without an interval, or as the rounds of a timing.
    """
    rows = []
    once = runs.drop_duplicates([*by, "digest"])
    # asked of all groups at once: of thousands, one by one, it would take most of the time
    has_ended = (once["status"] == "ok") & once[quantity].notna()
    once = once.assign(has_ended=has_ended)
    learns_spans = bool(len(learned_spans(once)))
    for key, group in once.groupby(by, dropna=False, sort=True):
        group = take_rows(group, quantity)
        ended = group["has_ended"].to_numpy()
        finished = group if ended.all() else group[ended]
        values = values_of(finished, quantity)
        summary = over_seeds(values, bounds=bounds_of(quantity))
        row = dict(zip(by, key, strict=True))
        row["mean"] = summary.value
        row["low"] = summary.low
        row["high"] = summary.high
        row["points"] = summary.points
        row["n"] = len(values)
        row["failed"] = len(group) - len(finished)
        row["unmoved"] = learns_spans and bool(hardly_moved(finished).any())
        row["runs"] = name_runs(finished, quantity)
        rows.append(row)
    columns = [*by, "mean", "low", "high", "points", "n", "failed", "unmoved", "runs"]
    groups = pd.DataFrame(rows, columns=columns)
    return groups.astype({"mean": float, "low": float, "high": float})


def name_runs(runs: pd.DataFrame, quantity: str) -> str:
    """Name the runs behind a mean as `DIGEST=VALUE DIGEST=VALUE`; of a timing, digests alone."""
    if quantity in TIMED:
        return " ".join(runs["digest"])
    values = zip(runs["digest"], runs[quantity], strict=True)
    return " ".join(f"{digest}={value:.6g}" for digest, value in values)


def ratio(
    row: str,
    column: str,
    quantity: str,
    runs: pd.DataFrame,
    base: pd.DataFrame,
    base_name: str,
    base_quantity: str = "",
) -> Cell:
    """Return the cell of a cost over the base's: of means, of two single values, or round by round.

    base_quantity: where the base's cost has another name. There is no ratio across backends or
    machines.
    """
    base_quantity = base_quantity or quantity
    numerator = measured(row, column, take_rows(runs, quantity), quantity, unit="×")
    denominator = measured(row, column, take_rows(base, base_quantity), base_quantity, unit="×")

    def without_ratio(status: Status, reason: str) -> Cell:
        return make_cell(row, column, Missing(reason), "×", "measured", runs=runs, status=status)

    if numerator.status != "ok":
        return without_ratio(numerator.status, numerator.explanation)
    if denominator.status != "ok":
        return without_ratio(denominator.status, f"{base_name}: {denominator.explanation}")
    apart = why_apart(runs, base, quantity, base_name, base_quantity)
    if apart:
        return without_ratio(NOT_RUN, f"{NO_RATIO}: {apart}")
    if not denominator.value:
        return without_ratio(NOT_RUN, f"{base_name}: 0")

    notes = [numerator.note]
    if denominator.note != numerator.note:
        notes.append(denominator.note)
    cell = replace(numerator, note=_join_notes(notes))
    if quantity not in TIMED:
        return _without_interval(cell, numerator.value / denominator.value)
    by_round = ratio_over_turns(runs, base, quantity, base_quantity)
    if not by_round.value:
        reason = f"no timing on a corpus shared with {base_name}"
        return replace(_without_interval(cell, Missing(reason)), status=NOT_RUN, note="")
    return with_mean(cell, by_round)


def setting(
    row: str,
    column: str,
    runs: pd.DataFrame,
    quantity: str,
    published: str | None = None,
    *,
    unit: str | None = None,
) -> Cell:
    """Return the cell of a number that the job fixes: equal for every seed, without an interval."""
    cell = _over_seeds(row, column, runs, quantity, published, unit=unit, bounds=None)
    return replace(_without_interval(cell, cell.value), kind="setting")


def analytic(
    row: str,
    column: str,
    value: float | str,
    unit: str,
    published: str | None = None,
    note: str = "",
) -> Cell:
    """Return the cell of a number from a formula, at the paper's size."""
    return make_cell(row, column, value, unit, "analytic", published, note=note)


def cited(
    row: str, column: str, published: str | None, unit: str, reason: str = NOT_TRAINED
) -> Cell:
    """Return a cell that only the paper fills. reason: why it holds nothing of ours."""
    return make_cell(row, column, Missing(reason), unit, "cited", published)
