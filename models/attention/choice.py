"""What any choice on an axis of attention may say, so that the loop never asks who it is."""

from dataclasses import dataclass

from torch import Tensor, nn


@dataclass(frozen=True)
class Shape:
    """width d and heads h of the layer that holds a choice; each head is d / h wide."""

    width: int
    heads: int

    @property
    def head(self) -> int:
        return self.width // self.heads


class Choice(nn.Module):
    """Base of all choices. `example`: settings with which the contract tests build one."""

    example: dict = {}

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
