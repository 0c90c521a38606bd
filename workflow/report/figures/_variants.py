"""What a variant is called and which colour it has: its question says so, or its attention.

A colour stands for one attention in every figure, whatever a question calls it; where several variants of a question
have the same, or one that has no colour, they take shades in the order of the question.
"""

from collections import Counter

import pandas as pd

from workflow.report.figures._colours import COLOURS, shades

PLAIN = ("full", "fixed")  # spans that are not named beside another choice
XL = "transformer_xl"  # a net that is an attention of its own


def as_named(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs of one ablation, the label of each variant in place of its name, with the `colour` of each as hex."""
    return runs.assign(variant=runs["label"], colour=runs["variant"].map(colours_of(runs)))


def colours_of(runs: pd.DataFrame) -> dict[str, str]:
    """By variant, in the order of the runs of one ablation."""
    firsts = runs.drop_duplicates("variant").to_dict("records")
    kinds = Counter(attention_of(run) for run in firsts)
    own = {run["variant"]: run["colour"] for run in firsts if isinstance(run["colour"], str)}
    known = {run["variant"]: _of_attention(attention_of(run), kinds) for run in firsts} | own
    rest = [variant for variant, colour in known.items() if colour is None]
    return known | dict(zip(rest, shades(len(rest)), strict=True))


def _of_attention(kind: str, kinds: Counter) -> str | None:
    return COLOURS.get(kind) if kinds[kind] == 1 else None


def attention_of(run: dict) -> str:
    """`adaptive`, `top_k` of a plain span, `adaptive_top_k`, `transformer_xl`: what tells attentions apart."""
    first = XL if run["net"] == XL else run["span"]
    others = [run[axis] for axis, plain in (("selection", "all"), ("normaliser", "softmax")) if run[axis] != plain]
    return "_".join(others if others and first in PLAIN else [first, *others])
