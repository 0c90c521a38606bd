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

POINT = {"train_bpc": 3.0, "max_span": 60.0, "tokens_per_s": 1.0}
CURVE = [
    {"step": 5, "dev_bpc": 2.5, "mean_span": 37.0, **POINT},
    {"step": 10, "dev_bpc": 2.0, "mean_span": 42.0, **POINT},
]
NET = {
    "net": "char_lm",
    "layers": 2,
    "d_model": 16,
    "heads": 2,
    "d_ff": 32,
    "dropout": 0.1,
    "smoothing": 0.1,
    "apply_to": [],
    "selection": "all",
    "normaliser": "softmax",
    "position": "relative",
    "score_scale": "none",
}
TRAINED = {
    "scale": "test",
    "status": "ok",
    "missing": {},
    "over_condition": [],
    "size": 1.0,
    "gate": False,
    "factors": {},
    "lr": 0.003,
    "device": "a device",
    "steps": 10,
    "source": "abc",
    "commit": "0123abc",
    "bits": "portable",
    "signature": "cafe0123cafe",
    "parameters": 1000,
    "seconds": 3.0,
    "tokens_per_s": 1e4,
    "peak_memory_bytes": 1 << 28,
}
WEIGHTS = [[[0.9, 0.1], [0.5, 0.5]], [[0.2, 0.8], [0.6, 0.4]]]
CHARACTERS = {
    "train_bpc": 2.5,
    "test_bpc": 2.2,
    "mean_span": 40.0,
    "max_span": 50.0,
    "spans": [[32.0, 40.0], [40.0, 48.0]],
    "attention_by_distance": {"distance": [1.0, 2.0], "keys": [1, 1], "weight": WEIGHTS},
    "fragment": {"text": ["a", "<eos>", "b"], "span": [1.0, 2.0, 3.0]},
    "curve": CURVE,
    "late_gain": 0.0,
    "macs_paper": 5e4,
    "macs_dense": 9e4,
    "macs_executed": 6e4,
}
UNKNOWN = (
    *names("metric", "fact", "run"),
    *("colour", "tuning", "follows", "reason", "key_heads", "d_k", "d_v", "sentences"),
)


def variant_of(question: str, variant: str) -> Variant:
    """Return the question's variant, if there is one of this name."""
    variants = load_question(question).variants if question in known_questions() else {}
    return variants.get(variant, Variant())


def label_of(question: str, variant: str) -> str:
    return variant_of(question, variant).label or variant


def run(question="span_limit", variant="fixed", seed=1, S=64, k=None, **changes) -> dict:
    """Make one row of the runs table, with every cost; numbers chosen, not measured."""
    place = f"{question}-{variant}-{S}-{k}"
    about = {
        "question": question,
        "task": "char_lm",
        "paper": "adaptive_span",
        "variant": variant,
        "label": label_of(question, variant),
        "baseline": variant_of(question, variant).baseline,
        "paper_corpus": "text8",
        "corpus": "words",
        "S": S,
        "k": k,
        "seed": seed,
        "digest": f"{place}-{seed}",
        "configuration": place,
        "span": variant,
        "dev_bpc": 2.0 + seed / 10,
    }
    missing = dict.fromkeys(UNKNOWN)
    return missing | about | TRAINED | NET | CHARACTERS | MEASURED | changes


OF_CHARACTERS = ("train_bpc", "dev_bpc", "test_bpc", "mean_span", "max_span")
SCORES = {
    "train_ppl": 9.0,
    "dev_ppl": 12.0,
    "test_ppl": 11.0,
    "test_chrf": 40.0,
    "dev_chrf": 41.0,
}
TRANSLATION = {
    "task": "translation",
    "net": "seq2seq",
    "span": "full",
    "position": "none",
    "corpus": "phrases-deen",
    "d_k": 8,
    "d_v": 8,
    "apply_to": ["encoder", "decoder", "cross"],
    "signatures": {"bleu": "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"},
}
EVEN = [[[0.5, 0.5], [0.5, 0.5]]] * 2
DIAGONAL = [[[1.0, 0.0], [0.0, 1.0]]] * 2
MAPS = {kind: {"1": EVEN, "3": DIAGONAL} for kind in ("encoder", "decoder", "cross")}
MAPS |= {"source": ["▁zwei", "<eos>"], "target": ["<bos>", "▁two"]}
BROKEN = {
    "status": "diverged",
    "reason": "mean loss nan",
    "test_bleu_tokenised": None,
    "maps": None,
    "counts": None,
    "looks": None,
}


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
    of_characters = ("spans", "macs_paper", "attention_by_distance", "fragment")
    row |= dict.fromkeys((*OF_CHARACTERS, *of_characters))
    row |= TRANSLATION | SCORES
    bleu = {"dev_bleu": 20.0, "test_bleu": 21.0}
    bleu |= {"dev_bleu_tokenised": 22.0, "test_bleu_tokenised": 23.0}
    row |= {name: score + seed for name, score in bleu.items()}
    for key in ("digest", "configuration"):
        row[key] += f"-{paper_corpus}"
    row["counts"] = [[2, 1, 0, 0, 2, 1, 0, 0, 2, 2]]
    row["counts"].append([len(variant) % 3, 0, 0, 0, 2, 1, 0, 0, 2, 3])
    row["maps"] = MAPS
    points = {"train_ppl": 30.0, "dev_ppl": 25.0}
    points |= dict.fromkeys(("train_bpc", "dev_bpc", "mean_span", "max_span"))
    row["curve"] = [point | points for point in CURVE]
    if "top_k" in variant:
        row["selection"] = "top_k"
        row["dev_bleu_tokenised_every_key"] = 21.0 + seed
        row["test_bleu_tokenised_every_key"] = 22.5 + seed
    if question == "distractors":
        row |= {f"test_bleu_planted_{n}": row["test_bleu"] - n / 4 for n in (4, 8, 12)}
        row["test_bleu_slope"] = -0.25
        shares = dict.fromkeys(("encoder", "cross"), [[0.1, 0.2]] * 3)
        row["astray"] = {"planted": [4, 8, 12], **shares}
    return row | changes


TREES = {
    "test_recall": 70.0,
    "test_precision": 80.0,
    "test_complete": 30.0,
    "test_tagging": 90.0,
    "test_errors": 0.0,
    "test_repaired": 5.0,
}


def other_task(task: str, question: str, variant: str, seed: int, k, asked: str, **about) -> dict:
    """Make the row of a task without BLEU and chrF. asked: the corpus of the paper."""
    row = translated(question, variant, seed, k, asked, task=task, maps=None, **about)
    translations = [name for name in row if "bleu" in name or "chrf" in name]
    return row | dict.fromkeys(translations)


def parsed(
    question="parsing", variant="softmax", seed=1, k=None, paper_corpus="ptb", **changes
) -> dict:
    """Make the row of a parser: 3 of 4 right brackets among the 4 written, with top-k one fewer."""
    about = {"paper": "aiayn", "corpus": "statements"}
    row = other_task("parsing", question, variant, seed, k, paper_corpus, **about)
    matched = 0 if variant == "top_k" else 1
    counts = [[2, 2, 2, 3, 3, 1, 1], [matched, 2, 2, 3, 2, 0, 1]]
    scores = {"test_f1": 75.0 + seed, "dev_f1": 74.0}
    return row | TREES | scores | {"counts": counts} | changes


LOOK = {
    "name": "scene 9",
    "pieces": ["▁a", "▁red", "▁ring"],
    "weights": [[0.7, 0.1, 0.1, 0.1], [1.0, 0, 0, 0], [0.25] * 4],
    "pixels": {"side": 2, "rgb": "/wAAAP8AAAD/////"},  # red, green, blue, white
}


def described(
    question="captioning", variant="softmax", seed=1, k=None, paper_corpus="coco", **changes
) -> dict:
    """Make one row of the runs table for a captioner."""
    row = other_task("captioning", question, variant, seed, k, paper_corpus, corpus="scenes")
    row |= {f"test_bleu_{n}": 60.0 - 10 * n + seed for n in range(1, 5)}
    row |= {"test_rouge_l": 50.0, "dev_cider": 90.0, "test_meteor_nltk": 40.0}
    row["test_cider"] = 100.0 + seed + (5 if variant == "top_k" else 0)
    row |= {"counts": [[90.0, 1.0], [112.0 + seed, 1.0]], "looks": [LOOK]}
    return row | changes


# token accuracy at multiples of the training length: below 90 % from 2 to 4 times on
CONTROLLED = ("test_accuracy", "test_hard_accuracy", "test_sharper_accuracy")
ACCURACIES = {1.0: 99.5, 1.5: 98.0, 2.0: 95.0, 4.0: 75.0}


def recalled(
    question="where_sparse_helps", variant="softmax", seed=1, k=None, paper_corpus="sort", **changes
) -> dict:
    """Make the row of a model of sequences of symbols, which reaches 1.25 doublings and more."""
    about = {"paper": "long_context", "corpus": paper_corpus, "position": "nape"}
    about["scale"] = "overnight"  # at which predictions are decided
    row = other_task("symbols", question, variant, seed, k, paper_corpus, **about)
    if variant.startswith("top"):
        row["selection"] = "top_k"
    row |= {"net": "decoder", "test_accuracy": 99.5, "test_reach": 1.25 + seed / 10}
    row |= {"censored": None, "over_condition": []}
    for multiple, accuracy in ACCURACIES.items():
        scores = dict.fromkeys(CONTROLLED, accuracy)
        row["over_condition"].append({"at": multiple, "count": 10, "metrics": scores})
    return row | changes


def failed(**changes) -> dict:
    """Make the row of a run that diverged."""
    row = run(**changes)
    macs = ("macs_paper", "macs_dense", "macs_executed")
    row |= dict.fromkeys((*OF_CHARACTERS, *macs, "spans", "fragment", "attention_by_distance"))
    return row | {"status": "diverged", "reason": "mean loss nan", "curve": CURVE}


MISSING = dict.fromkeys((*names("metric", "fact"), "macs_executed"), "ValueError: no tree")
UNSCORED = {
    "status": "ok",
    "reason": f"{', '.join(MISSING)}: ValueError: no tree",
    "missing": MISSING,
}


def unscored(**changes) -> dict:
    """Make the row of a run whose model was trained and has no score."""
    return failed(**changes) | UNSCORED


# Questions about characters: variants, spans and corpora. Selections have k = 8.
PLANNED = [
    ("adaptive_vs_xl", "as_small as_large txl_12 txl_24", [64], "text8 enwik8"),
    ("dynamic_span", "adaptive dynamic fixed", [64], "text8"),
    ("span_limit", "fixed adaptive", [32, 64], "text8"),
    ("head_spans", "adaptive", [64], "text8"),
    ("collapsed_spans", "smooth_adam table_adam", [64], "enwik8"),
    ("known_entropy", "fixed adaptive dynamic", [32, 64], "topics"),
    (
        "spans_and_positions",
        "fixed adaptive fixed_rotary adaptive_rotary fixed_alibi adaptive_alibi",
        [64],
        "text8 enwik8",
    ),
    ("shared_keys", "own two one adaptive_own adaptive_two adaptive_one", [64], "enwik8"),
    (
        "attention_sinks",
        "softmax softmax_one sigmoid top_p entmax15 sinks sinks_entmax15"
        " top_k top_k_one sinks_top_k",
        [64],
        "enwik8",
    ),
    ("uninformative_words", "softmax top_k entmax15 sparsemax", [64], "noisy_topics"),
    ("top_k", "xl xl_top_k adaptive adaptive_top_k", [64], "enwik8"),
    ("span_by_k", "adaptive adaptive_top_k", [32], "text8"),
    ("span_by_k", "adaptive adaptive_top_k", [64], "text8"),
    ("quality_vs_cost", "fixed adaptive sparsemax transformer_xl", [64], "text8"),
]
SEEDS = (1, 2)
MAKERS = {
    "translation": translated,
    "captioning": described,
    "parsing": parsed,
    "symbols": recalled,
}


def everything(make=run, costs: Iterable[str] = COSTS) -> pd.DataFrame:
    """Make a frame in which every question has every variant, with the columns of these costs."""
    return _frame(make, tuple(costs)).copy()


@cache
def _frame(make, costs: tuple[str, ...]) -> pd.DataFrame:
    return as_frame(*split_costs(every_run(make), costs))


def every_run(make=run) -> list[dict]:
    """Make the rows of `everything`, two seeds each. make: run | failed | unscored."""
    rows = []
    for question, variants, spans, corpora in PLANNED:
        paper = load_question(question).paper
        for variant, S, corpus, seed in product(variants.split(), spans, corpora.split(), SEEDS):
            k = 8 if "top_k" in variant else None
            row = make(question=question, variant=variant, S=S, k=k, seed=seed, paper_corpus=corpus)
            if question == "span_limit" and S == 64:
                row |= LONGEST
            rows.append(row | {"paper": paper})
    for question in known_questions():
        if load_question(question).task in MAKERS:
            rows += _sequences(question, make)
    return rows


def _sequences(name: str, make) -> list[dict]:
    """Make the rows of a question of a task with a source and a target."""
    rows = []
    question = load_question(name)
    corpora = question.corpora[:1] if question.task == "symbols" else question.corpora
    for corpus, variant, seed in product(corpora, question.variants, SEEDS):
        given = question.variants[variant]
        selected = 4 if given.selection else None
        for k in (1, 2) if given.k == "all" else (selected,):
            row = MAKERS[question.task](name, variant, seed, k, corpus, paper=question.paper)
            if make is not run:
                scores = [key for key in row if key.startswith(("train_ppl", "dev_", "test_"))]
                row |= dict.fromkeys(scores) | BROKEN | {"over_condition": []}
            if make is unscored:
                row |= UNSCORED
            rows.append(row)
    return rows


def all_frames(make=run, costs: Iterable[str] = COSTS) -> Frames:
    return Frames(everything(make, costs), layers(), optimal_predictor(), topic_borders())


def optimal_predictor() -> pd.DataFrame:
    """Make the bpc of the optimal predictor within windows of characters, or of words."""
    rows = [(0, None, 3.2), (32, None, 2.205), (64, None, 2.2), (None, None, 2.0), (None, 4, 2.3)]
    frame = pd.DataFrame(rows, columns=["window", "words", "bpc"])
    frame = frame.astype({"window": float, "words": float})
    return frame.assign(corpus="words", characters=1000)[[*OPTIMAL_PREDICTOR]]


def topic_borders() -> pd.DataFrame:
    """Make dynamic spans around the borders of a topic, and within words, of `every_run`."""
    measured = [{"place": place, "span": 60.0 - 20 * place} for place in range(3)]
    for low in (-100, 0):
        border = {"duration": 400, "low": low, "high": low + 100, "borders": 7, "span": 50.0}
        measured.append(border)
    rows = []
    for row in every_run():
        if (row["question"], row["variant"]) == ("known_entropy", "dynamic"):
            about = {"digest": row["digest"], "corpus": "topics"}
            rows += [about | each for each in measured]
    return pd.DataFrame(rows, columns=list(TOPIC_BORDERS))


def as_rows(frame: pd.DataFrame) -> list[dict]:
    """Write rows as a file holds them: what is missing is null."""
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def of_texts() -> dict[str, list[dict]]:
    """Make the rows of each kind that belongs to a corpus."""
    return {
        "optimal_predictor": as_rows(optimal_predictor()),
        "topic_borders": as_rows(topic_borders()),
    }


def write_inputs(folder: Path, rows: list[dict] | None = None) -> list[Path]:
    """Write the files that a table or figure is made from: runs, costs and what has no run."""
    runs, costs = split_costs(every_run() if rows is None else rows)
    kinds = {"runs": runs, **costs, "layers": as_rows(layers()), **of_texts()}
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for kind, content in kinds.items():
        paths.append(folder / f"{kind}.json")
        paths[-1].write_text(write_rows(kind, content))
    return paths
