"""What every choice on an axis of attention has in common, so that the training loop treats all
alike.
"""

import math
from dataclasses import dataclass
from functools import cache
from typing import get_type_hints

from torch import Tensor, nn


@dataclass(frozen=True)
class Range:
    """Say in a setting's annotation which of its values are valid: `Annotated[int, Range(ge=1)]`.

    gt, ge, lt, le: above, at least, below, at most a number, or another setting of the choice by
    its name.
    """

    gt: float | str = -math.inf
    ge: float | str = -math.inf
    lt: float | str = math.inf
    le: float | str = math.inf

    def holds(self, value: float, settings: dict) -> bool:
        """Say whether a value is within it. settings: all of the choice, by name."""
        low, high = -math.inf, math.inf
        gt, ge = (
            settings.get(bound, low) if isinstance(bound, str) else bound
            for bound in (self.gt, self.ge)
        )
        lt, le = (
            settings.get(bound, high) if isinstance(bound, str) else bound
            for bound in (self.lt, self.le)
        )
        return gt < value < lt and ge <= value <= le

    def __str__(self) -> str:
        bounds = {"above": self.gt, "at least": self.ge, "below": self.lt, "at most": self.le}
        return " and ".join(
            f"{word} {bound}"
            for word, bound in bounds.items()
            if bound not in (math.inf, -math.inf)
        )


@cache
def settings_of(kind: type["Choice"]) -> dict[str, bool]:
    """Return the settings of a choice, its keyword-only arguments, and whether each is needed."""
    code, defaults = kind.__init__.__code__, kind.__init__.__kwdefaults__ or {}
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    return {name: name not in defaults for name in names}


@cache
def _annotations(kind: type["Choice"]) -> dict:
    return get_type_hints(kind.__init__, include_extras=True)


def check_settings(kind: type["Choice"], settings: dict) -> None:
    """Raise ValueError for a setting that its annotation in `kind.__init__` rules out: its type, or
    its `Range`.
    """
    annotations = _annotations(kind)
    for name, value in ((name, value) for name, value in settings.items() if name in annotations):
        types = getattr(annotations[name], "__origin__", annotations[name])
        ranges = [
            each
            for each in getattr(annotations[name], "__metadata__", ())
            if isinstance(each, Range)
        ]
        if value is None and types in (int | None, float | None):
            continue
        whole = types in (int, int | None)
        if isinstance(value, bool) or not hasattr(value, "__index__" if whole else "__float__"):
            raise ValueError(f"{name} must be a {'whole ' if whole else ''}number, got {value!r}")
        if not math.isfinite(value) or not all(each.holds(value, settings) for each in ranges):
            raise ValueError(
                f"{name} must be {' and '.join(map(str, ranges)) or 'finite'}, got {value!r}"
            )


@dataclass(frozen=True)
class Shape:
    """d_model and heads h of a choice's layer; a head's queries and keys are d_k wide, its values
    d_v.

    d_k and d_v default to d_model / h (Attention Is All You Need varies them in Table 3, rows A and
    B). key_heads: how many heads keys and values have, each shared by h / key_heads heads of
    queries side by side (grouped queries, Ainslie et al. 2023; 1: Shazeer 2019); h by default.
    ValueError where h does not divide d_model and d_k or d_v is missing, and where key_heads does
    not divide h.
    """

    d_model: int
    heads: int
    d_k: int | None = None
    d_v: int | None = None
    key_heads: int | None = None

    def __post_init__(self):
        if self.d_model % self.heads and None in (self.d_k, self.d_v):
            raise ValueError(
                f"heads h = {self.heads} must divide d_model = {self.d_model}, unless d_k and d_v are given"
            )
        for name in ("d_k", "d_v"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, self.d_model // self.heads)
        if self.key_heads is None:
            object.__setattr__(self, "key_heads", self.heads)
        if self.key_heads < 1 or self.heads % self.key_heads:
            raise ValueError(f"key_heads = {self.key_heads} must divide heads h = {self.heads}")

    @property
    def sharing(self) -> int:
        """Return how many heads of queries share a head of keys and values."""
        return self.heads // self.key_heads


class Choice(nn.Module):
    """Base of all choices.

    example: settings with which the contract tests build the choice. from_grid: settings that a
    question's grid of S and k fills in, e.g. {"limit": "S"}. needs_distance: whether a span or
    position depends on the distance between key and query; if so it cannot be used in
    cross-attention. sums_to_one: whether the weights of a normaliser do.
    """

    example: dict = {}
    from_grid: dict = {}
    needs_distance = True
    sums_to_one = True

    def penalty(self) -> Tensor | float:
        """Return what is added to the mean loss while training, in nats."""
        return 0.0

    def after_step(self) -> None:
        """Bring parameters back into range after an optimiser step."""

    def macs(self, block: int, window: int) -> int:
        """Count the multiply-accumulates for a block of one stream beyond those that every
        attention makes.
        """
        return 0

    def facts(self) -> dict:
        """Return numbers worth keeping, one entry per head where they differ by head."""
        return {}
