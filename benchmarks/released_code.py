"""Training steps beside the code that was released with Adaptive Attention Span, in one process, in turns.

    git clone https://github.com/facebookresearch/adaptive-span
    python -m benchmarks.released_code adaptive-span

Both nets have the same weights, spans (Figure 4 of the paper, scaled to S), caches and allocator, and their own
Adagrad. Before the timing both read one block, and their log-probabilities must agree. No line of that code is here: it
is imported from the checkout, whose licence (CC-BY-NC) is its own.
"""

import argparse
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import torch
from torch.nn.functional import log_softmax, nll_loss

from models.attention.engine.engine import Engine
from workflow.config.command_line import run
from workflow.config.environment import environment
from workflow.config.errors import ConfigError
from workflow.costs.engine_cases import RAMP, SYMBOLS, full_caches, net_of
from workflow.plan.scales import Engine as Sizes
from workflow.training.update import Adagrad

LENGTHS, CPU = [256, 1024, 2048, 4096], torch.device("cpu")
CLIP, PENALTY = 0.03, 2e-6  # of the released recipe
LR = 0.0  # so that spans stay those of the figure; an update costs the same
APART = 2e-3  # theirs adds 1e-8 to sums of weights and rounds in another order


class Theirs:
    """The released net with our net's weights, its caches and its optimiser."""

    def __init__(self, modules: dict, sizes: Sizes, ours, S: int, adaptive: bool):
        span = {"adapt_span_enabled": adaptive, "adapt_span_loss": PENALTY, "adapt_span_ramp": RAMP}
        span |= {"adapt_span_init": 0, "adapt_span_cache": True}
        settings = {"hidden_size": sizes.d_model, "inner_hidden_size": sizes.d_ff, "nb_heads": sizes.heads}
        settings |= {"nb_layers": sizes.layers, "attn_span": S, "dropout": 0.0, "emb_dropout": 0.0}
        settings |= {"adapt_io_params": {"adapt_io_enabled": False}, "pers_mem_params": {"pers_mem_size": 0}}
        self.net = modules["net"](vocab_size=SYMBOLS, adapt_span_params=span, **settings)
        self.net.load_state_dict(renamed(ours), strict=False)
        self.layers = [layer.attn.attn for layer in self.net.layers]
        self.optimiser = modules["optimiser"](self.net.parameters(), lr=LR, grad_clip=CLIP)

    def fill(self, caches: list) -> None:
        """Our caches, K B d by layer, as long as theirs are kept: zeros where ours keeps no more."""
        self.caches = []
        for layer, (rows,) in zip(self.layers, caches, strict=True):
            size = layer.get_cache_size()
            rows = torch.cat([rows.new_zeros(max(0, size - len(rows)), *rows.shape[1:]), rows])[-size:]
            self.caches.append(rows.transpose(0, 1).contiguous())

    def read(self, tokens):
        return self.net(tokens, self.caches)[0]

    def step(self, tokens, targets) -> None:
        out, self.caches, _ = self.net(tokens, self.caches)
        loss = nll_loss(out.flatten(0, 1), targets.flatten())
        if self.layers[0].adapt_span_enabled:
            loss = loss + sum(layer.adaptive_span.get_loss() for layer in self.layers)
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        if self.layers[0].adapt_span_enabled:
            for layer in self.layers:
                layer.adaptive_span.clamp_param()


class Ours:
    def __init__(self, net):
        self.net, self.optimiser = net, Adagrad(list(net.parameters()), LR, CLIP)

    def fill(self, caches: list) -> None:
        self.caches = caches

    def read(self, tokens):
        return log_softmax(self.net(tokens, self.caches)[0], -1)

    def step(self, tokens, targets) -> None:
        logits, self.caches = self.net(tokens, self.caches)
        loss = nll_loss(log_softmax(logits, -1).flatten(0, 1), targets.flatten()) + self.net.penalty()
        loss.backward()
        self.optimiser.step()
        self.optimiser.forget_gradients()
        self.net.after_step()


def renamed(ours) -> dict:
    """Our net's weights under the names of theirs."""
    weights = {"in_emb.weight": ours.embedding.weight, "key_pe": ours.attentions[0].position.table[None]}
    weights |= {"out_emb.weight": ours.output.weight, "out_emb.bias": ours.output.bias}
    for number, block in enumerate(ours.blocks):
        attention, first, last = block.attention, block.feed_forward[0], block.feed_forward[-1]
        pairs = {"attn.proj_query": attention.query, "attn.proj_key": attention.key, "attn.proj_val": attention.value}
        pairs |= {"attn.proj_out": attention.out, "norm1": block.after_attention, "norm2": block.after_feed_forward}
        pairs |= {"ff.fc1": first, "ff.fc2": last}
        for name, module in pairs.items():
            for key, weight in module.state_dict().items():
                weights[f"layers.{number}.{name}.{key}"] = weight
        if hasattr(attention.span, "fraction"):
            weights[f"layers.{number}.attn.attn.adaptive_span._mask.current_val"] = attention.span.fraction
    return {name: weight.detach().clone() for name, weight in weights.items()}


def one_long_head(net, S: int) -> None:
    """Every layer from the fourth has a head that sees half of S or nine tenths; the others see up to 2 R."""
    for number, layer in enumerate(net.attentions):
        z = torch.linspace(0, RAMP, layer.shape.heads)
        if number >= 3:
            z[-1] = S * (0.9 if number % 2 else 0.5)
        layer.span.fraction.data.copy_(z.view(-1, 1, 1) / S)


def pair(modules: dict, sizes: Sizes, name: str, S: int, long: bool) -> tuple[Ours, Theirs]:
    """The two nets with full caches; `ConfigError` where they do not compute the same."""
    net = net_of(sizes, name, S, Engine(), CPU).train()
    if name == "adaptive" and long:
        one_long_head(net, S)
    both = Ours(net), Theirs(modules, sizes, net, S, name == "adaptive")
    caches, tokens = full_caches(net, sizes.batch), torch.randint(SYMBOLS, (sizes.batch, sizes.block))
    for each in both:
        each.fill(caches)
    with torch.no_grad():
        ours, theirs = (each.read(tokens) for each in both)
    if (apart := (ours - theirs).abs().max().item()) > APART:
        raise ConfigError(f"{name}, S = {S}: log-probabilities lie {apart:.1e} apart; valid: up to {APART}")
    return both


def timed(step: Callable[[], None]) -> float:
    began = time.perf_counter()
    step()
    return 1e3 * (time.perf_counter() - began)


def measure(modules: dict, sizes: Sizes, name: str, S: int, long: bool) -> str:
    """A cell of the table: both in milliseconds, and their ratio with the least of a single turn."""
    both = pair(modules, sizes, name, S, long)
    tokens, targets = torch.randint(SYMBOLS, (2, sizes.batch, sizes.block))
    turns = [[timed(lambda each=each: each.step(tokens, targets)) for each in both] for _ in range(sizes.rounds + 1)]
    ours, theirs = (statistics.median(column) for column in zip(*turns[1:], strict=True))  # the first warms up
    least = min(other / own for own, other in turns[1:])
    return f"{ours:.0f} / {theirs:.0f} | {theirs / ours:.2f} ({least:.2f})"


def imported(checkout: Path) -> dict:
    """The released net and optimiser from a checkout; `ConfigError` where it is none."""
    if not (checkout / "adagrad_with_grad_clip.py").exists():
        raise ConfigError(f"{checkout}: no checkout of the released code: adagrad_with_grad_clip.py is not there")
    ours = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "models"}
    for name in ours:
        del sys.modules[name]  # theirs has a module of this name
    sys.path.insert(0, str(checkout))
    try:
        from adagrad_with_grad_clip import AdagradWithGradClip

        from models import TransformerSeq
    finally:
        sys.path.pop(0)
        sys.modules.update(ours)
    return {"net": TransformerSeq, "optimiser": AdagradWithGradClip}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="released_code", description="Training steps beside the released code.")
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS, help="span limits S")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    warnings.filterwarnings("ignore", message="This overload of addcmul_")  # theirs is of 2019
    parser.add_argument("--long", action="store_true", help="spans with one long head a layer, not those of Figure 4")
    parser.add_argument("--rounds", type=int, default=5, help="turns that are timed")
    given = parser.parse_args(argv)
    widths = {"layers": 8, "d_model": 256, "heads": 4, "d_ff": 1024, "block": 256, "batch": 8}
    sizes = Sizes(**widths, lengths=LENGTHS, far=8192, threads=given.threads, rounds=given.rounds)
    torch.set_num_threads(given.threads)
    modules = imported(given.checkout)
    print("| S | fixed: ours / theirs, ms | ratio (least) | adaptive: ours / theirs, ms | ratio (least) |")
    print("| --- | --- | --- | --- | --- |")
    for S in given.lengths:
        cells = [measure(modules, sizes, name, S, given.long) for name in ("fixed", "adaptive")]
        print(f"| {S} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    missing = {name: value for name, value in environment().items() if os.environ.get(name) != value}
    if missing:  # the allocator reads its settings when a process starts
        os.execve(
            sys.executable, [sys.executable, "-m", "benchmarks.released_code", *sys.argv[1:]], os.environ | missing
        )
    run(main)
