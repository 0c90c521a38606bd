"""Sparse normalisers as the papers computed them: by the entmax library's sorting and bisection.

Ours find tau by Newton's method and give the same weights in less time, so a speed of theirs has to be measured apart.
"""

import entmax
from torch import Tensor

from models.attention.normalisers.entmax15 import Entmax15
from models.attention.normalisers.entmax_alpha import EntmaxAlpha
from models.attention.normalisers.sparsemax import Sparsemax


class SortedSparsemax(Sparsemax):
    def forward(self, kept: Tensor) -> Tensor:
        return entmax.sparsemax(kept, dim=-1)


class SortedEntmax15(Entmax15):
    def forward(self, kept: Tensor) -> Tensor:
        return entmax.entmax15(kept, dim=-1)


class BisectedEntmaxAlpha(EntmaxAlpha):
    def forward(self, kept: Tensor) -> Tensor:
        return entmax.entmax_bisect(kept, self.alpha, dim=-1)


SOLVERS = {Sparsemax: SortedSparsemax, Entmax15: SortedEntmax15, EntmaxAlpha: BisectedEntmaxAlpha}


def use_library(net) -> None:
    """Let every layer of a trained net normalise by the library; parameters stay."""
    for layer in net.attentions:
        solver = SOLVERS[type(layer.normaliser)](layer.shape)
        solver.load_state_dict(layer.normaliser.state_dict())
        layer.normaliser = solver
