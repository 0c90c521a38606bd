"""What every number of the suite is, said once: its title, unit, direction, and where it comes from.

A metric or fact that a record holds, and a cost that was measured, must stand here: tables, pages and claims take their
titles and units from it, and a record with another name is refused.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from workflow.config.errors import check_known

STREAMS, SEQUENCES = ("char_lm",), ("translation", "captioning", "parsing")
TASKS = (*STREAMS, *SEQUENCES)
SPLITS = ("dev", "test")
COSTS = ("flops", "memory", "longest_span", "throughput")  # what is measured of a configuration after its training
OF_TEXTS = ("best_reader", "topic_borders")  # what is measured of a text of topics
Source = Literal["metric", "fact", "curve", "run", "flops", "memory", "longest_span", "throughput"]


@dataclass(frozen=True)
class Quantity:
    """source: a metric or fact of the record, what its curve says, what the run itself cost, or what measures it.

    tasks: those that have it. better: which direction is better, None where none is. number: False for lists, texts
    and whatever else a table cannot average. claimable: whether a claim may be about it. meaning: in the data
    dictionary of all runs, where the title, which stands over columns, does not say it.
    """

    name: str
    title: str
    unit: str
    source: Source
    tasks: tuple[str, ...] = TASKS
    better: Literal["lower", "higher"] | None = None
    number: bool = True
    claimable: bool = False
    meaning: str = ""


def _scores(tasks: tuple[str, ...], better: str, scores: dict[str, tuple[str, str]], claimed=()) -> list[Quantity]:
    """One quantity for each score and split."""
    return [
        Quantity(f"{split}_{name}", f"{split} {title}", unit, "metric", tasks, better, claimable=name in claimed)
        for name, (title, unit) in scores.items()
        for split in SPLITS
    ]


SPREAD = "half its 95 % interval over turns as a share of it"
QUIET = "the reference step on the quiet machine, ms; timings with another value are of another machine"
PER = "multiply-adds for one predicted character or piece"


def _timed(kind: str, speed: str, step: str) -> list[Quantity]:
    """What is kept of a step that was timed in turns."""
    what = step.removesuffix(", ms")
    return [
        Quantity(f"{kind}_tokens_per_s", speed, "tokens / s", "throughput", better="higher", claimable=True),
        Quantity(f"{kind}_ms", step, "", "throughput", better="lower", meaning=f"{what}, mean over its turns"),
        Quantity(f"{kind}_spread", f"{what}, {SPREAD}", "", "throughput"),
        Quantity(f"{kind}_turns", "its turns", "ms", "throughput", number=False),
        Quantity(f"{kind}_references", "the reference step beside them", "ms", "throughput", number=False),
    ]


BLEU = {"bleu": ("BLEU", "BLEU"), "bleu_tokenised": ("BLEU of tokens", "BLEU"), "chrf": ("chrF", "chrF")}
SECOND_TEST = [
    Quantity(f"second_test_{name}", f"second test {title}", unit, "metric", ("translation",), "higher")
    for name, (title, unit) in BLEU.items()
]
EVERY_KEY = {f"{name}_every_key": (f"{title}, every key", unit) for name, (title, unit) in BLEU.items()}
CAPTIONS = {f"bleu_{n}": (f"BLEU-{n}", f"BLEU-{n}") for n in range(1, 5)}
CAPTIONS |= {"rouge_l": ("ROUGE-L", "ROUGE-L"), "cider": ("CIDEr", "CIDEr")}
CAPTIONS |= {"meteor": ("METEOR", "METEOR"), "meteor_nltk": ("METEOR (nltk)", "METEOR")}
TREES = {"recall": ("recall", "%"), "precision": ("precision", "%"), "f1": ("F1", "F1")}
TREES |= {"complete": ("complete match, %", "%"), "tagging": ("tagging", "%"), "errors": ("error sentences", "")}
TREES |= {"repaired": ("repaired", "%")}

_QUANTITIES = [
    Quantity("train_bpc", "train bpc", "bpc", "metric", STREAMS, "lower"),
    *_scores(STREAMS, "lower", {"bpc": ("bpc", "bpc")}, claimed=("bpc",)),
    Quantity("tokens_scored", "characters scored", "", "metric", STREAMS),
    Quantity("train_ppl", "train perplexity", "", "metric", SEQUENCES, "lower"),
    *_scores(SEQUENCES, "lower", {"ppl": ("perplexity", "")}, claimed=("ppl",)),
    *_scores(
        ("translation",), "higher", BLEU | EVERY_KEY, claimed=("bleu", "bleu_tokenised", "bleu_tokenised_every_key")
    ),
    *SECOND_TEST,
    *_scores(("captioning",), "higher", CAPTIONS, claimed=("bleu_4", "cider", "meteor")),
    *_scores(("parsing",), "higher", TREES, claimed=("f1",)),
    # facts
    Quantity("mean_span", "avg. span", "characters", "fact", ("char_lm", "parsing"), claimable=True),
    Quantity("max_span", "longest span", "characters", "fact", ("char_lm", "parsing"), claimable=True),
    Quantity("start_span", "avg. span before training", "characters", "fact", ("char_lm", "parsing")),
    Quantity("spans", "spans of the heads", "characters", "fact", number=False),
    Quantity("alpha", "alpha of the heads", "", "fact", number=False),
    Quantity("attention_by_distance", "weight by distance", "", "fact", STREAMS, number=False),
    Quantity("fragment", "span over a text", "characters", "fact", STREAMS, number=False),
    Quantity("counts", "counts by sentence", "", "fact", SEQUENCES, number=False),
    Quantity("second_test_counts", "counts by sentence of the second test", "", "fact", ("translation",), number=False),
    Quantity("maps", "attention maps", "", "fact", ("translation",), number=False),
    Quantity("looks", "attention to pictures", "", "fact", ("captioning",), number=False),
    Quantity("shown", "examples", "", "fact", SEQUENCES, number=False),
    Quantity("signatures", "signatures of the scores", "", "fact", ("translation",), number=False),
    Quantity("left_out", "training pairs left out", "", "fact", SEQUENCES, number=False),
    Quantity("late_gain", "dev bits that the last quarter of the updates brought", "bits", "curve"),
    # what the run itself cost
    Quantity("parameters", "#params", "parameters", "run", better="lower"),
    Quantity("seconds", "training time", "s", "run", better="lower"),
    Quantity("tokens_per_s", "speed of the run", "tokens / s", "run", better="higher"),
    Quantity("peak_memory_bytes", "peak memory of the run", "bytes", "run", better="lower"),
    Quantity(
        "macs_paper",
        "by the paper's formula",
        "multiply-adds",
        "run",
        STREAMS,
        "lower",
        claimable=True,
        meaning=f"{PER}, by the formula of Adaptive Attention Span",
    ),
    Quantity(
        "macs_dense",
        "dense",
        "multiply-adds",
        "run",
        better="lower",
        meaning=f"{PER}, in the dense graph of the definition",
    ),
    Quantity(
        "macs_executed",
        "executed",
        "multiply-adds",
        "run",
        better="lower",
        claimable=True,
        meaning=f"{PER}, as the engine computes them",
    ),
    # what is measured of a configuration
    Quantity(
        "macs_analytic",
        "multiply-adds / character or piece: from shapes",
        "",
        "flops",
        better="lower",
        meaning=f"{PER}, from the shapes of the net",
    ),
    Quantity("macs_torch", "counted by torch", "", "flops", better="lower", meaning=f"{PER}, counted by torch"),
    Quantity("macs_fvcore", "counted by fvcore", "", "flops", better="lower", meaning=f"{PER}, counted by fvcore"),
    Quantity("unsupported", "operators that fvcore does not count", "", "flops", number=False),
    Quantity("memory_train_bytes", "memory of a training step", "bytes", "memory", better="lower", claimable=True),
    Quantity("memory_evaluate_bytes", "memory of a block of evaluation", "bytes", "memory", better="lower"),
    Quantity("memory_reserved_bytes", "memory that the allocator reserves", "bytes", "memory", better="lower"),
    Quantity("longest_S", "longest S that fits", "characters", "longest_span", STREAMS, "higher", claimable=True),
    Quantity("longest_S_ended", "what ended the search for it", "", "longest_span", STREAMS, number=False),
    Quantity("memory_budget_bytes", "memory budget", "bytes", "longest_span", STREAMS),
    Quantity("reference_ms", "reference step, ms", "", "throughput", meaning=QUIET),
    Quantity("quiet", "whether the machine was quiet", "", "throughput", number=False),
    *_timed("train", "training speed", "a training step, ms"),
    *_timed("predict", "prediction speed", "a prediction, ms"),
    *_timed("library_train", "training speed with the entmax library", "a training step, entmax library, ms"),
    *_timed("library_predict", "prediction speed with the entmax library", "a prediction, entmax library, ms"),
]
REGISTRY = {quantity.name: quantity for quantity in _QUANTITIES}


def names(*sources: Source) -> list[str]:
    """Name the quantities that come from these sources, in their order."""
    return [quantity.name for quantity in _QUANTITIES if quantity.source in sources]


def numbers() -> list[str]:
    return [quantity.name for quantity in _QUANTITIES if quantity.number]


def check_registered(kind: Source, wanted: Iterable[str]) -> None:
    """`ConfigError` with the nearest name where a record's metric or fact is not registered here."""
    for name in wanted:
        check_known(f"{kind} (workflow/results/registry.py names them)", name, names(kind))
