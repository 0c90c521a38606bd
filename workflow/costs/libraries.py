"""What public libraries make of a model: how torch and fvcore count it, how entmax normalises it.

Our own count of multiply-accumulates is checked against theirs. Both count matrix products; torch
reports two operations per multiply-accumulate, fvcore one. fvcore also counts the layer norms,
which are left out here as in the other counts, and lists what it cannot count: element-wise work,
softmax, sorting.

The papers computed sparse normalisers by the entmax library's sorting and bisection. Ours find tau
by Newton's method and give the same weights in less time, so the speed of theirs is measured apart.
"""

import warnings

import entmax
import torch
from fvcore.nn import FlopCountAnalysis
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from models.attention.normalisers.entmax15 import Entmax15
from models.attention.normalisers.entmax_alpha import EntmaxAlpha
from models.attention.normalisers.sparsemax import Sparsemax
from models.kernels.compiled import build


def count_by_libraries(model: torch.nn.Module, arguments: tuple, tokens: int) -> dict:
    """Count model(*arguments): multiply-accumulates per token by torch and by fvcore, and operators
    fvcore leaves out.

    torch counts with gradients on: without them its counter stops at a module that returns a
    weight.
    """
    with torch.no_grad(), build.without(), warnings.catch_warnings():
        # tracing warns of every Python branch; the shapes here are fixed
        warnings.simplefilter("ignore")
        analysis = FlopCountAnalysis(model, arguments).unsupported_ops_warnings(False)
        analysis.uncalled_modules_warnings(False).tracer_warnings("none")
        fvcore = float(analysis.total() - analysis.by_operator()["layer_norm"])
    with build.without(), FlopCounterMode(display=False) as counter:
        model(*arguments)
    return {
        "macs_torch": counter.get_total_flops() / 2 / tokens,
        "macs_fvcore": fvcore / tokens,
        "unsupported": sorted(analysis.unsupported_ops()),
    }


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


def use_library(model) -> None:
    """Let every layer of a trained model normalise by entmax; parameters stay."""
    device = next(model.parameters()).device
    for layer in model.attentions:
        solver = SOLVERS[type(layer.normaliser)](layer.shape).to(device)
        solver.load_state_dict(layer.normaliser.state_dict())
        layer.normaliser = solver
