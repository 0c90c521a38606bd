"""Check what this machine can do: `python -m workflow.cli.doctor [--device auto|cpu|cuda]`.

Checks versions, the compiler, every attention backend against the definition, the memory counter
and the clock. Prints `ok`, `note` (works, but slower) or `FAIL` for each; exits with 1 if anything
fails.
"""

import platform
import shutil
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from importlib.metadata import distributions

import torch

from models.attention.engine.backend import ENGINE_BACKENDS
from models.kernels.compiled import build as compiled
from models.nets.char_lm import CharLM
from workflow.config.command_line import Parser, print_lines, run
from workflow.config.environment import DEVICES
from workflow.costs.fresh_process import in_fresh_process, peak_memory
from workflow.costs.timing import time_turn
from workflow.plan.sources import recorded
from workflow.training.backends import prepare
from workflow.training.hardware import number_type, pick_device
from workflow.training.origin import describe

OK, NOTE, FAIL = "ok", "note", "FAIL"
Finding = tuple[str, str, str]  # what was checked, status, result
CHOICES = {  # span and selection of the models that are compared
    "fixed span": ({"name": "fixed", "limit": 90}, {"name": "all"}),
    "adaptive span": ({"name": "adaptive", "limit": 90, "ramp": 32}, {"name": "all"}),
    "top-k": ({"name": "fixed", "limit": 90}, {"name": "top_k", "k": 8}),
}
NET = {
    "name": "char_lm",
    "layers": 2,
    "d_model": 24,
    "heads": 4,
    "d_ff": 32,
    "dropout": 0.0,
    "attention_dropout": 0.0,
}
SYMBOLS, STREAMS, BLOCK = 11, 2, 70
# bound of top-k below 64 bits: which key it keeps may hang on the last bit, and the gradient with
# it
JUMPS = 0.1
# of the largest number of a tensor
BOUNDS = {torch.float64: 1e-9, torch.float32: 1e-4, torch.bfloat16: 0.1}
HELD, COUNTED = 256 << 20, 0.1  # bytes, and the share of them by which the counter may be off
WIDTH, SECONDS = 768, 0.4  # of a product, and of its timing
# times as long for twice the work; below, the clock does not wait for the device
TWICE, DEAF = (1.5, 2.7), 1.2


def findings(name: str) -> Iterator[Finding]:
    """Run all checks; the one that forks comes first, before this process uses a GPU or starts
    threads.
    """
    torch.set_num_threads(1)
    yield look_at_memory(name)
    device = pick_device(name)
    yield from look_at_versions(device)
    yield look_at_clock(device)
    yield from look_at_backends(device)


def look_at_versions(device: torch.device) -> Iterator[Finding]:
    yield "Python", OK, f"{platform.python_version()}, {platform.platform()}"
    origin = describe(device, "fp32", recorded([]))
    driver = origin["driver"]
    known = filter(None, (str(torch.__version__), origin["device"], driver))
    yield "torch", OK, ", ".join(known)
    # a folder of that name is none
    triton = next((each.version for each in distributions(name="triton")), None)
    is_needed = bool(driver)
    yield (
        "Triton",
        NOTE if is_needed and not triton else OK,
        triton or "not installed; the GPU kernel needs it",
    )
    broken = compiled.obstacle()
    if not broken and not hasattr(compiled.library(torch.float32), "omp_get_thread_num"):
        broken = "compiled without OpenMP, so with one thread"
    java = shutil.which("java")
    yield (
        "Java",
        OK if java else NOTE,
        "computes METEOR" if java else "not installed; captions get no METEOR score",
    )
    yield (
        "C compiler",
        NOTE if broken else OK,
        f"{broken}: slower" if broken else "compiles attention",
    )


def look_at_memory(name: str) -> Finding:
    """Allocate a known amount of memory in a separate process, and compare it with the counter."""

    def hold() -> dict:
        device = pick_device(name)
        return peak_memory(
            lambda: (lambda: torch.ones(HELD // 8, dtype=torch.float64, device=device), 1),
            device,
            1,
        )

    held = in_fresh_process(hold)
    if held["status"] != "ok":
        return "memory counter", FAIL, held["reason"]
    counted = held["bytes"]
    error = abs(counted / HELD - 1)
    status = OK if error <= COUNTED else FAIL
    return "memory counter", status, f"{counted / 2**20:.0f} of {HELD >> 20} MiB counted"


def look_at_clock(device: torch.device) -> Finding:
    """Check that twice the work takes about twice as long; it takes no longer if the timer ignores
    the device.
    """
    a = torch.randn(WIDTH, WIDTH, device=device)
    b = torch.randn(WIDTH, WIDTH, device=device)

    def fastest(products: int) -> float:
        """Return the least time of so many products."""
        return min(time_turn(lambda: [torch.mm(a, b) for _ in range(products)], SECONDS, device))

    once = fastest(16)
    longer = fastest(32) / once
    shortest, longest = TWICE
    if shortest <= longer <= longest:
        status = OK
    elif longer > DEAF:
        status = NOTE
    else:
        # the clock does not wait for the device
        status = FAIL
    return "clock", status, f"twice the work takes {longer:.2f}× as long"


def look_at_backends(device: torch.device) -> Iterator[Finding]:
    """Compare outputs and gradients of small models with the definition in 64 bits on the CPU."""
    # a CPU may compute bf16 in 32 bits
    dtypes = dict.fromkeys((torch.float64, torch.float32, number_type("bf16", device)))
    for backend in ENGINE_BACKENDS:
        if backend == "auto":
            continue
        for dtype in dtypes:
            number = str(dtype).removeprefix("torch.")
            about = f"{backend}, {device.type}, {number}"
            try:
                off = {choice: _distance(backend, choice, device, dtype) for choice in CHOICES}
            except Exception as error:  # one broken backend must not hide the others
                line = f"{type(error).__name__}: {error}"
                yield about, FAIL, line.splitlines()[0]
                continue
            off = {choice: each for choice, each in off.items() if each is not None}
            if not off:
                continue
            worst = max(off, key=off.get)
            status = OK if off[worst] <= 1 else FAIL
            yield about, status, f"error {off[worst]:.2g} of the tolerance ({worst})"


def _distance(backend: str, choice: str, device: torch.device, dtype: torch.dtype) -> float | None:
    """Return the largest relative error over its bound; None where the backend cannot compute this
    layer.

    Left out in 16 bits is what jumps with the last bit: which keys top-k keeps, and which units of
    a relu are on.
    """
    is_half = dtype.itemsize < 4
    if is_half and choice == "top-k":
        return None
    try:
        ours = _numbers(choice, backend, device, dtype)
    except ValueError:  # of an engine whose backend is not made for this layer
        return None
    bound = JUMPS if choice == "top-k" and dtype.itemsize < 8 else BOUNDS[dtype]
    oracle = _numbers(choice, "definition", torch.device("cpu"), torch.float64)
    off = []
    for name, expected in oracle.items():
        if is_half and "feed_forward" in name:
            continue
        error = (ours[name] - expected).abs().max()
        off.append(error / expected.abs().max())
    # what is no number is an error
    worst = torch.stack(off).nan_to_num(torch.inf).max()
    return worst.item() / bound


def _numbers(
    choice: str, backend: str, device: torch.device, dtype: torch.dtype
) -> dict[str, torch.Tensor]:
    """Compute the outputs of two blocks, and all gradients by their names; 16 bits by autocast, as
    in runs.
    """
    torch.manual_seed(0)
    span, selection = CHOICES[choice]
    attention = {"span": span, "selection": selection, "normaliser": {"name": "softmax"}}
    net = CharLM(SYMBOLS, attention | {"position": {"name": "relative", "limit": 90}}, NET)
    for layer in net.attentions if choice == "adaptive span" else ():
        torch.nn.init.uniform_(layer.span.fraction)  # spans of all lengths
    tokens = torch.randint(SYMBOLS, (STREAMS, 2 * BLOCK))
    direction = torch.randn(STREAMS, 2 * BLOCK, SYMBOLS)
    is_half = dtype == torch.bfloat16
    net = net.to(device, torch.float32 if is_half else dtype)
    prepare(net, backend, device, dtype)
    past = net.start(STREAMS)
    logits = []
    uncompiled = nullcontext() if backend == "compiled" else compiled.without()
    with torch.autocast(device.type, dtype, enabled=is_half), uncompiled:
        for block in tokens.to(device).split(BLOCK, 1):
            y, past = net(block, past)
            logits.append(y)
    y = torch.cat(logits, 1)
    (y * direction.to(y)).sum().backward()
    numbers = {"y": y}
    for name, parameter in net.named_parameters():
        numbers[name] = parameter.grad
    return {name: each.detach().cpu().double() for name, each in numbers.items()}


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="doctor", description=__doc__)
    parser.add_argument(
        "--device", default="auto", choices=DEVICES, help="auto (default): the GPU if there is one"
    )
    wrong = []
    for about, status, said in findings(parser.parse_args(argv).device):
        print_lines([f"{about:<26}{status:<7}{said}"])
        sys.stdout.flush()
        if status == FAIL:
            wrong.append(f"{about}: {said}")
    if wrong:
        raise SystemExit(f"doctor: {len(wrong)} of the checks failed: {'; '.join(wrong)}")
    print("all checks passed")


if __name__ == "__main__":
    run(main)
