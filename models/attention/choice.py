"""What every choice on an axis of attention has in common, so that the training loop treats all alike."""

from dataclasses import dataclass

from torch import Tensor, nn


@dataclass(frozen=True)
class Shape:
    """d_model and heads h of a choice's layer; a head's queries and keys are d_k wide, its values d_v.

    d_k and d_v default to d_model / h (Attention Is All You Need varies them in Table 3, rows A and B). key_heads: how
    many heads keys and values have, each shared by h / key_heads heads of queries side by side (grouped queries,
    Ainslie et al. 2023; 1: Shazeer 2019); h by default. ValueError where h does not divide d_model and d_k or d_v is
    missing, and where key_heads does not divide h.
    """

    d_model: int
    heads: int
    d_k: int | None = None
    d_v: int | None = None
    key_heads: int | None = None

    def __post_init__(self):
        if self.d_model % self.heads and None in (self.d_k, self.d_v):
            raise ValueError(f"heads h = {self.heads} must divide d_model = {self.d_model}, or d_k and d_v be given")
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

    example: settings with which the contract tests build the choice. from_grid: settings that an ablation's grid of S
    and k fills in, e.g. {"limit": "S"}. needs_distance: whether a span or position depends on the distance between key
    and query; if so it cannot be used in cross-attention. sums_to_one: whether the weights of a normaliser do.
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
        """Count the multiply-accumulates for a block of one stream beyond those that every attention makes."""
        return 0

    def facts(self) -> dict:
        """Return numbers worth keeping, one entry per head where they differ by head."""
        return {}
