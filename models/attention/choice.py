"""What any choice on an axis of attention may say, so that the loop never asks who it is."""

from dataclasses import dataclass

from torch import Tensor, nn


@dataclass(frozen=True)
class Shape:
    """d_model and heads h of the layer that holds a choice; queries and keys of a head are d_k wide, values d_v.

    Both are d / h where nothing else is said (Attention Is All You Need varies them alone, Table 3 rows A and B).
    """

    d_model: int
    heads: int
    d_k: int | None = None
    d_v: int | None = None

    def __post_init__(self):
        if self.d_model % self.heads and None in (self.d_k, self.d_v):
            raise ValueError(f"heads h = {self.heads} must divide d_model = {self.d_model}, or d_k and d_v be given")
        for name in ("d_k", "d_v"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, self.d_model // self.heads)


class Choice(nn.Module):
    """Base of all choices.

    example: settings with which the contract tests build one. from_grid: settings that an ablation's grid of S and k gives,
    e.g. {"limit": "S"}. needs_distance: whether a span or position asks how far
    a key is from its query; one that does cannot stand in cross attention.
    """

    example: dict = {}
    from_grid: dict = {}
    needs_distance = True

    def penalty(self) -> Tensor | float:
        """Added to the mean loss in nats while training."""
        return 0.0

    def after_step(self) -> None:
        """Bring parameters back into range after an optimiser step."""

    def macs(self, block: int, window: int) -> int:
        """Multiply-accumulates for a block of one stream beyond the products that every attention makes."""
        return 0

    def facts(self) -> dict:
        """Numbers worth keeping, one entry per head where they differ by head."""
        return {}
