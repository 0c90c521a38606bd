"""What any choice on an axis of attention may say, so that the loop never asks who it is."""

from dataclasses import dataclass

from torch import Tensor, nn


@dataclass(frozen=True)
class Shape:
    """width d and heads h of the layer that holds a choice; queries and keys of a head are `key` wide, values `value`.

    Both are d / h where nothing else is said (Attention Is All You Need varies them alone, Table 3 rows A and B).
    """

    width: int
    heads: int
    key: int | None = None
    value: int | None = None

    def __post_init__(self):
        if self.width % self.heads and None in (self.key, self.value):
            raise ValueError(f"heads h = {self.heads} must divide width d = {self.width}, or key and value be given")
        for name in ("key", "value"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, self.width // self.heads)


class Choice(nn.Module):
    """Base of all choices.

    example: settings with which the contract tests build one. needs_distance: whether a span or position asks how far
    a key is from its query; one that does cannot stand in cross attention.
    """

    example: dict = {}
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
