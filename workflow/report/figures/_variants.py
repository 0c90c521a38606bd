"""What a variant is called and which colour it has: its question says so, or its attention.

A colour stands for one attention in every figure, whatever a question calls it. Several variants of a question that
have the same take tones of it, and those whose attention has no colour shades, in the order of the question.
"""

import pandas as pd

from workflow.report.figures._colours import COLOURS, shades, tones

PLAIN = ("full", "fixed")  # spans that are not named beside another choice
XL = "transformer_xl"  # a net that is an attention of its own


def as_named(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs of one ablation, the label of each variant in place of its name, with the `colour` of each as hex."""
    return runs.assign(variant=runs["label"], colour=runs["variant"].map(colours_of(runs)))


def colours_of(runs: pd.DataFrame) -> dict[str, str]:
    """By variant, in the order of the runs of one ablation."""
    firsts = runs.drop_duplicates("variant").to_dict("records")
    alike: dict[str, list[str]] = {}
    for run in firsts:
        alike.setdefault(attention_of(run), []).append(run["variant"])
    known = {run["variant"]: None for run in firsts}
    for kind, variants in alike.items():
        if kind in COLOURS:
            known |= zip(variants, tones(COLOURS[kind], len(variants)), strict=True)
    known |= {run["variant"]: run["colour"] for run in firsts if isinstance(run["colour"], str)}
    rest = [variant for variant, colour in known.items() if colour is None]
    return known | dict(zip(rest, shades(len(rest)), strict=True))


def attention_of(run: dict) -> str:
    """`adaptive`, `top_k` of a plain span, `adaptive_top_k`, `transformer_xl`: what tells attentions apart."""
    first = XL if run["net"] == XL else run["span"]
    others = [run[axis] for axis, plain in (("selection", "all"), ("normaliser", "softmax")) if run[axis] != plain]
    return "_".join(others if others and first in PLAIN else [first, *others])
