"""The choices of attention that a variant makes, in words; the one axis on which two differ."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from workflow.config.choices import AXES
from workflow.report.figures.colours import XL

# axes in addition to those of attention: docs/variant.md
SHARED_KEYS = "key_heads"
GATE = "gate"
MODEL = "model"
GROUPS = (*AXES, SHARED_KEYS, GATE, MODEL)  # the groups of the matrix, in order
# a choice without an entry is shown by its name
WORDS = {
    ("span", "full"): "full attention",
    ("span", "fixed"): "fixed span",
    ("span", "adaptive"): "adaptive span",
    ("span", "dynamic"): "dynamic span",
    ("span", "sinks"): "attention sinks",
    ("selection", "all"): "all keys",
    ("selection", "top_k"): "top-k",
    ("selection", "top_p"): "top-p",
    ("normaliser", "entmax15"): "entmax-1.5",
    ("normaliser", "entmax_alpha"): "entmax-α",
    ("normaliser", "softmax_one"): "off-by-one softmax",
    ("normaliser", "learned_sink"): "softmax with a learned sink",
    ("position", "none"): "absolute positions",
    ("position", "relative"): "learned relative positions",
    ("position", "transformer_xl"): "sinusoidal relative positions",
    ("position", "rotary"): "RoPE",
    ("position", "alibi"): "ALiBi",
    ("position", "nape"): "NAPE",
    ("position", "nope"): "NoPE",
    ("score_scale", "none"): "unscaled scores",
    ("score_scale", "ssmax"): "SSMax scale",
    ("score_scale", "asentmax"): "ASEntmax scale",
    ("score_scale", "adaptive_temperature"): "adaptive temperature",
    (MODEL, XL): "Transformer-XL",
}
# choices that the name of a variant leaves out
USUAL = {
    "span": ("full", "fixed"),
    "selection": ("all",),
    "normaliser": ("softmax",),
    "position": ("none", "transformer_xl"),
    "score_scale": ("none",),
}
OWN_KEYS = "separate keys for each head"
GATED = "output gate"
UNGATED = "no output gate"


@dataclass(frozen=True)
class Attention:
    """What a variant chooses on each axis.

    model: `transformer_xl`, or the network of the task.
    key_heads: KV heads, None where every head has its own keys.
    gate: whether its output passes through a gate.
    apply_to: the attentions of an encoder and decoder that take the choices.
    """

    model: str
    span: str
    selection: str
    normaliser: str
    position: str
    score_scale: str = "none"
    key_heads: int | None = None
    gate: bool = False
    apply_to: tuple[str, ...] = ()

    @classmethod
    def of(cls, run: Mapping) -> "Attention":
        """Read the choices of a row of the runs table."""
        heads = run["key_heads"]
        applied = run["apply_to"]
        return cls(
            model=run["net"],
            **{axis: run[axis] for axis in AXES},
            key_heads=None if pd.isna(heads) else int(heads),
            gate=bool(run["gate"]),
            apply_to=tuple(applied) if isinstance(applied, list | tuple) else (),
        )

    @property
    def is_xl(self) -> bool:
        """Whether it is that of a Transformer-XL, which reads a memory in place of a span."""
        return self.model == XL

    @property
    def is_usual(self) -> bool:
        """Whether only its span, selection and normaliser are chosen.

        It then has usual positions, unscaled scores, separate keys for each head, and no gate.
        """
        has_usual_position = self.position in USUAL["position"]
        has_more = self.key_heads or self.gate
        is_changed = has_more or self.span == "sinks" or self.score_scale != "none"
        return has_usual_position and not is_changed

    @property
    def name(self) -> str:
        """Name it by its choices: `adaptive span, top-k`; `softmax` where all are usual."""
        parts = [WORDS[MODEL, XL]] if self.is_xl else []
        for axis in AXES:
            choice = getattr(self, axis)
            if choice not in USUAL[axis]:
                parts.append(choice_name(axis, choice))
        if self.key_heads:
            parts.append(choice_name(SHARED_KEYS, self.key_heads))
        if self.gate:
            parts.append(GATED)
        if self.span == "fixed" and not any("span" in part for part in parts[:1]):
            parts.insert(0, WORDS["span", "fixed"])
        return ", ".join(parts) or "softmax"

    @property
    def short(self) -> str:
        """Name it for a mark in a small picture: `adaptive, top-k`, `XL, top-k`."""
        return self.name.replace(" span", "").replace("Transformer-", "").replace("attention ", "")

    def choice(self, axis: str) -> str:
        """Return its choice on an axis of `GROUPS`.

        On `model` that is a Transformer-XL, or the span of another model.
        """
        if axis == MODEL:
            return XL if self.is_xl else self.span
        if axis == GATE:
            return GATED if self.gate else UNGATED
        return str(getattr(self, axis) or OWN_KEYS)

    def differs_on(self, base: "Attention") -> str | None:
        """Return the one axis on which it differs from a baseline; None of several, and of none."""
        if self.apply_to != base.apply_to:
            return None
        differing = [
            axis for axis in (*AXES, SHARED_KEYS, GATE) if self.choice(axis) != base.choice(axis)
        ]
        if self.model != base.model:
            # a Transformer-XL has no span to choose
            return MODEL if self.is_xl and not set(differing) - {"span"} else None
        return differing[0] if len(differing) == 1 else None


def choice_name(axis: str, choice: str | int) -> str:
    """Write a choice in words: `adaptive span`, `2 KV heads`."""
    if axis == SHARED_KEYS and str(choice).isdigit():
        return f"{choice} KV head{'s' * (int(choice) > 1)}"
    if axis == MODEL and (axis, choice) not in WORDS:
        return choice_name("span", choice)
    return WORDS.get((axis, choice), str(choice).replace("_", "-"))
