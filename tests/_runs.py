"""Runs as tables and figures see them, small enough to work out by hand."""

from collections.abc import Iterable
from functools import cache
from itertools import product
from pathlib import Path

import pandas as pd

from tests._costs import LONGEST, MEASURED, split_costs
from tests._layers import layers
from workflow.results.registry import COSTS, names
from workflow.results.rows import write_rows
from workflow.results.runs_table import OPTIMAL_PREDICTOR, TOPIC_BORDERS, Frames, as_frame
from workflow.settings.questions import Variant, known_questions, load_question

CURVE = [
    {
        "step": 5,
        "train_bpc": 3.0,
        "dev_bpc": 2.5,
        "mean_span": 37.0,
        "max_span": 60.0,
        "tokens_per_s": 1.0,
    },
    {
        "step": 10,
        "train_bpc": 3.0,
        "dev_bpc": 2.0,
        "mean_span": 42.0,
        "max_span": 60.0,
        "tokens_per_s": 1.0,
    },
]

NET = {
    "layers": 2,
    "d_model": 16,
    "heads": 2,
    "key_heads": None,
    "d_ff": 32,
    "d_k": None,
    "d_v": None,
    "dropout": 0.1,
    "apply_to": [],
}
NET |= {"smoothing": 0.1, "sentences": None}
WEIGHTS = [[[0.9, 0.1], [0.5, 0.5]], [[0.2, 0.8], [0.6, 0.4]]]
BY_DISTANCE = {"distance": [1.0, 2.0], "keys": [1, 1], "weight": WEIGHTS}


def variant_of(question: str, variant: str) -> Variant:
    """As the question has it, if there is one of this name."""
    variants = load_question(question).variants if question in known_questions() else {}
    return variants.get(variant, Variant())


def label_of(question: str, variant: str) -> str:
    return variant_of(question, variant).label or variant


def run(question="span_limit", variant="fixed", seed=1, S=64, k=None, **changes) -> dict:
    """Make one row of the runs table, with every cost; numbers chosen, not measured."""
    place = f"{question}-{variant}-{S}-{k}"
    row = dict.fromkeys(names("metric", "fact", "run"))
    row |= {
        "question": question,
        "task": "char_lm",
        "paper": "adaptive_span",
        "variant": variant,
        "colour": None,
    }
    row |= {
        "label": label_of(question, variant),
        "baseline": variant_of(question, variant).baseline,
    }
    row |= {"paper_corpus": "text8", "corpus": "words", "S": S, "k": k}
    row |= {
        "seed": seed,
        "digest": f"{place}-{seed}",
        "configuration": place,
        "scale": "test",
        "status": "ok",
    }
    row |= {"missing": {}, "size": 1.0, "tuning": None, "factors": {}, "follows": None, "lr": 0.003}
    row |= {
        "reason": None,
        "device": "a device",
        "steps": 10,
        "net": "char_lm",
        "source": "abc",
        "commit": "0123abc",
    }
    row |= {"bits": "portable", "signature": "cafe0123cafe"}
    row |= {
        "span": variant,
        "selection": "all",
        "normaliser": "softmax",
        "position": "relative",
        **NET,
    }
    row |= {
        "train_bpc": 2.5,
        "dev_bpc": 2.0 + seed / 10,
        "test_bpc": 2.2,
        "mean_span": 40.0,
        "max_span": 50.0,
    }
    row |= {"spans": [[32.0, 40.0], [40.0, 48.0]], "attention_by_distance": BY_DISTANCE}
    row |= {
        "fragment": {"text": ["a", "<eos>", "b"], "span": [1.0, 2.0, 3.0]},
        "curve": CURVE,
        "late_gain": 0.0,
    }
    row |= {"parameters": 1000, "macs_paper": 5e4, "macs_dense": 9e4, "macs_executed": 6e4}
    return (
        row
        | {"seconds": 3.0, "tokens_per_s": 1e4, "peak_memory_bytes": 1 << 28}
        | MEASURED
        | changes
    )


SCORES = {
    "train_ppl": 9.0,
    "dev_ppl": 12.0,
    "test_ppl": 11.0,
    "dev_bleu": 20.0,
    "test_bleu": 21.0,
    "test_chrf": 40.0,
}
SCORES |= {"dev_bleu_tokenised": 22.0, "test_bleu_tokenised": 23.0, "dev_chrf": 41.0}
EVEN, DIAGONAL = [[[0.5, 0.5], [0.5, 0.5]]] * 2, [[[1.0, 0.0], [0.0, 1.0]]] * 2

BROKEN = {"status": "diverged", "reason": "mean loss nan", "test_bleu_tokenised": None}
BROKEN |= {"maps": None, "counts": None, "looks": None}


def translated(
    question="translation",
    variant="softmax",
    seed=1,
    k=None,
    paper_corpus="iwslt14-deen",
    **changes,
):
    """Make one row of the runs table for a translation; numbers chosen, not measured."""
    row = run(question, variant, seed, None, k, paper_corpus=paper_corpus, paper="explicit_sparse")
    row |= dict.fromkeys(
        ("train_bpc", "dev_bpc", "test_bpc", "mean_span", "max_span", "spans", "macs_paper")
    )
    row |= dict.fromkeys(("attention_by_distance", "fragment"))
    row |= {
        "task": "translation",
        "net": "seq2seq",
        "span": "full",
        "position": "none",
        "corpus": "phrases-deen",
    }
    row |= {"heads": 2, "d_k": 8, "d_v": 8, "apply_to": ["encoder", "decoder", "cross"], **SCORES}
    row |= {
        "selection": "top_k" if "top_k" in variant else "all",
        "test_bleu": 21.0 + seed,
        "dev_bleu": 20.0 + seed,
    }
    row |= {"test_bleu_tokenised": 23.0 + seed, "dev_bleu_tokenised": 22.0 + seed}
    if question == "distractors":
        row |= {f"test_bleu_planted_{n}": row["test_bleu"] - n / 4 for n in (4, 8, 12)} | {
            "test_bleu_slope": -0.25
        }
        row["astray"] = {"planted": [4, 8, 12]} | {
            kind: [[0.1, 0.2]] * 3 for kind in ("encoder", "cross")
        }
    if row["selection"] == "top_k":
        row |= {
            "dev_bleu_tokenised_every_key": 21.0 + seed,
            "test_bleu_tokenised_every_key": 22.5 + seed,
        }
    row |= {
        "counts": [[2, 1, 0, 0, 2, 1, 0, 0, 2, 2], [len(variant) % 3, 0, 0, 0, 2, 1, 0, 0, 2, 3]]
    }
    row |= {key: f"{row[key]}-{paper_corpus}" for key in ("digest", "configuration")}
    maps = {kind: {"1": EVEN, "3": DIAGONAL} for kind in ("encoder", "decoder", "cross")}
    row |= {"maps": {"source": ["▁zwei", "<eos>"], "target": ["<bos>", "▁two"], **maps}}
    row |= {"signatures": {"bleu": "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"}}
    absent = dict.fromkeys(("train_bpc", "dev_bpc", "mean_span", "max_span"))
    return (
        row
        | {"curve": [point | {"train_ppl": 30.0, "dev_ppl": 25.0} | absent for point in CURVE]}
        | changes
    )


TREES = {
    "recall": 70.0,
    "precision": 80.0,
    "complete": 30.0,
    "tagging": 90.0,
    "errors": 0.0,
    "repaired": 5.0,
}


def parsed(
    question="parsing", variant="softmax", seed=1, k=None, paper_corpus="ptb", **changes
) -> dict:
    """Make one row of the runs table for a parser: 3 of 4 right brackets among the 4 written, with
    top-k one fewer.
    """
    row = translated(
        question, variant, seed, k, paper_corpus, paper="aiayn", task="parsing", maps=None
    )
    row |= {name: None for name in row if "bleu" in name or "chrf" in name} | {
        "corpus": "statements"
    }
    row |= {f"test_{name}": value for name, value in TREES.items()} | {
        "test_f1": 75.0 + seed,
        "dev_f1": 74.0,
    }
    matched = 1 - (variant == "top_k")
    return row | {"counts": [[2, 2, 2, 3, 3, 1, 1], [matched, 2, 2, 3, 2, 0, 1]]} | changes


LOOK = {"name": "scene 9", "pieces": ["▁a", "▁red", "▁ring"]}
LOOK |= {"weights": [[0.7, 0.1, 0.1, 0.1], [1.0, 0, 0, 0], [0.25] * 4]}
LOOK |= {"pixels": {"side": 2, "rgb": "/wAAAP8AAAD/////"}}  # red, green, blue, white


def described(
    question="captioning", variant="softmax", seed=1, k=None, paper_corpus="coco", **changes
) -> dict:
    row = translated(
        question, variant, seed, k, paper_corpus, task="captioning", maps=None, corpus="scenes"
    )
    row |= {name: None for name in row if "bleu" in name or "chrf" in name}
    row |= {f"test_bleu_{n}": 60.0 - 10 * n + seed for n in range(1, 5)} | {
        "test_rouge_l": 50.0,
        "dev_cider": 90.0,
    }
    row |= {"test_cider": 100.0 + seed + 5 * (variant == "top_k"), "test_meteor_nltk": 40.0}
    return row | {"counts": [[90.0, 1.0], [112.0 + seed, 1.0]], "looks": [LOOK]} | changes


def failed(**changes) -> dict:
    nothing = (
        "train_bpc",
        "dev_bpc",
        "test_bpc",
        "mean_span",
        "max_span",
        "macs_paper",
        "macs_dense",
        "macs_executed",
    )
    row = run(**changes) | dict.fromkeys(nothing)
    row |= {"status": "diverged", "reason": "mean loss nan", "curve": CURVE}
    return row | {"spans": None, "fragment": None, "attention_by_distance": None}


MISSING = dict.fromkeys((*names("metric", "fact"), "macs_executed"), "ValueError: no tree")
UNSCORED = {
    "status": "ok",
    "reason": f"{', '.join(MISSING)}: ValueError: no tree",
    "missing": MISSING,
}


def unscored(**changes) -> dict:
    """Make the row of a run whose net was trained and of which no score could be had."""
    return failed(**changes) | UNSCORED


TOP_K = ("adaptive_top_k", 8)
PLANNED = [
    ("adaptive_vs_xl", v, 64, None, c)
    for v in ("as_small", "as_large", "txl_12", "txl_24")
    for c in ("text8", "enwik8")
]
PLANNED += [("dynamic_span", v, 64, None, "text8") for v in ("adaptive", "dynamic", "fixed")]
PLANNED += [("span_limit", v, S, None, "text8") for v in ("fixed", "adaptive") for S in (32, 64)]
PLANNED += [("head_spans", "adaptive", 64, None, "text8")]
PLANNED += [("collapsed_spans", v, 64, None, "enwik8") for v in ("smooth_adam", "table_adam")]
PLANNED += [
    ("known_entropy", v, S, None, "topics")
    for v in ("fixed", "adaptive", "dynamic")
    for S in (32, 64)
]
POSITIONS = [f"{span}{end}" for end in ("", "_rotary", "_alibi") for span in ("fixed", "adaptive")]
PLANNED += [
    ("spans_and_positions", v, 64, None, text) for v in POSITIONS for text in ("text8", "enwik8")
]
SHARED = [f"{span}{heads}" for span in ("", "adaptive_") for heads in ("own", "two", "one")]
PLANNED += [("shared_keys", v, 64, None, "enwik8") for v in SHARED]
LEFT = ("softmax", "softmax_one", "sigmoid", "top_p", "entmax15", "sinks", "sinks_entmax15")
PLANNED += [("attention_sinks", v, 64, None, "enwik8") for v in LEFT]
PLANNED += [("attention_sinks", v, 64, 8, "enwik8") for v in ("top_k", "top_k_one", "sinks_top_k")]
PLANNED += [
    ("uninformative_words", v, 64, k, "noisy_topics")
    for v, k in (("softmax", None), ("top_k", 8), ("entmax15", None))
]
PLANNED += [("uninformative_words", "sparsemax", 64, None, "noisy_topics")]
PLANNED += [
    ("top_k", v, 64, k, "enwik8")
    for v, k in (("xl", None), ("xl_top_k", 8), ("adaptive", None), TOP_K)
]
PLANNED += [
    ("span_by_k", v, S, k, "text8") for S in (32, 64) for v, k in (("adaptive", None), TOP_K)
]
COMPARED = ("fixed", "adaptive", "sparsemax", "transformer_xl")
PLANNED += [("quality_vs_cost", v, 64, None, "text8") for v in COMPARED]


def everything(make=run, costs: Iterable[str] = COSTS) -> pd.DataFrame:
    """Make a frame in which every question has every variant, two seeds each. costs: the kinds
    whose columns it has.
    """
    return _frame(make, tuple(costs)).copy()


@cache
def _frame(make, costs: tuple[str, ...]) -> pd.DataFrame:
    return as_frame(*split_costs(every_run(make), costs))


def every_run(make=run) -> list[dict]:
    """Make the rows of `everything`, each with all its costs. make: run | failed | unscored."""
    rows = [
        make(question=a, variant=v, S=S, k=k, paper_corpus=c, seed=seed)
        for a, v, S, k, c in PLANNED
        for seed in (1, 2)
    ]
    rows = [
        row | LONGEST if (row["question"], row["S"]) == ("span_limit", 64) else row for row in rows
    ]
    return [row | {"paper": load_question(row["question"]).paper} for row in rows] + _sequences(
        make
    )


MAKERS = {"translation": translated, "captioning": described, "parsing": parsed}


def _sequences(make) -> list[dict]:
    """Make a row per variant, corpus and k of the questions of tasks with a source and a target,
    two seeds each.
    """
    rows = []
    for name, question in ((name, load_question(name)) for name in known_questions()):
        if question.task not in MAKERS:
            continue
        for corpus, (variant, given), seed in product(
            question.corpora, question.variants.items(), (1, 2)
        ):
            for k in (1, 2) if given.k == "all" else (4 if given.selection else None,):
                row = MAKERS[question.task](name, variant, seed, k, corpus, paper=question.paper)
                scores = [key for key in row if key.startswith(("train_ppl", "dev_", "test_"))]
                lost = dict.fromkeys(scores) | BROKEN
                rows.append(row | {run: {}, unscored: lost | UNSCORED}.get(make, lost))
    return rows


def all_frames(make=run, costs: Iterable[str] = COSTS) -> Frames:
    return Frames(everything(make, costs), layers(), optimal_predictor(), topic_borders())


def optimal_predictor() -> pd.DataFrame:
    """Make the bpc of the optimal predictor that sees its word alone, 32 or 64 characters, or
    all of the past.
    """
    bpc = {(0, None): 3.2, (32, None): 2.205, (64, None): 2.2, (None, None): 2.0, (None, 4): 2.3}
    rows = [
        {"corpus": "words", "window": window, "words": words, "bpc": each, "characters": 1000}
        for (window, words), each in bpc.items()
    ]
    return pd.DataFrame(rows, columns=list(OPTIMAL_PREDICTOR)).astype(
        {"window": float, "words": float}
    )


def topic_borders() -> pd.DataFrame:
    """Dynamic spans around the borders of a topic, and within words, of the runs that `every_run`
    makes.
    """
    digests = [
        row["digest"]
        for row in every_run()
        if (row["question"], row["variant"]) == ("known_entropy", "dynamic")
    ]
    places = [{"place": place, "span": 60.0 - 20 * place} for place in range(3)]
    borders = [
        {"duration": 400, "low": low, "high": low + 100, "borders": 7, "span": 50.0}
        for low in (-100, 0)
    ]
    rows = [
        {"digest": digest, "corpus": "topics"} | row
        for digest in digests
        for row in places + borders
    ]
    return pd.DataFrame(rows, columns=list(TOPIC_BORDERS))


def as_rows(frame: pd.DataFrame) -> list[dict]:
    """Write rows as a file holds them: what is missing is null."""
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def of_texts() -> dict[str, list[dict]]:
    return {
        "optimal_predictor": as_rows(optimal_predictor()),
        "topic_borders": as_rows(topic_borders()),
    }


def write_inputs(folder: Path, rows: list[dict] | None = None) -> list[Path]:
    """Write the files that a table or figure is made from: runs, each kind of cost, and what
    belongs to no run.
    """
    runs, costs = split_costs(every_run() if rows is None else rows)
    kinds = {"runs": runs, **costs, "layers": as_rows(layers()), **of_texts()}
    folder.mkdir(parents=True, exist_ok=True)
    for kind, content in kinds.items():
        (folder / f"{kind}.json").write_text(write_rows(kind, content))
    return [folder / f"{kind}.json" for kind in kinds]
