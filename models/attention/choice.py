"""What every choice on an axis of attention has in common, so that the training loop treats all
alike.
"""

import math
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args, get_origin, get_type_hints

from torch import Tensor, nn


@dataclass(frozen=True)
class Range:
    """Say in a setting's annotation which values are valid: `Annotated[int, Range(ge=1)]`.

    gt, ge, lt, le: above, at least, below, at most a number, or another setting of the choice by
    its name.
    """

    gt: float | str = -math.inf
    ge: float | str = -math.inf
    lt: float | str = math.inf
    le: float | str = math.inf

    def holds(self, value: float, settings: dict) -> bool:
        """Say whether a value is within it. settings: all of the choice, by name."""

        # A bound that names a setting which was left out bounds nothing.
        def limit(bound: float | str, unset: float) -> float:
            if isinstance(bound, str):
                return settings.get(bound, unset)
            return bound

        above = limit(self.gt, -math.inf) < value
        at_least = limit(self.ge, -math.inf) <= value
        below = value < limit(self.lt, math.inf)
        at_most = value <= limit(self.le, math.inf)
        return above and at_least and below and at_most

    def __str__(self) -> str:
        words = {"above": self.gt, "at least": self.ge, "below": self.lt, "at most": self.le}
        unset = (math.inf, -math.inf)
        parts = []
        for word, bound in words.items():
            if bound not in unset:
                parts.append(f"{word} {bound}")
        return " and ".join(parts)


@cache
def settings_of(kind: type["Choice"]) -> dict[str, bool]:
    """Return the settings of a choice, its keyword-only arguments, and whether each is needed."""
    # Of the code object: names of positional arguments come first, keyword-only ones next.
    code = kind.__init__.__code__
    defaults = kind.__init__.__kwdefaults__ or {}
    first = code.co_argcount
    names = code.co_varnames[first : first + code.co_kwonlyargcount]
    return {name: name not in defaults for name in names}


@cache
def _annotations(kind: type["Choice"]) -> dict:
    return get_type_hints(kind.__init__, include_extras=True)


def check_settings(kind: type["Choice"], settings: dict) -> None:
    """Raise ValueError for a setting whose type or `Range` in `kind.__init__` rules it out."""
    annotations = _annotations(kind)
    for name, value in settings.items():
        if name in annotations:
            _check_setting(name, value, annotations[name], settings)


def _check_setting(name: str, value: float, annotation, settings: dict) -> None:
    # Of Annotated[int, Range(ge=1)] the type is the origin, the range the metadata.
    if get_origin(annotation) is Literal:
        if value not in get_args(annotation):
            valid = ", ".join(get_args(annotation))
            raise ValueError(f"{name} must be one of {valid}, got {value!r}")
        return
    types = getattr(annotation, "__origin__", annotation)
    metadata = getattr(annotation, "__metadata__", ())
    ranges = [each for each in metadata if isinstance(each, Range)]
    if value is None and types in (int | None, float | None):
        return
    is_whole = types in (int, int | None)
    # Whole numbers have __index__, of numpy and torch too; True and False have it as well.
    converts = "__index__" if is_whole else "__float__"
    if isinstance(value, bool) or not hasattr(value, converts):
        kind = "whole number" if is_whole else "number"
        raise ValueError(f"{name} must be a {kind}, got {value!r}")
    is_valid = math.isfinite(value)
    for each in ranges:
        is_valid = is_valid and each.holds(value, settings)
    if not is_valid:
        valid = " and ".join(map(str, ranges)) or "finite"
        raise ValueError(f"{name} must be {valid}, got {value!r}")


@dataclass(frozen=True)
class Shape:
    """The sizes of a layer: d_model, heads h, and d_k and d_v, the widths of a head.

    d_k is the width of queries and keys, d_v that of values. Both default to d_model / h (Attention
    Is All You Need varies them in Table 3, rows A and B). key_heads: how many heads keys and values
    have, each shared by h / key_heads heads of queries (grouped queries, Ainslie et al. 2023; 1:
    Shazeer 2019); h by default. ValueError where h does not divide d_model and d_k or d_v is
    missing, and where key_heads does not divide h.
    """

    d_model: int
    heads: int
    d_k: int | None = None
    d_v: int | None = None
    key_heads: int | None = None

    def __post_init__(self):
        if self.d_model % self.heads and None in (self.d_k, self.d_v):
            raise ValueError(
                f"heads h = {self.heads} must divide d_model = {self.d_model}, "
                "unless d_k and d_v are given"
            )
        for name in ("d_k", "d_v"):
            if getattr(self, name) is None:
                # A frozen dataclass is completed once, here.
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
    """Base of all choices. What a choice says of itself is a literal in its own class.

    example: settings with which the contract tests build the choice.
    from_grid: settings that a question's grid of S and k fills in, e.g. {"limit": "S"}.
    needs_distance: whether a span or position depends on the distance between key and query; if so
    it cannot be used in cross-attention.
    sums_to_one: whether the weights of a normaliser do.
    measures: title and unit of each of `facts` that is one number; measures_by_head: of each that
    is a number per head.
    kernel: the family by which compiled kernels know the choice; None: they do not compute it. It
    holds for the class that declares it alone, for a subclass may compute something else.
    library: the function of the entmax library that gives a normaliser's weights, as the papers
    computed them; it is timed as well. It holds for that class alone, too.
    """

    example: dict = {}
    from_grid: dict = {}
    needs_distance = True
    sums_to_one = True
    measures: dict[str, tuple[str, str]] = {}
    measures_by_head: dict[str, tuple[str, str]] = {}
    kernel: str | None = None
    library: str | None = None

    def __init_subclass__(cls, **keywords):
        super().__init_subclass__(**keywords)
        # Not inherited: C would compute a subclass as its parent.
        if "kernel" not in vars(cls):
            cls.kernel = None
        if "library" not in vars(cls):
            cls.library = None

    def penalty(self) -> Tensor | float:
        """Return what is added to the mean loss while training, in nats."""
        return 0.0

    def after_step(self) -> None:
        """Bring parameters back into range after an optimiser step."""

    def macs(self, block: int, window: int) -> int:
        """Count the MACs for a block of one stream beyond those that every attention makes."""
        return 0

    def facts(self) -> dict:
        """Return numbers worth keeping, one entry per head where they differ by head."""
        return {}
