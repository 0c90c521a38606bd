"""The columns of all runs as one file, and their data dictionary: what each holds, in which unit, from where.

Numbers, and what says which run they are of. Curves, spans of single heads and other lists stay in the records.
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

TYPES = {"text": "str", "integer": "Int64", "number": "float64"}  # of pandas; each can hold a missing value
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
    "question": ("text", "the question that asks for the run; a run that two ask for has a row for each", PLAN),
    "paper": ("text", "the paper of the question", PLAN),
    "variant": ("text", "the variant of the question: what differs from the recipe", PLAN),
    "label": ("text", "the variant as tables and figures show it", PLAN),
    "colour": ("text", "its colour, where its question gives one", PLAN),
    "baseline": ("text", "the variant that it is compared with, where its question names one", PLAN),
    "paper_corpus": ("text", "the text, pairs, pictures or trees of the paper", PLAN),
    "corpus": ("text", "what was read in its place at this scale", PLAN),
    "S": ("integer", "limit S: the farthest key that any head may see", PLAN),
    "k": ("integer", "k of top-k: how many keys a query keeps", PLAN),
    "size": ("number", "how many times as wide as the scale's nets", PLAN),
    "tuning": ("text", "trial, or tuned by trials; empty for a run of the recipe", PLAN),
    "digest": ("text", "the run: its folder is results/runs/DIGEST", PLAN),
    "configuration": ("text", "the job without its seed: what costs are measured of", PLAN),
    "task": ("text", f"what is learned: {' or '.join(TASKS)}", JOB),
    "seed": ("integer", "the seed of weights, batches and dropout", JOB),
    "scale": ("text", "how much is run: config/scales/", JOB),
    "status": (
        "text",
        "ok, diverged, oom, timeout, error, or stuck: it learned nothing; only an ok run has scores",
        RECORD,
    ),
    "reason": ("text", "why the run failed, or which scores it lacks and why", RECORD),
    "device": ("text", "the processor that trained it", RECORD),
    "backend": ("text", "the code that computed attention in training: compiled, band (in torch) or triton", RECORD),
    "follows": ("text", "the digest of the trial whose settings it has", RECORD),
    "steps": ("integer", "updates of the weights", JOB),
    "lr": ("number", "the highest rate of the updates", RECORD),
    "net": ("text", "the net around the attention", JOB),
    "source": ("text", "a digest of the files that its numbers depend on", RECORD),
    "commit": ("text", "the commit of the project that trained it", RECORD),
    "bits": ("text", "how far its bits travel: portable, or this machine", RECORD),
    "signature": ("text", "the first digits of the digest of its record, by which a verdict names it", RECORD),
    "span": ("text", "the axis span: which keys a head sees", JOB),
    "selection": ("text", "the axis selection: which of them it keeps", JOB),
    "normaliser": ("text", "the axis normaliser: how scores become weights", JOB),
    "position": ("text", "the axis position: how a distance enters a score", JOB),
    "apply_to": ("text", "the attentions of an encoder and a decoder that the choices apply to", JOB),
    "smoothing": ("number", "label smoothing of the loss", JOB),
    "sentences": ("integer", "how many sentences or pictures were scored; 0 is all", JOB),
}
_SHAPES = {
    "layers": "layers of the net, of each stack where there are two",
    "d_model": "width of the net",
    "heads": "attention heads of a layer",
    "key_heads": "heads of keys and values, where heads of queries share them",
    "d_ff": "width of a layer's feed-forward part",
    "d_k": "width of a head's keys, where it is not d_model / heads",
    "d_v": "width of a head's values, where it is not d_model / heads",
    "dropout": "share of activations that training drops",
}


def _of_quantities() -> list[Column]:
    """List columns for the numbers of the registry; before those of a cost, whether it could be measured."""
    columns, sources = [], set()
    for quantity in (each for each in REGISTRY.values() if each.number):
        kind, place = quantity.source, FROM[quantity.source]
        if kind in COSTS and kind not in sources:
            columns.append(Column(f"{kind}_status", "text", "", f"whether {kind} could be measured", place))
            columns.append(Column(f"{kind}_reason", "text", "", f"why {kind} could not be measured", place))
        sources.add(kind)
        columns.append(Column(quantity.name, "number", _unit(quantity), quantity.meaning or quantity.title, place))
    return columns


def _unit(quantity: Quantity) -> str:
    """Return the unit of a quantity, which some titles name, as they stand over columns of bare numbers."""
    if quantity.name.startswith("macs_"):
        return "multiply-adds"
    return "ms" if quantity.name.endswith("_ms") else quantity.unit


COLUMNS = [
    *(Column(name, kind, "", meaning, source) for name, (kind, meaning, source) in _NAMED.items()),
    *(Column(name, "number" if name == "dropout" else "integer", "", _SHAPES[name], JOB) for name in SHAPE),
    *_of_quantities(),
]


def flat_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """Give all runs these columns, in this order; a cost that nobody asked for is a missing number.

    runs: of `workflow.results.runs_table`, with costs.
    """
    listed = runs.assign(apply_to=[" ".join(names or ()) for names in runs["apply_to"]])
    wanted = listed.reindex(columns=[each.column for each in COLUMNS])
    return wanted.astype({each.column: TYPES[each.type] for each in COLUMNS})


def write_run_files(folder: Path, runs: pd.DataFrame) -> None:
    """Write runs with their costs as one CSV and one Parquet file, and what each column holds, in which unit."""
    flat = flat_runs(runs)
    write_text(folder / "runs.csv", csv_text(flat))
    with atomic_write(folder / "runs.parquet") as file:
        flat.to_parquet(file, engine="pyarrow", index=False)
    write_text(folder / "runs_columns.csv", dictionary().to_csv(index=False))


def dictionary() -> pd.DataFrame:
    """Describe each column in a row: name, type, unit, meaning and source."""
    return pd.DataFrame([asdict(each) for each in COLUMNS])
