"""What is not timed in turns: whether engine and definition agree, what they compute, where a step spends its time."""

import multiprocessing
import os
import time

import torch
from torch.profiler import ProfilerActivity, profile

from models.attention import dispatch
from workflow.measure import formulas, graph
from workflow.measure.counters import by_torch
from workflow.measure.engine_cells import SYMBOLS, Cell, memories, net_of, training_step
from workflow.measure.streams import Flat
from workflow.rungs import Engine

BOUND = 1e-9  # in 64 bits
SMALL = Engine(layers=2, width=24, heads=4, inner=32, block=70, batch=2, lengths=[90, 91], far=90, threads=1, rounds=1)
PARALLEL_SECONDS = 3.0


def gate() -> dict:
    """The farthest that outputs and gradients of engine and definition lie apart, on small nets in 64 bits."""
    worst, where = 0.0, ""
    for name in ("fixed", "adaptive", "top-k"):
        ours, oracle = (_results(name, way) for way in ("engine", "definition"))
        for key, one in oracle.items():
            apart = (ours[key] - one).abs().max().item()
            worst, where = max((worst, where), (apart, f"{name}: {key}"))
    ok = worst <= BOUND
    return {"status": "ok" if ok else "error", "worst": worst, "where": where, "bound": BOUND}


def _results(name: str, way: str) -> dict:
    net = net_of(SMALL, name, 90, way, torch.device("cpu")).double()
    for layer in net.attentions:
        if name == "adaptive":
            layer.span.fraction.data.copy_(
                torch.rand(layer.span.fraction.shape, generator=torch.Generator().manual_seed(3))
            )
    generator = torch.Generator().manual_seed(1)
    tokens, past, parts = torch.randint(SYMBOLS, (2, 140), generator=generator), net.start(2), []
    for block in tokens.split(70, 1):
        logits, past = net(block, past)
        parts.append(logits)
    y = torch.cat(parts, 1)
    (y * torch.randn(y.shape, generator=generator, dtype=y.dtype)).sum().backward()
    return {"the output": y.detach()} | {key: one.grad for key, one in net.named_parameters()}


def reaches(how: Engine, name: str, S: int) -> list[list[int]]:
    net = net_of(how, name, S, "engine", torch.device("cpu"))
    return [layer.span.reach(layer.span.extent(None)).tolist() for layer in net.attentions]


def macs(how: Engine) -> list[dict]:
    """By length, fixed and adaptive, per character: the formula at the mean reach, torch's count and ours of what
    is executed, what the definition would; and of a whole training step, what nothing can do without.
    """
    rows, sizes = [], {"L": how.layers, "d": how.width, "ff": how.inner}
    for S in how.lengths:
        for name in ("fixed", "adaptive"):
            net = net_of(how, name, S, "engine", torch.device("cpu"))
            far = reaches(how, name, S)
            mean = sum(map(sum, far)) / (how.layers * how.heads)
            tokens = torch.zeros(1, how.block, dtype=torch.long)
            past = memories(net, 1)
            with torch.no_grad():
                net(tokens, past)
            executed = sum(graph.engine_macs(layer, how.block, layer.shapes) for layer in net.attentions) / how.block
            rows.append(
                {
                    "name": name,
                    "S": S,
                    "mean_reach": mean,
                    "analytic": formulas.mac(**sizes, S=mean),
                    "counted": by_torch(Flat(net), (tokens, *past)) / how.block,
                    "executed": executed + graph.outside_attention(net),
                    "dense": graph.dense(net, how.block),
                    "floor": formulas.training_floor(**sizes, V=SYMBOLS, T=how.block, B=how.batch, reaches=far),
                }
            )
    return rows


def profiles(how: Engine, device: torch.device) -> list[dict]:
    """Where the time of a training step goes, by operator: the largest eight and the rest."""
    torch.set_num_threads(how.threads)
    rows = []
    for S in how.lengths:
        for name in ("fixed", "adaptive"):
            step = training_step(how, Cell("step", name, S), device)
            step()
            with profile(activities=[ProfilerActivity.CPU]) as seen:
                step()
            spent = {one.key: one.self_cpu_time_total for one in seen.key_averages()}
            whole, most = sum(spent.values()), sorted(spent, key=spent.get, reverse=True)[:8]
            rows.append({"name": name, "S": S, "shares": {key: spent[key] / whole for key in most}})
    return rows


def parallel(how: Engine, device: torch.device) -> list[dict]:
    """Tokens a second of the laptop rung's own net when jobs and threads share the cores."""
    cores = os.cpu_count() or 1
    if device.type != "cpu":
        return []
    ways = [(1, 1), *([(1, cores), (cores, 1)] if cores > 1 else [])]
    return [{"jobs": jobs, "threads": threads, "tokens_per_s": _together(jobs, threads)} for jobs, threads in ways]


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
    layers=3, width=64, heads=4, inner=256, block=32, batch=8, lengths=[128, 129], far=128, threads=1, rounds=1
)


def _train(threads: int, start, queue) -> None:
    torch.set_num_threads(threads)
    step = training_step(LAPTOP, Cell("step", "adaptive", 128), torch.device("cpu"))
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


def chosen() -> list[str]:
    return sorted(dispatch.told())
