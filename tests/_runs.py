"""Runs as tables and figures see them, small enough to work out by hand."""

from workflow.frame import MEASURES, frame

EMPTY = {column: None for columns in MEASURES.values() for column in columns}
EMPTY |= {f"{kind}_{what}": None for kind in MEASURES for what in ("status", "reason")}

CURVE = [
    {"step": 5, "train_bpc": 3.0, "dev_bpc": 2.5, "mean_span": 37.0, "max_span": 60.0, "tokens_per_s": 1.0},
    {"step": 10, "train_bpc": 3.0, "dev_bpc": 2.0, "mean_span": 42.0, "max_span": 60.0, "tokens_per_s": 1.0},
]


def run(ablation="span_limit", variant="fixed", seed=1, S=64, k=None, **changes) -> dict:
    """One row of the frame; numbers chosen, not measured."""
    row = {
        "ablation": ablation,
        "paper": "adaptive_span",
        "variant": variant,
        "corpus": "text8",
        "text": "words",
        "S": S,
        "k": k,
        "seed": seed,
        "digest": f"{ablation}-{variant}-{S}-{k}-{seed}",
        "cell": f"{ablation}-{variant}-{S}-{k}",
        "rung": "test",
        "status": "ok",
        "reason": None,
        "device": "a device",
        "steps": 10,
        **{"net": "char_lm", "source": "abc"},
        **{"span": variant, "selection": "all", "normaliser": "softmax", "position": "relative"},
        **{"layers": 2, "width": 16, "heads": 2, "inner": 32},
        **{"train_bpc": 2.5, "dev_bpc": 2.0 + seed / 10, "test_bpc": 2.2, "mean_span": 40.0, "max_span": 50.0},
        "spans": [[32.0, 40.0], [40.0, 48.0]],
        "alpha": None,
        "attention_by_distance": {
            "distance": [1.0, 2.0],
            "keys": [1, 1],
            "weight": [[[0.9, 0.1], [0.5, 0.5]], [[0.2, 0.8], [0.6, 0.4]]],
        },
        "fragment": {"text": ["a", "<eos>", "b"], "span": [1.0, 2.0, 3.0]},
        **{"parameters": 1000, "macs_paper": 5e4, "macs_dense": 9e4, "macs_executed": 6e4},
        **{"seconds": 3.0, "tokens_per_s": 1e4, "peak_memory_bytes": 1 << 28},
        "curve": CURVE,
        **EMPTY,
        **{"train_tokens_per_s": 1000.0, "predict_tokens_per_s": 10.0, "memory_train_bytes": 1 << 20},
    }
    return row | changes


def failed(**changes) -> dict:
    nothing = ("train_bpc", "dev_bpc", "test_bpc", "mean_span", "max_span", "macs_paper", "macs_dense", "macs_executed")
    row = run(**changes) | dict.fromkeys(nothing)
    return row | {
        "status": "diverged",
        "reason": "mean loss nan",
        "spans": None,
        "fragment": None,
        "attention_by_distance": None,
        "curve": CURVE,
    }


def everything(make=run):
    """A frame in which every ablation has every variant, two seeds each."""
    asked = [
        *(
            ("models", v, 64, None, c)
            for v in ("as_small", "as_large", "txl_12", "txl_24")
            for c in ("text8", "enwik8")
        ),
        *(("dynamic_span", v, 64, None, "text8") for v in ("adaptive", "dynamic", "fixed")),
        *(("span_limit", v, S, None, "text8") for v in ("fixed", "adaptive") for S in (32, 64)),
        *(
            ("top_k", v, 64, k, "enwik8")
            for v, k in (("xl", None), ("xl_top_k", 8), ("adaptive", None), ("adaptive_top_k", 8))
        ),
        *(("span_by_k", v, S, k, "text8") for S in (32, 64) for v, k in (("adaptive", None), ("adaptive_top_k", 8))),
        *(("normalisers", v, 64, None, "text8") for v in ("fixed", "adaptive", "sparsemax", "transformer_xl")),
    ]
    rows = [make(ablation=a, variant=v, S=S, k=k, corpus=c, seed=seed) for a, v, S, k, c in asked for seed in (1, 2)]
    return frame(rows)
