"""How public libraries count a model (torch, fvcore) and normalise its scores (entmax).

Our own count of multiply-accumulates is checked against theirs. Both count matrix products; torch
reports two operations per multiply-accumulate, fvcore one. fvcore also counts the layer norms,
which are left out here as in the other counts, and lists what it cannot count: element-wise work,
softmax, sorting.

The papers computed sparse normalisers by the entmax library's sorting and bisection. Ours find tau
by Newton's method and give the same weights in less time, so the speed of theirs is measured apart.
"""

import warnings
from inspect import signature

import entmax
import torch
from fvcore.nn import FlopCountAnalysis
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from models.attention.choice import Choice
from models.kernels.compiled import build


def count_by_libraries(model: torch.nn.Module, arguments: tuple, tokens: int) -> dict:
    """Count the MACs per token of model(*arguments) by torch and by fvcore.

    unsupported: the operators that fvcore leaves out. torch counts with gradients on: without them
    its counter stops at a module that returns a weight.
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


class ByLibrary(Choice):
    """A normaliser whose weights a function of the entmax library computes.

    It is no subclass of the normaliser, so that no compiled code takes its place.
    """

    def __init__(self, ours: Choice):
        """ours: the trained normaliser, whose parameters the function uses."""
        super().__init__()
        self.ours = ours
        self.weigh = getattr(entmax, ours.library)
        self.takes_alpha = "alpha" in signature(self.weigh).parameters

    def forward(self, kept: Tensor) -> Tensor:
        if self.takes_alpha:
            return self.weigh(kept, alpha=self.ours.alpha, dim=-1)
        return self.weigh(kept, dim=-1)


def use_library(model) -> None:
    """Let every layer of a trained model normalise by the function that its choice declares."""
    for layer in model.attentions:
        layer.normaliser = ByLibrary(layer.normaliser)
