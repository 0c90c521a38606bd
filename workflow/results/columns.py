"""Write all runs as one file, with a data dictionary: the meaning, unit and source of each column.

The file has scalars and the identity of each run. Curves, spans of single heads and other lists
stay in the records.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import pandas as pd

from workflow.config.files import atomic_write
from workflow.results.record import write_text
from workflow.results.registry import COSTS, REGISTRY, Quantity, Source
from workflow.results.runs_table import SHAPE, csv_text
from workflow.tasks.spec import TASKS

# of pandas; each can hold a missing value
TYPES = {"text": "str", "integer": "Int64", "number": "float64"}
FROM: dict[Source, str] = {
    "metric": "metrics of record.json",
    "fact": "facts of record.json",
    "curve": "the learning curve, curve.csv",
    "run": "cost of record.json",
} | {kind: f"results/SCALE/{kind}/" for kind in COSTS}


@dataclass(frozen=True)
class Column:
    column: str
    type: Literal["text", "integer", "number"]
    unit: str
    meaning: str
    source: str


PLAN, JOB, RECORD = "plan.json", "job.json", "record.json"
_NAMED = {  # column: (type, meaning, source)
    "question": (
        "text",
        "the question that requests the run; a run of two questions has a row for each",
        PLAN,
    ),
    "paper": ("text", "the paper of the question", PLAN),
    "variant": ("text", "the variant of the question: what differs from the recipe", PLAN),
    "label": ("text", "the variant's name in tables and figures", PLAN),
    "colour": ("text", "the variant's colour, if the question sets one", PLAN),
    "baseline": ("text", "the baseline of the variant, if the question names one", PLAN),
    "paper_corpus": ("text", "the dataset of the paper", PLAN),
    "corpus": ("text", "the dataset used in its place at this scale", PLAN),
    "S": ("integer", "limit S: the maximum span of any head", PLAN),
    "k": ("integer", "k of top-k: the number of keys that a query keeps", PLAN),
    "size": ("number", "model width relative to the scale's models", PLAN),
    "tuning": (
        "text",
        "`trial` for a tuning run, `tuned` for a run with tuned settings; empty for the recipe",
        PLAN,
    ),
    "digest": ("text", "the run; its folder is results/runs/DIGEST", PLAN),
    "configuration": (
        "text",
        "the job without its seed; costs are measured once per configuration",
        PLAN,
    ),
    "task": ("text", f"{', '.join(TASKS)}", JOB),
    "seed": ("integer", "the seed of initialisation, batches and dropout", JOB),
    "scale": ("text", "the scale of the run: config/scales/", JOB),
    "status": (
        "text",
        "ok, diverged, oom, timeout, error, or failed to train (no better than chance); only ok runs have scores",
        RECORD,
    ),
    "reason": ("text", "why the run failed, or which scores are missing and why", RECORD),
    "device": ("text", "the device that trained it", RECORD),
    "backend": (
        "text",
        "the code that computed attention in training: compiled, band (PyTorch) or triton",
        RECORD,
    ),
    "follows": ("text", "the digest of the trial whose settings it uses", RECORD),
    "steps": ("integer", "number of updates", JOB),
    "lr": ("number", "peak learning rate", RECORD),
    "net": ("text", "the model around the attention", JOB),
    "source": ("text", "a digest of the source files that its numbers depend on", RECORD),
    "commit": ("text", "the commit of the project that trained it", RECORD),
    "bits": (
        "text",
        "reproducibility: `portable` (bit-exact on any x86 CPU) or `this machine`",
        RECORD,
    ),
    "signature": (
        "text",
        "the first digits of the digest of its record; verdicts refer to it",
        RECORD,
    ),
    "span": ("text", "axis span: which keys a head sees", JOB),
    "selection": ("text", "axis selection: which of these keys it keeps", JOB),
    "normaliser": ("text", "axis normaliser: how scores become weights", JOB),
    "position": ("text", "axis position: how distance enters the score", JOB),
    "apply_to": (
        "text",
        "the attention layers (encoder, decoder, cross) that the choices apply to",
        JOB,
    ),
    "smoothing": ("number", "label smoothing", JOB),
    "sentences": ("integer", "number of test sentences or images scored; 0 means all", JOB),
}
_SHAPES = {
    "layers": "number of layers (per stack in an encoder-decoder model)",
    "d_model": "model width",
    "heads": "attention heads per layer",
    "key_heads": "KV heads per layer, if query heads share them",
    "d_ff": "feed-forward width",
    "d_k": "key width per head, if not d_model / heads",
    "d_v": "value width per head, if not d_model / heads",
    "dropout": "dropout rate",
}


def _of_quantities() -> list[Column]:
    """List columns for the numbers of the registry; a cost also has a status and a reason."""
    columns, sources = [], set()
    for quantity in (each for each in REGISTRY.values() if each.number):
        kind, place = quantity.source, FROM[quantity.source]
        if kind in COSTS and kind not in sources:
            columns.append(
                Column(f"{kind}_status", "text", "", f"whether {kind} was measured", place)
            )
            columns.append(Column(f"{kind}_reason", "text", "", f"why {kind} is missing", place))
        sources.add(kind)
        columns.append(
            Column(
                quantity.name, "number", _unit(quantity), quantity.meaning or quantity.title, place
            )
        )
    return columns


def _unit(quantity: Quantity) -> str:
    """Return the unit of a quantity, also where its title already names it."""
    if quantity.name.startswith("macs_"):
        return "MACs"
    return "ms" if quantity.name.endswith("_ms") else quantity.unit


COLUMNS = [
    *(Column(name, kind, "", meaning, source) for name, (kind, meaning, source) in _NAMED.items()),
    *(
        Column(name, "number" if name == "dropout" else "integer", "", _SHAPES[name], JOB)
        for name in SHAPE
    ),
    *_of_quantities(),
]


def flat_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """Select these columns, in this order; a cost that was not measured is missing.

    runs: from `workflow.results.runs_table`, with costs.
    """
    listed = runs.assign(apply_to=[" ".join(names or ()) for names in runs["apply_to"]])
    wanted = listed.reindex(columns=[each.column for each in COLUMNS])
    return wanted.astype({each.column: TYPES[each.type] for each in COLUMNS})


def write_run_files(folder: Path, runs: pd.DataFrame) -> None:
    """Write runs with their costs as CSV and Parquet, and the data dictionary."""
    flat = flat_runs(runs)
    write_text(folder / "runs.csv", csv_text(flat))
    with atomic_write(folder / "runs.parquet") as file:
        flat.to_parquet(file, engine="pyarrow", index=False)
    write_text(folder / "runs_columns.csv", dictionary().to_csv(index=False))


def dictionary() -> pd.DataFrame:
    """Return the data dictionary: a row per column with name, type, unit, meaning and source."""
    return pd.DataFrame([asdict(each) for each in COLUMNS])
