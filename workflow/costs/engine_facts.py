"""What is not timed in turns: whether engine and definition agree, what they compute, where a step spends its time."""

import multiprocessing
import os
import time

import torch
from torch.profiler import ProfilerActivity, profile

from models.attention.engine import backend as dispatch
from workflow.costs import graph
from workflow.costs.counters import by_torch
from workflow.costs.engine_cases import SYMBOLS, Case, memories, net_of, training_step
from workflow.costs.streams import Flat
from workflow.papers import formulas
from workflow.plan.scales import Engine
from workflow.training.backends import prepare

BOUND = 1e-9  # in 64 bits
SMALL = Engine(layers=2, d_model=24, heads=4, d_ff=32, block=70, batch=2, lengths=[90, 91], far=90, threads=1, rounds=1)
PARALLEL_SECONDS = 3.0


def gate(device: torch.device) -> dict:
    """The farthest that outputs and gradients of engine and definition lie apart, on small nets in 64 bits.

    Whatever is timed is held: each choice, top-k gathered and masked, one character at a time. On a GPU the kernel too,
    in the types that a run uses, by `gate.check`, which raises.
    """
    worst, where = 0.0, ""
    for name, way in HELD:
        dispatch.force(way)
        ours, oracle = (_results(name, one) for one in ("engine", "definition"))
        dispatch.force("auto")
        for key, one in oracle.items():
            apart = (ours[key] - one).abs().max().item()
            if not apart <= worst:  # not a number is never within
                worst, where = apart, f"{name}, {way}: {key}"
    if device.type == "cuda":
        prepare(net_of(SMALL, "adaptive", 90, "engine", device), "auto", device, torch.bfloat16)
    return {"status": "ok" if worst <= BOUND else "error", "worst": worst, "where": where, "bound": BOUND}


HELD = [(name, "band") for name in ("fixed", "adaptive", "top-k", "sparsemax", "entmax15", "entmax_alpha")]
HELD += [("top-k", "gathered"), ("adaptive", "small"), ("top-k", "small")]


def _results(name: str, way: str) -> dict:
    """Outputs of two blocks and all gradients, and the outputs of a third read character by character."""
    net = net_of(SMALL, name, 90, way, torch.device("cpu")).double()
    for layer in net.attentions:
        if name == "adaptive":
            fraction = layer.span.fraction
            fraction.data.copy_(torch.rand(fraction.shape, generator=torch.Generator().manual_seed(3)))
    generator = torch.Generator().manual_seed(1)
    tokens, past, parts = torch.randint(SYMBOLS, (2, 210), generator=generator), net.start(2), []
    for block in tokens[:, :140].split(70, 1):
        logits, past = net(block, past)
        parts.append(logits)
    y = torch.cat(parts, 1)
    (y * torch.randn(y.shape, generator=generator, dtype=y.dtype)).sum().backward()
    gradients = {key: one.grad for key, one in net.named_parameters()}
    return {"the output": y.detach(), "one by one": _one_by_one(net.eval(), tokens), **gradients}


@torch.no_grad()
def _one_by_one(net, tokens: torch.Tensor) -> torch.Tensor:
    forced, (_, past), parts = list(dispatch.forced), net(tokens[:, :140], net.start(2)), []
    dispatch.force("auto")
    for place in range(140, 210):
        logits, past = net(tokens[:, place : place + 1], past)
        parts.append(logits)
    dispatch.forced[:] = forced
    return torch.cat(parts, 1)


def reaches(how: Engine, name: str, S: int) -> list[list[int]]:
    net = net_of(how, name, S, "engine", torch.device("cpu"))
    return [layer.span.reach(layer.span.extent(None)).tolist() for layer in net.attentions]


def macs(how: Engine) -> list[dict]:
    """By length, fixed and adaptive, per character: the formula at the mean reach, torch's count and ours of what
    is executed, what the definition would; and of a whole training step, what nothing can do without.
    """
    rows, sizes = [], {"L": how.layers, "d": how.d_model, "ff": how.d_ff}
    for S in how.lengths:
        for name in ("fixed", "adaptive"):
            net = net_of(how, name, S, "engine", torch.device("cpu"))
            far = reaches(how, name, S)
            mean = sum(map(sum, far)) / (how.layers * how.heads)
            tokens = torch.zeros(how.batch, how.block, dtype=torch.long)
            past = memories(net, how.batch)
            with torch.no_grad():
                net(tokens, past)
            executed = sum(graph.engine_macs(layer, how.block, layer.shapes) for layer in net.attentions) / how.block
            rows.append(
                {
                    "name": name,
                    "S": S,
                    "mean_reach": mean,
                    "analytic": formulas.mac(**sizes, S=mean),
                    "counted": by_torch(Flat(net), (tokens, *past)) / tokens.numel(),
                    "executed": executed + graph.outside_attention(net),
                    "dense": graph.dense(net, how.block),
                    "floor": formulas.training_floor(**sizes, V=SYMBOLS, T=how.block, B=how.batch, reaches=far),
                }
            )
    return rows


def profiles(how: Engine, device: torch.device) -> list[dict]:
    """Where the time of a training step goes, by operator: the largest eight. On a CPU alone: it is their own time."""
    if device.type != "cpu":
        return []
    torch.set_num_threads(how.threads)
    rows = []
    for S in how.lengths:
        for name in ("fixed", "adaptive"):
            step = training_step(how, Case("step", name, S), device)
            step()
            with profile(activities=[ProfilerActivity.CPU]) as seen:
                step()
            spent = {one.key: one.self_cpu_time_total for one in seen.key_averages()}
            whole, most = sum(spent.values()), sorted(spent, key=spent.get, reverse=True)[:8]
            rows.append({"name": name, "S": S, "shares": {key: spent[key] / whole for key in most}})
    return rows


def parallel(device: torch.device) -> list[dict]:
    """Characters a second of a net of the laptop scale's size when jobs and threads share the cores, in two turns."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if device.type != "cpu":
        return []
    ways = [(1, 1), *([(1, cores), (cores, 1)] if cores > 1 else [])]
    turns = [[_together(*way) for way in ways] for _ in range(2)]
    pairs = zip(ways, zip(*turns, strict=True), strict=True)
    return [{"jobs": jobs, "threads": threads, "tokens_per_s": sorted(found)} for (jobs, threads), found in pairs]


def _together(jobs: int, threads: int) -> float:
    context = multiprocessing.get_context("fork")
    queue, start = context.Queue(), context.Barrier(jobs)
    running = [context.Process(target=_train, args=(threads, start, queue)) for _ in range(jobs)]
    for one in running:
        one.start()
    total = sum(queue.get(timeout=120) for _ in running)
    for one in running:
        one.join()
    return total


LAPTOP = Engine(
    layers=3, d_model=64, heads=4, d_ff=256, block=32, batch=8, lengths=[128, 129], far=128, threads=1, rounds=1
)


def _train(threads: int, start, queue) -> None:
    torch.set_num_threads(threads)
    step = training_step(LAPTOP, Case("step", "adaptive", 128), torch.device("cpu"))
    for _ in range(5):
        step()
    start.wait()
    began, steps = time.perf_counter(), 0
    while time.perf_counter() - began < PARALLEL_SECONDS:
        step()
        steps += 1
    queue.put(steps * LAPTOP.batch * LAPTOP.block / (time.perf_counter() - began))


def table() -> dict[str, int]:
    """The measured table by which top-k is gathered or masked."""
    return {str(reach): k for reach, k in dispatch.GATHER_UP_TO.items()}
