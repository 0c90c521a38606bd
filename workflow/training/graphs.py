"""The forward and the backward pass of a stream model as one graph of a GPU, where that is faster.

A step of a small model is hundreds of kernels, and Python takes longer to launch one than the GPU
to compute it. Recorded as a CUDA graph they are launched at once; compiled they are also fewer.
Both compute the definition, for one size of block and caches each.

A size that stays is raced once, on the model as it is then: without a graph, recorded, compiled.
What is taken depends on the updates that are left, and the record says it, with all times.
"""

import time
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from statistics import median
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.func import functional_call

from models.attention.engine.engine import Engine
from models.attention.formula import Definition
from models.attention.layers import computing
from models.attention.variant import Past
from models.nets.char_lm import CharLM
from workflow.training.hardware import generators, synchronise
from workflow.training.run import Run

SETTLED = 4  # blocks of one size before it is raced
MOST = 3  # sizes of a run; the others are computed without a graph
MADE = 2  # passes after which a graph is compiled and recorded
ROUNDS = 8  # passes that are timed

# reads tokens B T with the caches: logits B T V, and the next caches
Forward = Callable[[Tensor, list[Past]], tuple[Tensor, list[Past]]]


class Kind(NamedTuple):
    """A way to make a graph. options: of `torch.compile`. seconds: it takes to make one, roughly.

    The seconds are of a model of six layers on two CPU cores.
    """

    name: str
    options: dict
    seconds: float


KINDS = (
    Kind("recorded", {"backend": "cudagraphs"}, 15.0),
    Kind("compiled", {"mode": "reduce-overhead"}, 60.0),
)


class Size(NamedTuple):
    """What a graph is made for. tokens: B T. past: of each layer's cache. keys: of each layer's
    queries, at most.
    """

    tokens: torch.Size
    past: tuple[torch.Size, ...]
    keys: tuple[int, ...]


def obstacle(run: Run) -> str | None:
    """Return why no training step of a run is made a graph, or None."""
    if run.device.type != "cuda":
        return "graphs are for a GPU"
    if not isinstance(run.model, CharLM):
        return "batches differ in length"
    if run.job.training.accumulate > 1:
        return "gradients are accumulated"
    if run.devices.count > 1:
        return "several devices share the run"
    for layer in run.model.attentions:
        engine = layer.implementation
        if not isinstance(engine, Engine) or engine.backend.name != "auto":
            return "the run was given the code that computes it"
    return None


def notes(run: Run) -> list[str]:
    """Say what was taken on a GPU, a line for each size, or why no graph was."""
    if run.device.type == "cpu":
        return []
    found = obstacle(run)
    if found:
        return [f"graph: none: {found}"]
    return run.forward.notes or ["graph: none: no size of blocks and caches stayed"]


def graph_of(model: CharLM, kind: Kind, keys: tuple[int, ...]) -> Forward:
    """Make a graph of a model at its first call. keys: of each layer's queries, at most."""
    within = [Definition(each) for each in keys]
    converted = Converted(weights_of_linear(model))

    def read(weights: dict, tokens: Tensor, past: list[Past]) -> tuple[Tensor, list[Past]]:
        return functional_call(model, weights, (tokens, past))

    compiled = torch.compile(read, fullgraph=True, dynamic=False, **kind.options)

    def forward(tokens: Tensor, past: list[Past]) -> tuple[Tensor, list[Past]]:
        torch.compiler.cudagraph_mark_step_begin()
        weights = converted.for_autocast(tokens.device)
        with ExitStack() as stack:
            for layer, implementation in zip(model.attentions, within, strict=True):
                stack.enter_context(computing([layer], implementation))
            logits, after = compiled(weights, tokens, past)
        # the next call overwrites what a graph returned
        copies = [tuple(part.clone() for part in cache) for cache in after]
        return logits, copies

    return forward


def weights_of_linear(model: nn.Module) -> dict[str, Tensor]:
    """Return the parameters of all linear layers, by name."""
    weights = {}
    for path, module in model.named_modules():
        if isinstance(module, nn.Linear):
            for name, weight in module.named_parameters():
                weights[f"{path}.{name}"] = weight
    return weights


class Converted:
    """Linear layers' weights in the type of autocast, at addresses that stay as they are.

    Autocast itself takes a kernel for each weight, and one for its gradient. A CUDA graph copies
    what it reads from elsewhere.
    """

    def __init__(self, weights: dict[str, Tensor]):
        self.weights = weights
        self._buffers: list[Tensor] = []

    def for_autocast(self, device: torch.device) -> dict[str, Tensor]:
        """Convert the weights as they are now, by name; return none where autocast is off."""
        if not torch.is_autocast_enabled(device.type):
            return {}
        weights = self.weights.values()
        if not self._buffers:
            dtype = torch.get_autocast_dtype(device.type)
            self._buffers = [torch.empty_like(each, dtype=dtype) for each in weights]
        converted = _Convert.apply(self._buffers, *weights)
        for each in converted:
            torch._dynamo.mark_static_address(each)
        return dict(zip(self.weights, converted, strict=True))


class _Convert(torch.autograd.Function):
    """Write tensors of one type to buffers of another, all at once, and convert gradients back."""

    @staticmethod
    def forward(ctx, buffers: list[Tensor], *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.dtype = tensors[0].dtype
        ctx.set_materialize_grads(False)
        torch._foreach_copy_(buffers, tensors)
        return tuple(each.detach() for each in buffers)

    @staticmethod
    def backward(ctx, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        given = [each for each in gradients if each is not None]
        converted = [torch.empty_like(each, dtype=ctx.dtype) for each in given]
        torch._foreach_copy_(converted, given)
        left = iter(converted)
        return None, *(None if each is None else next(left) for each in gradients)


class Graphs:
    """The model of a run as its task sees it in training: `start`, and a call with each block.

    notes: what was taken for each size, and why.
    """

    def __init__(self, run: Run, kinds: tuple[Kind, ...] = KINDS):
        self.run = run
        self.model = run.model
        self.kinds = kinds
        self.notes: list[str] = []
        self._taken: dict[Size, Forward] = {}
        self._last: Size | None = None
        self._blocks = 0  # of the last size, one after the other

    def start(self, batch: int) -> list[Past]:
        return self.model.start(batch)

    def __call__(self, tokens: Tensor, past: list[Past]) -> tuple[Tensor, list[Past]]:
        if self._is_decided():
            return self.model(tokens, past)
        size = self._size(tokens, past)
        if size is None:
            return self.model(tokens, past)
        if size in self._taken:
            return self._taken[size](tokens, past)
        self._blocks = self._blocks + 1 if size == self._last else 1
        self._last = size
        if self._blocks < SETTLED or len(self._taken) == MOST:
            return self.model(tokens, past)
        self._taken[size] = self._race(size, tokens, past)
        return self._taken[size](tokens, past)

    def _is_decided(self) -> bool:
        """Say whether no size has a graph, nor will any have one."""
        if len(self._taken) < MOST:
            return False
        return all(forward is self.model for forward in self._taken.values())

    def _size(self, tokens: Tensor, past: list[Past]) -> Size | None:
        """Return the size of a block; None where the definition does not compute all of it, or has
        no room for graphs.
        """
        weight = self.model.embedding.weight
        x = weight.new_empty(*tokens.shape, weight.size(1))  # for its size alone
        keys = []
        for layer, cache in zip(self.model.attentions, past, strict=True):
            engine = layer.implementation
            if not engine.backend.may_take_definition(layer, x):
                return None
            window, scored = engine.window(layer, x, cache)
            # graphs keep their tensors apart from the others
            layers = 2 * engine.layers
            if engine.backend.definition_obstacle(layer, x, scored, layers):
                return None
            keys.append(window)
        sizes = tuple(part.shape for cache in past for part in cache)
        return Size(tokens.shape, sizes, tuple(keys))

    def _race(self, size: Size, tokens: Tensor, past: list[Past]) -> Forward:
        """Time the model without a graph and with one of each kind; return the fastest.

        The run does not notice: its random numbers go on where they were, and the time is not that
        of updates.
        """
        synchronise(self.run.device)
        began = time.perf_counter()
        states = [(each, each.get_state()) for each in generators(self.run.device).values()]
        try:
            return self._fastest(size, tokens, past)
        finally:
            for generator, state in states:
                generator.set_state(state)
            synchronise(self.run.device)
            # the loop will add the whole step
            self.run.training_seconds -= time.perf_counter() - began

    def _fastest(self, size: Size, tokens: Tensor, past: list[Past]) -> Forward:
        from torch._dynamo.utils import counters  # takes seconds, and few runs need it

        left = self.run.job.training.steps - self.run.step
        timed = partial(self._seconds, tokens=tokens, past=past)
        taken: Forward = self.model
        name = "none"
        least = without = timed(self.model)
        words = [f"{milliseconds(without)} without"]
        for kind in self.kinds:
            # a graph that takes half the time must pay for itself
            if left * without / 2 < kind.seconds:
                took = f"{left * without:.0f} s"
                words.append(f"{kind.name} not tried: {left} updates take {took}")
                continue
            began = time.perf_counter()
            skipped = counters["inductor"]["cudagraph_skips"]
            try:
                graph = self._graph(kind, size)
                for _ in range(MADE):
                    self._pass(graph, tokens, past)
                made = time.perf_counter() - began
                seconds = timed(graph)
            # of torch, its compiler or the driver: training goes on without this graph
            except Exception as error:
                first, *_ = str(error).strip().splitlines() or [""]
                words.append(f"{kind.name} failed: {type(error).__name__}: {first}")
                continue
            words.append(f"{milliseconds(seconds)} {kind.name} (made in {made:.0f} s)")
            if counters["inductor"]["cudagraph_skips"] > skipped:
                words.append(f"{kind.name} has no CUDA graph, as torch skipped it")
            if seconds < least:
                taken, name, least = graph, kind.name, seconds
        B, T = size.tokens
        keys = " ".join(map(str, size.keys))
        where = f"from update {self.run.step}, {B} x {T} tokens, {keys} keys"
        self.notes.append(f"graph: {name}: {where}: {', '.join(words)}")
        return taken

    def _graph(self, kind: Kind, size: Size) -> Forward:
        """Make a graph, at its first call, whose blocks are counted like those without one."""
        graph = graph_of(self.model, kind, size.keys)
        _, T = size.tokens

        def counted(tokens: Tensor, past: list[Past]) -> tuple[Tensor, list[Past]]:
            for layer, keys in zip(self.model.attentions, size.keys, strict=True):
                backend = layer.implementation.backend
                backend.count_block("definition", layer, layer.key.weight, keys, T)
            return graph(tokens, past)

        return counted

    def _seconds(self, forward: Forward, tokens: Tensor, past: list[Past]) -> float:
        """Time a forward and a backward pass."""
        self._pass(forward, tokens, past)
        seconds = []
        for _ in range(ROUNDS):
            synchronise(self.run.device)
            began = time.perf_counter()
            self._pass(forward, tokens, past)
            synchronise(self.run.device)
            seconds.append(time.perf_counter() - began)
        return median(seconds)

    def _pass(self, forward: Forward, tokens: Tensor, past: list[Past]) -> None:
        """Compute the gradients of the mean logit and forget them."""
        # of a step before: each converts its weights to 16 bits
        torch.clear_autocast_cache()
        try:
            with warnings.catch_warnings():
                # torch's compiler looks for gradients of whatever it is given
                warnings.filterwarnings("ignore", "The .grad attribute", UserWarning)
                logits, _ = forward(tokens, past)
            logits.mean().backward()
        finally:
            self.run.optimiser.forget_gradients()


def milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms"
