"""Attention Is All You Need, Table 2: BLEU and training cost."""

import pandas as pd

from studies.aiayn.formulas import train_cost
from workflow.claims.published import find, load
from workflow.report.tables.cells import Cell, analytic, cited, make_table, measured, pick
from workflow.results.statistics import POSITIVE

READS = ("runs",)
TITLE = "BLEU and training cost (Attention Is All You Need, Table 2)"
CAPTION = (
    "Base and big, trained at this scale on the dataset named with the table. Comparable: whether "
    "big outperforms base, and at what cost ratio. Not comparable: BLEU (docs/fidelity.md). The "
    "paper's cost is time × 8 GPUs × 9.5 TFLOP/s, its estimate of what a P100 sustains. Ours is "
    "time (including scoring) × the measured throughput of the training steps: 6 × MACs per target "
    "subword × target subwords per second. By 6 × parameters × 25,000 subwords per step, the "
    "paper's models would need 29 % and 42 % of the published cost."
)
# a row with every column comes first, so that the columns keep the paper's order
CITED = ["gnmt", "convs2s", "moe", "bytenet", "deepatt", "gnmt_ens", "convs2s_ens", "deepatt_ens"]
PRINTED = [
    ("BLEU EN-DE", "bleu_ende", "BLEU"),
    ("BLEU EN-FR", "bleu_enfr", "BLEU"),
    ("training cost EN-DE", "training_cost_ende", "FLOPs"),
    ("training cost EN-FR", "training_cost_enfr", "FLOPs"),
]
DIRECTIONS = {"EN-DE": "wmt14-ende", "EN-FR": "wmt14-enfr"}
PER_MAC = 6  # a multiplication and an addition, once in the forward and twice in the backward pass


def build(runs: pd.DataFrame) -> pd.DataFrame:
    runs = add_spent(pick(runs, question="transformer"))
    cells = []
    for key in CITED:
        for column, end, unit in PRINTED:
            name = f"ai.t2.{key}.{end}"
            if name in load():
                cells.append(cited(find(name).row, column, name, unit))
    for variant in ("base", "big"):
        variant_runs = pick(runs, variant=variant)
        label = find(f"ai.t2.{variant}.cost").row
        for pair, paper_corpus in DIRECTIONS.items():
            seeds = pick(variant_runs, paper_corpus=paper_corpus)
            direction = paper_corpus.partition("-")[2]
            cells += _trained(label, pair, seeds, f"ai.t2.{variant}.bleu_{direction}")
        cells.append(_at_paper_size(label, f"ai.t2.{variant}.cost"))
    return make_table(cells)


def add_spent(runs: pd.DataFrame) -> pd.DataFrame:
    """Add `sustained`, the FLOP/s of training steps, and `spent`, a run's time at that rate."""
    sustained = PER_MAC * runs["macs_executed"] * runs["tokens_per_s"]
    spent = train_cost(runs["seconds"], 1, sustained)
    return runs.assign(sustained=sustained, spent=spent)


def _trained(label: str, pair: str, runs: pd.DataFrame, published: str) -> list[Cell]:
    return [
        measured(label, f"BLEU {pair}", runs, "test_bleu_tokenised", published),
        measured(label, f"training cost {pair}", runs, "spent", unit="FLOPs", bounds=POSITIVE),
        measured(label, f"training time {pair}", runs, "seconds"),
        measured(label, f"sustained {pair}", runs, "sustained", unit="FLOP/s", bounds=POSITIVE),
    ]


def _at_paper_size(label: str, key: str) -> Cell:
    recomputed = find(key).recomputed
    seconds = recomputed.inputs["seconds"]
    gpus = recomputed.inputs["gpus"]
    note = f"{seconds:,.0f} s × {gpus:.0f} P100 × 9.5 TFLOP/s"
    return analytic(label, "training cost, paper's formula", recomputed.result, "FLOPs", key, note)
