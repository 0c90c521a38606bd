"""All runs as one table: a row per row of the plan, joined with its record and with what was measured of its cell."""

from pathlib import Path

import pandas as pd

from workflow.config.choices import AXES
from workflow.config.errors import ConfigError
from workflow.config.strict import parse_json
from workflow.results.record import Record

SCORES = ("bleu", "bleu_tokenised", "chrf")
CAPTIONS = ("bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l", "cider", "meteor", "meteor_nltk")
TREES = ("recall", "precision", "f1", "complete", "tagging", "errors", "repaired")
METRICS = ("train_bpc", "dev_bpc", "test_bpc", "train_ppl", "dev_ppl", "test_ppl")
METRICS += tuple(f"{split}_{name}{how}" for how in ("", "_every_key") for split in ("dev", "test") for name in SCORES)
METRICS += tuple(f"{split}_{name}" for split in ("dev", "test") for name in (*CAPTIONS, *TREES))
FACTS = ("mean_span", "max_span", "spans", "alpha", "attention_by_distance", "fragment")
FACTS += ("counts", "maps", "looks")
SHAPE = ("layers", "d_model", "heads", "d_ff", "d_k", "d_v", "dropout")
MEASURES = {
    "flops": ("macs_analytic", "macs_torch", "macs_fvcore", "unsupported"),
    "memory": (
        "memory_train_bytes",
        "memory_evaluate_bytes",
        "memory_reserved_bytes",
        "memory_budget_bytes",
        "longest_S",
        "longest_S_ended",
    ),
    "throughput": (
        "train_tokens_per_s",
        "train_ms",
        "train_spread",
        "train_turns",
        "predict_tokens_per_s",
        "predict_ms",
        "predict_spread",
        "predict_turns",
    ),
}

LISTED = ("unsupported", "longest_S_ended", "train_turns", "predict_turns")  # measures that are no numbers


def gather(plan: list[dict], records: dict[str, Record], measures: dict[str, list[dict]]) -> list[dict]:
    """One flat object per row of the plan; what is not there is None."""
    by_cell = {kind: {one["configuration"]: one for one in rows} for kind, rows in measures.items()}
    return [_row(asked, records[asked["digest"]], by_cell) for asked in plan]


def _row(asked: dict, record: Record, by_cell: dict) -> dict:
    job, cost = record.job, record.cost
    row = {
        key: asked[key]
        for key in ("ablation", "paper", "variant", "corpus", "S", "k", "digest", "configuration", "text")
    }
    row |= {"task": job.task, "seed": job.seed, "scale": job.scale, "status": record.status, "reason": record.reason}
    row |= {"device": record.origin.device, "steps": job.training.steps, "net": job.net.name}
    row |= {"source": record.origin.source, "commit": record.origin.commit}
    row |= {axis: getattr(job.attention, axis)["name"] for axis in AXES}
    row["ramp"] = job.attention.span.get("ramp")
    row["apply_to"] = list(getattr(job.attention, "apply_to", ()))
    row |= {key: getattr(job.net, key, None) for key in SHAPE}
    row["smoothing"] = getattr(job.training, "smoothing", None)
    row["sentences"] = getattr(job.evaluation, "sentences", None)
    row |= {key: record.metrics.get(key) for key in METRICS} | {key: record.facts.get(key) for key in FACTS}
    row |= {key: getattr(cost, key, None) for key in ("parameters", "seconds", "tokens_per_s", "peak_memory_bytes")}
    macs = cost.macs if cost else None
    row |= {f"macs_{key}": getattr(macs, key, None) for key in ("paper", "dense", "executed")}
    row["curve"] = [point.model_dump() for point in record.curve]
    for kind, columns in MEASURES.items():
        found = by_cell.get(kind, {}).get(asked["configuration"], {})
        row |= {column: found.get(column) for column in columns}
        row[f"{kind}_status"], row[f"{kind}_reason"] = found.get("status"), found.get("reason")
    return row


def load(path: str | Path) -> pd.DataFrame:
    """results/runs.json as a frame; columns as `gather` makes them, missing numbers NaN.

    attrs["layers"]: results/measures/layers.json beside it, which belongs to no run; empty where it was not made.
    """
    path = Path(path)
    rows, layers = parse_json(path.read_bytes(), str(path)), path.parent / "measures" / "layers.json"
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise ConfigError(f"{path}: expected a list of runs, as workflow.scripts.runs_table writes it")
    try:
        runs = frame(rows)
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{path}: not runs as workflow.scripts.runs_table writes them ({error})") from None
    runs.attrs["layers"] = parse_json(layers.read_bytes(), str(layers)) if layers.exists() else []
    return runs


def frame(rows: list[dict]) -> pd.DataFrame:
    runs = pd.DataFrame(rows)
    numbers = [*METRICS, "mean_span", "max_span", "S", "k"]
    numbers += [
        "parameters",
        "macs_paper",
        "macs_dense",
        "macs_executed",
        "seconds",
        "tokens_per_s",
        "peak_memory_bytes",
    ]
    numbers += [column for columns in MEASURES.values() for column in columns if column not in LISTED]
    for column in numbers:
        runs[column] = pd.to_numeric(runs[column])
    return runs


def text_of(corpus: str, text: str) -> str:
    """`words for text8` where a scale's own text stands in for that of the paper."""
    return text if text == corpus else f"{text} for {corpus}"


def provenance(runs: pd.DataFrame) -> str:
    """Scale, device and seeds behind a table or figure, in one line."""
    if not len(runs):
        return "no runs: computed or cited"
    seeds = runs["seed"].nunique()
    texts = ", ".join(sorted(runs["text"].unique()))
    parts = [", ".join(sorted(runs[column].unique())) for column in ("scale", "device")]
    steps = ", ".join(f"{count:,}" for count in sorted(runs["steps"].unique()))
    told = f"scale {parts[0]}; {parts[1]}; {seeds} seed{'s' * (seeds > 1)}; {steps} steps; text: {texts}"
    scored = ", ".join(f"{count:.0f}" if count else "all" for count in sorted(runs["sentences"].dropna().unique()))
    what = "pictures" if set(runs["task"]) == {"captioning"} else "sentences"
    return f"{told}; scored on {scored} {what}" if scored else told
