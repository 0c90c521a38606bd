"""Two public counters applied to one training block or sentence; our own count is checked against them.

Both count matrix products; torch reports two operations per multiply-accumulate, fvcore one. fvcore also counts the
layer norms, which are left out here as in the other counts, and lists what it cannot count: element-wise work,
softmax, sorting.
"""

import warnings

import torch
from fvcore.nn import FlopCountAnalysis
from torch.utils.flop_counter import FlopCounterMode

from models.kernels.compiled import build


def by_torch(net: torch.nn.Module, arguments: tuple) -> float:
    """Multiply-accumulates of net(*arguments) by torch's counter. Gradients are on: without them the counter stops at a
    module that returns a weight.
    """
    with build.without(), FlopCounterMode(display=False) as counter:
        net(*arguments)
    return counter.get_total_flops() / 2


def count_by_libraries(net: torch.nn.Module, arguments: tuple) -> dict:
    """Multiply-accumulates of net(*arguments): macs_torch, macs_fvcore, and the operators fvcore does not count."""
    with torch.no_grad(), build.without(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tracing warns of every Python branch; the shapes here are fixed
        analysis = FlopCountAnalysis(net, arguments).unsupported_ops_warnings(False)
        analysis.uncalled_modules_warnings(False).tracer_warnings("none")
        fvcore = float(analysis.total() - analysis.by_operator()["layer_norm"])
    return {
        "macs_torch": by_torch(net, arguments),
        "macs_fvcore": fvcore,
        "unsupported": sorted(analysis.unsupported_ops()),
    }
