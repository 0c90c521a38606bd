"""A Transformer that reads a picture and writes a caption (Explicit Sparse Transformer, section
4.2).

The decoder is that of translation; the encoder reads a picture in place of words. Pixels are
embedded patch by patch by two small convolutions, with learned positions; regions that a detector
has found are rows of features.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from ..kernels.compiled.dense import Linear
from ._convolution import Convolution
from .blocks import PositionalEncoding
from .seq2seq import Seq2Seq


class Captioner(Seq2Seq):
    """Reads pictures B 3 H W with values 0 .. 1, or features B N F; predicts the next token of a
    caption.
    """

    def __init__(self, symbols: int, attention: dict, net: dict):
        """Build as `Seq2Seq` does. ValueError unless patch is even and divides the side.

        net besides: sees ("pixels" or "features"), size (side H = W of a picture, or F of a
        region), patch (its side).
        """
        super().__init__(symbols, attention, net)
        size = net["size"]
        patch = net["patch"]
        d_model = net["d_model"]
        self.sees = net["sees"]
        if self.sees == "pixels":
            if size % patch or patch % 2:
                raise ValueError(f"patch = {patch} must be even and divide size = {size}")
            # The first halves the picture, so that half a patch is left for the second.
            half = patch // 2
            self.look = nn.Sequential(
                Convolution(3, d_model // 2, 3, stride=2, padding=1),
                nn.ReLU(),
                Convolution(d_model // 2, d_model, half, stride=half),
                nn.Flatten(2),
            )
            patches = (size // patch) ** 2
            self.positions = PositionalEncoding("learned", patches, d_model)
        else:
            self.look = Linear(size, d_model)
        self.target = self.embedding  # the source has no words

    def enter(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """Turn pictures into their patches or regions B N d, and B N, True: there is no padding."""
        x = self.look(source)
        if self.sees == "pixels":
            x = x.transpose(1, 2)  # B d N -> B N d
            x = x + self.positions(0, x.size(1))
        visible = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
        return dropout(x, self.dropout, self.training), visible

    def macs_to_enter(self, N: int) -> int:
        if self.sees == "features":
            return N * self.look.weight.numel()
        first, _, second, _ = self.look
        # Positions of the first convolution's output: each patch has a kernel of them.
        side, _ = second.kernel_size
        outputs = N * side**2
        return outputs * first.weight.numel() + N * second.weight.numel()
