"""Attention Is All You Need, Table 3: variations on the Transformer."""

import pandas as pd

from workflow.claims.published import find, value
from workflow.report.tables.cells import (
    PAPERS_SIZE,
    Cell,
    analytic,
    make_table,
    measured,
    pick,
    setting,
)
from workflow.report.tables.paired import gain

READS = ("runs",)
TITLE = "Variations on the Transformer (Attention Is All You Need, Table 3)"
CAPTION = (
    "A row names our change, with the paper's in parentheses. We change the same sizes by the same "
    "factors, starting from the base model of this scale. Rows (D) use the paper's dropout and "
    "label smoothing; if our base has no dropout, P_drop=0.0 is the base itself. Comparable: "
    "whether a change helps or hurts. Not comparable: perplexity (different subword vocabulary) "
    "and BLEU (different dataset). The paper averages no checkpoints here; we average as the scale "
    "specifies. Parameters at the paper's sizes are computed twice: with the 37,000 subwords that "
    "the paper states, and with 4,096 more (32,000 + 4,096 for big), which fits every row; we do "
    "not know why. Learned position embeddings are not counted."
)
VOCABULARY = 37_000  # subwords of the shared vocabulary, section 5.1
SIZES = [
    ("N", "layers", "N"),
    ("d_model", "d_model", "d"),
    ("d_ff", "d_ff", "ff"),
    ("h", "heads", "h"),
    ("d_k", "d_k", "dk"),
    ("d_v", "d_v", "dk"),
    ("P_drop", "dropout", "pdrop"),
    ("eps_ls", "smoothing", "ls"),
    ("train steps", "steps", "steps"),
]
ROWS = [
    "base",
    "a1",
    "a4",
    "a16",
    "a32",
    "b16",
    "b32",
    "cN2",
    "cN4",
    "cN8",
    "cd256",
    "cd1024",
    "cff1024",
    "cff4096",
]
ROWS += ["d0", "d2", "ls0", "ls2", "e", "big"]
EXPLAINED = ("base", "big")  # the rows whose fit a note explains; the others follow base
SETTINGS = {("base", end): f"ai.t3.set.{end}" for _, _, end in SIZES}
SETTINGS |= {("big", end): f"ai.t3.set.big_{end}" for end in ("steps", "pdrop")}
BLEU = "dev_bleu_tokenised"


def name_rows(runs: pd.DataFrame) -> dict[str, str]:
    """Name rows by our change, `(C) layers / 3 (paper: N=2)`, unless sizes are the paper's."""
    if (runs["scale"] == PAPERS_SIZE).all():
        return {}
    labels = dict(zip(runs["variant"], runs["label"], strict=True))
    names = {}
    for key in ROWS:
        printed = find(f"ai.t3.{key}.ppl").row
        group, _, sizes = printed.partition(" ")
        ours = labels.get(key, sizes)
        if not sizes:
            continue
        if ours == key:  # big, which our question does not label
            names[printed] = f"{key} (paper: {sizes})"
        elif ours != sizes:
            names[printed] = f"{group} {ours} (paper: {sizes})"
    return names


def build(runs: pd.DataFrame) -> pd.DataFrame:
    """Build the scores and parameters of every row, then its hyperparameters."""
    runs = pick(runs, question="transformer_variations")
    rows = [(key, find(f"ai.t3.{key}.ppl").row, pick(runs, variant=key)) for key in ROWS]
    scores = [cell for row in rows for cell in _scores(*row, pick(runs, variant="base"))]
    sizes = [
        setting(label, column, seeds, quantity, SETTINGS.get((key, end)))
        for key, label, seeds in rows
        for column, quantity, end in SIZES
    ]
    return make_table(scores + sizes)


def _scores(key: str, label: str, seeds: pd.DataFrame, base: pd.DataFrame) -> list[Cell]:
    stem = f"ai.t3.{key}"
    cells = []
    cells.append(
        measured(label, "PPL (dev)", seeds, "dev_ppl", f"{stem}.ppl", unit="perplexity per subword")
    )
    cells.append(measured(label, "BLEU (dev)", seeds, BLEU, f"{stem}.bleu"))
    cells.append(setting(label, "#params", seeds, "parameters"))
    cells += _at_paper_size(label, key)
    if key != "base":
        published = round(value(f"{stem}.bleu") - value("ai.t3.base.bleu"), 1)
        cells.append(gain(label, "BLEU, gain", seeds, base, (BLEU, BLEU)))
        cells.append(analytic(label, "BLEU, gain, paper", published, "BLEU"))
    return cells


def _at_paper_size(label: str, key: str) -> list[Cell]:
    """Return the parameters of the paper's model, with the stated and the fitted vocabulary."""
    name = f"ai.t3.{key}.params"
    fitted = find(name).recomputed
    named = fitted.model_copy(update={"inputs": {**fitted.inputs, "V": VOCABULARY}})
    note = (fitted.note or "") if key in EXPLAINED else ""
    return [
        analytic(label, "#params, paper size, V = 37,000", named.result, "parameters", name),
        analytic(label, "#params, paper size, V fitted", fitted.result, "parameters", name, note),
    ]
