"""What is not timed in turns: whether engine and definition agree, what they compute, where a step spends its time."""

import multiprocessing
import os
import time
from contextlib import nullcontext

import torch
from torch.profiler import ProfilerActivity, profile

from models.attention.engine.engine import Engine
from models.attention.formula import Definition
from models.kernels.compiled import build
from models.macs import dense, engine_macs, outside_attention
from workflow.costs.counters import by_torch
from workflow.costs.engine_cases import SYMBOLS, Case, full_caches, net_of, training_step
from workflow.costs.streams import Flat
from workflow.papers import formulas
from workflow.plan.scales import Engine as Sizes
from workflow.training.backends import computing, prepare

BOUND = 1e-9  # in 64 bits
SMALL = Sizes(layers=2, d_model=24, heads=4, d_ff=32, block=70, batch=2, lengths=[90, 91], far=90, threads=1, rounds=1)
LAPTOP = Sizes(
    layers=3, d_model=64, heads=4, d_ff=256, block=32, batch=8, lengths=[128, 129], far=128, threads=1, rounds=1
)
PARALLEL_SECONDS = 3.0
CPU = torch.device("cpu")

CHECKED = [(name, "band") for name in ("fixed", "adaptive", "top-k", "sparsemax", "entmax15", "entmax_alpha")]
CHECKED += [(name, "compiled") for name, _ in CHECKED if not build.obstacle(torch.float64)]


def gate(device: torch.device) -> dict:
    """The farthest that outputs and gradients of engine and definition lie apart, on small nets in 64 bits.

    Whatever is timed is checked: each choice, and one character at a time. On a GPU the kernel
    too, in the types that a run uses, by `check_equivalence`, which raises.
    """
    worst, where = 0.0, ""
    for name, backend in CHECKED:
        ours, oracle = results(name, Engine(backend)), results(name, Definition())
        for key, expected in oracle.items():
            apart = (ours[key] - expected).abs().max().item()
            if not apart <= worst:  # not a number is never within
                worst, where = apart, f"{name}, {backend}: {key}"
    if device.type == "cuda":
        prepare(net_of(SMALL, "adaptive", 90, Engine(), device), "triton", device, torch.bfloat16)
    return {"status": "ok" if worst <= BOUND else "error", "worst": worst, "where": where, "bound": BOUND}


def results(name: str, implementation: Engine | Definition, device=CPU, dtype=torch.float64) -> dict:
    """Outputs of two blocks and all gradients, and the outputs of a third read character by character, as 64 bits.

    dtype: of the net; in 16 bits it computes as a run does, by autocast.
    """
    half = torch.autocast(device.type, dtype) if dtype.itemsize == 2 else nullcontext()
    net = net_of(SMALL, name, 90, implementation, device).to(dtype if dtype.itemsize > 2 else torch.float32)
    for layer in net.attentions:
        if name == "adaptive":
            fraction = layer.span.fraction
            fraction.data.copy_(torch.rand(fraction.shape, generator=torch.Generator().manual_seed(3)))
    generator = torch.Generator().manual_seed(1)
    tokens, past, parts = torch.randint(SYMBOLS, (2, 210), generator=generator).to(device), net.start(2), []
    for block in tokens[:, :140].split(70, 1):
        with half:
            logits, past = net(block, past)
        parts.append(logits)
    y = torch.cat(parts, 1)
    (y * torch.randn(y.shape, generator=generator, dtype=torch.float64).to(y)).sum().backward()
    gradients = {key: parameter.grad for key, parameter in net.named_parameters()}
    with half:
        one_by_one = _one_by_one(net.eval(), tokens, implementation)
    found = {"the output": y.detach(), "one by one": one_by_one, **gradients}
    return {key: tensor.cpu().double() for key, tensor in found.items()}


@torch.no_grad()
def _one_by_one(net, tokens: torch.Tensor, implementation: Engine | Definition) -> torch.Tensor:
    """Logits of the last characters; an engine chooses its backend for single characters itself."""
    (_, past), parts = net(tokens[:, :140], net.start(2)), []
    with computing(net.attentions, Engine() if isinstance(implementation, Engine) else implementation):
        for index in range(140, 210):
            logits, past = net(tokens[:, index : index + 1], past)
            parts.append(logits)
    return torch.cat(parts, 1)


def reaches(sizes: Sizes, name: str, S: int) -> list[list[int]]:
    """How many keys each head sees, by layer."""
    net = net_of(sizes, name, S, Engine(), CPU)
    return [layer.span.reach(layer.span.extent(None)).tolist() for layer in net.attentions]


def macs(sizes: Sizes) -> list[dict]:
    """By length, fixed and adaptive: multiply-accumulates per character, and the floor of a whole training step.

    analytic: the formula at the mean reach; counted: by torch; executed: by the engine's head groups; dense: of the
    definition; floor: what a step cannot do without.
    """
    return [_macs_of(sizes, name, S) for S in sizes.lengths for name in ("fixed", "adaptive")]


def _macs_of(sizes: Sizes, name: str, S: int) -> dict:
    net, widths = net_of(sizes, name, S, Engine(), CPU), {"L": sizes.layers, "d": sizes.d_model, "ff": sizes.d_ff}
    by_layer = reaches(sizes, name, S)
    mean = sum(map(sum, by_layer)) / (sizes.layers * sizes.heads)
    tokens = torch.zeros(sizes.batch, sizes.block, dtype=torch.long)
    past = full_caches(net, sizes.batch)
    with torch.no_grad(), build.without():
        net(tokens, past)
    executed = sum(engine_macs(layer, sizes.block, layer.shapes) for layer in net.attentions) / sizes.block
    return {
        "name": name,
        "S": S,
        "mean_reach": mean,
        "analytic": formulas.mac(**widths, S=mean),
        "counted": by_torch(Flat(net), (tokens, *past)) / tokens.numel(),
        "executed": executed + outside_attention(net),
        "dense": dense(net, sizes.block),
        "floor": formulas.training_floor(**widths, V=SYMBOLS, T=sizes.block, B=sizes.batch, reaches=by_layer),
    }


def profiles(sizes: Sizes, device: torch.device) -> list[dict]:
    """Where the time of a training step goes: the eight largest operators, on a CPU alone."""
    if device.type != "cpu":
        return []
    torch.set_num_threads(sizes.threads)
    rows = []
    for S in sizes.lengths:
        for name in ("fixed", "adaptive"):
            step = training_step(sizes, Case("step", name, S), device)
            step()
            with profile(activities=[ProfilerActivity.CPU]) as profiled:
                step()
            spent = {operator.key: operator.self_cpu_time_total for operator in profiled.key_averages()}
            total, largest = sum(spent.values()), sorted(spent, key=spent.get, reverse=True)[:8]
            rows.append({"name": name, "S": S, "shares": {key: spent[key] / total for key in largest}})
    return rows


def parallel(device: torch.device) -> list[dict]:
    """Characters a second of a net of the laptop scale's size when jobs and threads share the cores, in two turns."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if device.type != "cpu":
        return []
    settings = [(1, 1), *([(1, cores), (cores, 1)] if cores > 1 else [])]
    turns = [[_together(jobs, threads) for jobs, threads in settings] for _ in range(2)]
    pairs = zip(settings, zip(*turns, strict=True), strict=True)
    return [{"jobs": jobs, "threads": threads, "tokens_per_s": sorted(speeds)} for (jobs, threads), speeds in pairs]


def _together(jobs: int, threads: int) -> float:
    context = multiprocessing.get_context("fork")
    queue, start = context.Queue(), context.Barrier(jobs)
    processes = [context.Process(target=_train, args=(threads, start, queue)) for _ in range(jobs)]
    for process in processes:
        process.start()
    total = sum(queue.get(timeout=120) for _ in processes)
    for process in processes:
        process.join()
    return total


def _train(threads: int, start, queue) -> None:
    torch.set_num_threads(threads)
    step = training_step(LAPTOP, Case("step", "adaptive", 128), CPU)
    for _ in range(5):
        step()
    start.wait()
    began, steps = time.perf_counter(), 0
    while time.perf_counter() - began < PARALLEL_SECONDS:
        step()
        steps += 1
    queue.put(steps * LAPTOP.batch * LAPTOP.block / (time.perf_counter() - began))
