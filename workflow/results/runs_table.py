"""All runs of one question as a table: a row per row of its plan, joined with its record and with
costs.
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd
from pydantic import BaseModel

from workflow.config.errors import ConfigError
from workflow.config.files import shown_path
from workflow.config.strict import Name, parse
from workflow.results.makers import KINDS
from workflow.results.precomputed import NOT_MEASURED, NOT_RUN
from workflow.results.record import Record, Status
from workflow.results.registry import COSTS, REGISTRY, names
from workflow.results.rows import read_rows
from workflow.results.run import Run, required_columns
from workflow.results.timings import SPEEDS, describe_timings

# Arrow's strings take longer in frames of a few hundred rows
pd.options.mode.string_storage = "python"

GRID = ("S", "k")  # axes on which a variant can have several places
# first characters of a text that a spreadsheet computes
FORMULAS = ("=", "+", "-", "@", "\t", "\r")
TIMINGS = ("configuration", "reference_ms", "quiet", *SPEEDS)  # what is said of them
# What a row of an earlier version lacks: it is of its recipe, names nothing that is missing, and
# has the variant's name as its label.
EARLIER = {
    "colour": None,
    "baseline": None,
    "size": 1.0,
    "tuning": None,
    "factors": {},
    "missing": {},
    "over_condition": [],
    "score_scale": "none",
    "follows": None,
    "lr": None,
    "backend": None,
}
OPTIMAL_PREDICTOR = ("corpus", "window", "words", "bpc", "characters")
TOPIC_BORDERS = ("digest", "corpus", "duration", "low", "high", "borders", "place", "span")


def build_rows(plan: list[dict], records: dict[str, Record]) -> list[dict]:
    """Make a row of each row of the plan, as a file of rows holds it; what is missing is None."""
    rows = []
    for planned in plan:
        record = records[planned["digest"]]
        run = Run.of(planned, record)
        rows.append(run.row())
    return rows


class Layer(BaseModel):
    """One kind of layer of Table 1 at one length n, as `workflow.scripts.layers` measures it.

    turns: medians of a step in ms, one for each turn, over `rounds` steps in all. ms: their mean.
    bytes: the peak above the libraries.
    """

    layer: Name
    n: int
    d: int
    ms: float | None
    rounds: int | None
    turns: list[float] | None
    bytes: int | None
    status: Status
    reason: str | None
    device: str
    commit: str


@dataclass(frozen=True)
class Frames:
    """What a table or figure may read: the runs with the costs that were given, and what belongs to
    no run.

    others: trials, runs that follow one, and nets of other sizes, which no table or figure of a
    paper shows.
    layers: of Table 1. optimal_predictor: its bpc on a text, window by window. topic_borders:
    dynamic spans around the borders of topics and within words. Both are empty where nothing is
    known.
    """

    runs: pd.DataFrame | None
    layers: pd.DataFrame | None
    optimal_predictor: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(columns=list(OPTIMAL_PREDICTOR))
    )
    topic_borders: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(columns=list(TOPIC_BORDERS))
    )
    others: pd.DataFrame | None = None

    @property
    def everything(self) -> pd.DataFrame:
        """Join the runs that tables and figures show with the others."""
        if self.others is None:
            return self.runs
        # a copy has few blocks, as `as_frame` says
        return pd.concat([self.runs, self.others]).copy()

    @property
    def at_every_size(self) -> pd.DataFrame:
        """Select the runs of the recipe, of nets of all sizes."""
        return self.everything[self.everything["tuning"].isna()]


def finished(runs: pd.DataFrame, quantity: str | None = None) -> pd.DataFrame:
    """Select the runs that ended well and, if one is named, have this quantity."""
    has_ended = runs["status"] == "ok"
    if quantity is None:
        return runs[has_ended]
    has_value = runs[quantity].notna()
    return runs[has_ended & has_value]


def read_frames(paths: Iterable[Path]) -> Frames:
    """Read files of rows into frames.

    Costs are joined to the rows of the runs of their configuration.
    """
    paths = list(paths)
    rows = collect_rows(paths)
    places = ", ".join(map(shown_path, paths))
    return join_frames(rows, places)


def collect_rows(paths: Iterable[Path]) -> dict[str, list[dict]]:
    """Collect the rows of several files, by what they are rows of; `ConfigError` for layers unlike
    `Layer`.
    """
    rows = defaultdict(list)
    for path in paths:
        kind, content = read_rows(path)
        if kind == "layers":
            content = _parse_layers(content, path)
        rows[kind] += content
    return dict(rows)


def _parse_layers(rows: list[dict], path: Path) -> list[dict]:
    """Parse rows as `Layer`; `ConfigError` names the first that is none."""
    wrong = f"{shown_path(path)}: not layers as the workflow writes them"
    layers = []
    for number, row in enumerate(rows):
        layer = parse(Layer, row, f"{wrong}, row {number}")
        layers.append(layer.model_dump())
    return layers


def join_frames(rows: dict[str, list[dict]], where: str) -> Frames:
    """Make frames of rows by kind; `ConfigError` where they are not this suite's.

    where: what they were read from.
    """
    layers = None
    if "layers" in rows:
        layers = pd.DataFrame(rows["layers"], columns=list(Layer.model_fields))
    frames = Frames(
        runs=None,
        layers=layers,
        optimal_predictor=_frame_of(rows, "optimal_predictor", OPTIMAL_PREDICTOR),
        topic_borders=_frame_of(rows, "topic_borders", TOPIC_BORDERS),
    )
    if "runs" not in rows:
        return frames
    costs = {kind: rows[kind] for kind in COSTS if kind in rows}
    try:
        runs = as_frame(rows["runs"], costs)
        is_of_recipe = runs["tuning"].isna()
        is_own_size = runs["size"] == 1
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise ConfigError(f"{where}: not runs as the workflow writes them ({what})") from None
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    is_shown = is_of_recipe & is_own_size
    return replace(frames, runs=runs[is_shown].copy(), others=runs[~is_shown].copy())


def _frame_of(rows: dict[str, list[dict]], kind: str, columns: tuple[str, ...]) -> pd.DataFrame:
    of_kind = rows.get(kind, [])
    return pd.DataFrame(of_kind, columns=list(columns))


def as_frame(rows: list[dict], costs: dict[str, list[dict]] | None = None) -> pd.DataFrame:
    """Make a frame of runs, in which missing and infinite numbers are NaN.

    costs: rows by kind; a kind that is not given has no columns. `ConfigError` names a column of
    `Run` that a row lacks.
    """
    completed = []
    for row in rows:
        defaults = {"label": row.get("variant"), **EARLIER}
        completed.append(defaults | row)
    check_columns(completed)
    for kind, measured in (costs or {}).items():
        _add_costs(completed, kind, measured)
    runs = pd.DataFrame(completed)
    registered = [name for name, quantity in REGISTRY.items() if quantity.number]
    numbers = runs.columns.intersection(["S", "k", *registered])
    numeric = runs[numbers].apply(pd.to_numeric)
    runs[numbers] = numeric.replace((math.inf, -math.inf), math.nan)
    # pandas gives each column of its own strings a block of its own
    texts = runs.select_dtypes("str").columns
    as_objects = runs.astype(dict.fromkeys(texts, object))
    # few blocks again: pandas is slow, and warns, where many columns were added
    return as_objects.copy()


def check_columns(rows: list[dict]) -> None:
    """Raise `ConfigError` with the first column of `Run` that a row lacks."""
    required = required_columns()
    for number, row in enumerate(rows):
        absent = [name for name in required if name not in row]
        if absent:
            raise ConfigError(f"row {number} of the runs: column '{absent[0]}' is missing")


def _add_costs(runs: list[dict], kind: str, measured: list[dict]) -> None:
    """Add the costs of one kind to the rows of the runs of their configuration."""
    of_run = {row["digest"]: row for row in runs}
    by_configuration = {row["configuration"]: row for row in measured}
    for row in runs:
        cost = by_configuration.get(row["configuration"], {})
        for name in names(kind):
            row[name] = cost.get(name)
        reason = cost.get("reason")
        status = cost.get("status")
        row[f"{kind}_status"] = NOT_RUN if reason == NOT_MEASURED else status
        row[f"{kind}_reason"] = reason
        if kind not in KINDS:
            continue
        # an earlier row names no code and no machine: they are those of the run that it measured
        run = of_run.get(cost.get("digest"), row)
        row[f"{kind}_backend"] = cost.get("backend") or run["backend"]
        row[f"{kind}_machine"] = cost.get("machine") or run["device"]


def count_seeds(runs: pd.DataFrame) -> str:
    """Return `3 seeds`, or `3 to 12 seeds` if their number varies between configurations."""
    counts = runs.groupby("configuration")["seed"].nunique()
    few = int(counts.min())
    many = int(counts.max())
    if few < many:
        return f"{few} to {many} seeds"
    return "1 seed" if many == 1 else f"{many} seeds"


def describe_runs(runs: pd.DataFrame, texts: str = "") -> str:
    """Describe in one line the scale, device, seeds and timings behind a table. texts: its corpora
    in words.
    """
    if not len(runs):
        return "no runs: values are computed or cited"
    texts = texts or ", ".join(sorted(runs["corpus"].unique()))
    scale = ", ".join(sorted(runs["scale"].unique()))
    device = ", ".join(sorted(runs["device"].unique()))
    steps = ", ".join(f"{count:,}" for count in sorted(runs["steps"].unique()))
    parts = [
        f"scale {scale}",
        device,
        count_seeds(runs),
        f"{steps} steps",
        f"corpus: {texts}",
    ]
    sentences = sorted(runs["sentences"].dropna().unique())
    if sentences:
        # 0 sentences are all of them
        scored = ", ".join(f"{count:.0f}" if count else "all" for count in sentences)
        parts.append(f"scored on {scored} test examples")
    timed = runs[runs.columns.intersection(TIMINGS)].drop_duplicates("configuration")
    parts += describe_timings(timed.to_dict("records"))
    return "; ".join(parts)


def csv_text(frame: pd.DataFrame) -> str:
    """Write a frame as CSV that no spreadsheet computes: a text that begins like a formula gets an
    apostrophe.
    """
    guarded = {}
    for name, dtype in frame.dtypes.items():
        if not pd.api.types.is_numeric_dtype(dtype):
            guarded[name] = frame[name].map(_guarded)
    return frame.assign(**guarded).to_csv(index=False)


def _guarded(value):
    if isinstance(value, str) and value.startswith(FORMULAS):
        return f"'{value}"
    return value
