"""Two public counters on the graph of one training block, to check our own count against.

Both count matrix products; torch reports two operations per multiply-accumulate, fvcore one. fvcore also counts the
layer norms, which are left out here as in the other counts, and lists what it cannot count: element-wise work,
softmax, sorting.
"""

import warnings

import torch
from fvcore.nn import FlopCountAnalysis
from torch.utils.flop_counter import FlopCounterMode

from workflow.measure import graph
from workflow.measure.steps import full_memories
from workflow.measure.subject import random_block


class _Flat(torch.nn.Module):
    """The net with its memories as separate arguments, as tracing wants them."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, tokens, *past):
        return self.net(tokens, list(past))[0]


@torch.no_grad()
def count(job, net, device: torch.device) -> dict:
    """Multiply-accumulates per character of one block of one stream: macs_analytic, macs_torch, macs_fvcore."""
    net.train()
    block = job.training.block
    past = full_memories(job, net, device, batch=1)
    tokens = random_block(job, net.embedding.weight.shape[0], device, batch=1)
    with FlopCounterMode(display=False) as counter:
        net(tokens, past)
    layers = sum(graph.engine_macs(layer, *layer.shapes) for layer in net.attentions)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tracing warns of every Python branch; the shapes here are fixed
        analysis = FlopCountAnalysis(_Flat(net), (tokens, *past)).unsupported_ops_warnings(False)
        analysis.uncalled_modules_warnings(False).tracer_warnings("none")
        fvcore = analysis.total() - analysis.by_operator()["layer_norm"]
    return {
        "macs_analytic": layers / block + graph.outside_attention(net),
        "macs_torch": counter.get_total_flops() / 2 / block,
        "macs_fvcore": fvcore / block,
        "unsupported": sorted(analysis.unsupported_ops()),
    }
