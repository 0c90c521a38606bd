"""Explicit Sparse Transformer, Table 1: translation in three directions, top-k beside softmax."""

import pandas as pd

from workflow.papers.published import load, value
from workflow.report.tables._cells import analytic, cited, measured, pick, setting, table
from workflow.report.tables._paired import CHANCE, SOFTMAX, chance, gain

READS = ("runs",)
TITLE = "Translation in three directions (Explicit Sparse Transformer, Table 1)"
CAPTION = (
    "Columns En-De, De-En and En-Vi are test BLEU of tokens, as the paper computed it on these corpora "
    "(docs/fidelity.md); sacreBLEU and chrF of the same outputs stand without a published value. Our two rows are "
    "trained at the scale named below on the texts that stand in for the corpora there. Comparable: the gain of top-k "
    "over softmax, mean over seeds, a run beside the run with the same seed, with the difference of what the paper "
    "prints. Not comparable: BLEU itself, and best of three seeds (the paper on En-Vi and De-En) with our mean. "
    f"{CHANCE}"
)
DIRECTIONS = [("En-De", "wmt14-ende", "ende"), ("De-En", "iwslt14-deen", "deen"), ("En-Vi", "iwslt15-envi", "envi")]
TRAINED = [("Transformer (softmax)", SOFTMAX, "impl"), ("Explicit Sparse Transformer (top-k)", "top_k", "est")]
BLEU = "test_bleu_tokenised"


def build(runs: pd.DataFrame) -> pd.DataFrame:
    mine = pick(runs, ablation="translation")
    others = [one for one in load().values() if one.id.startswith("est.t1.") and one.kind == "cited"]
    cells = [cited(one.row, one.column, one.id, "BLEU") for one in others]
    for label, variant, key in TRAINED:
        at = pick(mine, variant=variant)
        if variant != SOFTMAX:
            cells.append(setting(label, "k", at, "k", "keys", "est.txt.k_small"))
        for direction, paper_corpus, place in DIRECTIONS:
            here, base = pick(at, paper_corpus=paper_corpus), pick(mine, paper_corpus=paper_corpus, variant=SOFTMAX)
            cells.append(measured(label, direction, here, BLEU, "BLEU", f"est.t1.{key}.{place}"))
            if variant != SOFTMAX:
                theirs = round(value(f"est.t1.{key}.{place}") - value(f"est.t1.impl.{place}"), 1)
                cells.append(gain(label, f"{direction}, gain", here, base, (BLEU, BLEU)))
                cells.append(analytic(label, f"{direction}, gain, paper", theirs, "BLEU"))
                cells.append(chance(label, f"{direction}, p (paired bootstrap)", here, base))
            cells.append(measured(label, f"{direction}, sacreBLEU", here, "test_bleu", "BLEU"))
            cells.append(measured(label, f"{direction}, chrF", here, "test_chrf", "chrF"))
    return table(cells)
