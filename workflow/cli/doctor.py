"""What this machine can do: `python -m workflow.cli.doctor [--device auto|cpu|cuda]`. In at most two minutes.

A line for each check: `ok`, `note` (it works, but slower or less than it could) or `WRONG`. With one of these the last
line says which, and the command exits with 1.
"""

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import torch

from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError
from workflow.costs.fresh_process import in_fresh_process
from workflow.doctor import libraries, machine, measures, numbers, scales, training
from workflow.doctor.finding import WRONG, Finding, examine, line
from workflow.training.origin import pick_device

DEVICES = ("auto", "cpu", "cuda")


def findings(name: str) -> Iterator[list[Finding]]:
    """One check after the other; those that fork come first, before this process touches a GPU or starts threads."""
    torch.set_num_threads(1)
    if name == "cuda":
        _require_gpu()
    yield examine("memory counter", measures.look_at_memory_counter, name)
    yield examine("system", machine.look_at_system)
    yield examine("cores", machine.look_at_cores)
    yield examine("memory", machine.look_at_memory)
    yield examine("disk", machine.look_at_disk, Path.cwd())
    yield examine("torch", libraries.look_at_torch)
    yield examine("GPU", libraries.look_at_gpu)
    yield examine("C compiler", libraries.look_at_compiler)
    device = pick_device(name)
    yield examine("Triton", libraries.look_at_triton, device)
    yield examine("clock", measures.look_at_clock, device)
    for each in dict.fromkeys((torch.device("cpu"), device)):
        yield examine(f"numbers on {each.type}", numbers.look_at_numbers, each)
    yield examine("training", training.look_at_training, partial(scales.targets_of, "laptop", name), device)
    yield examine("scales", scales.look_at_scales, Path("results"), name)


def _require_gpu() -> None:
    """At once, and without touching it here."""
    seen = in_fresh_process(lambda: {"name": str(pick_device("cuda"))})
    if seen["status"] != "ok":
        raise ConfigError(seen["reason"].removeprefix("ConfigError: "))


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="doctor", description="Say what this machine can do.")
    parser.add_argument("--device", default="auto", choices=DEVICES, help="auto: the GPU where there is one")
    options = parser.parse_args(argv)
    wrong = []
    for found in findings(options.device):
        print("\n".join(map(line, found)), flush=True)
        wrong += [each for each in found if each.status == WRONG]
    if wrong:
        print(
            f"doctor: {len(wrong)} wrong: {'; '.join(f'{each.about}: {each.said}' for each in wrong)}", file=sys.stderr
        )
        sys.exit(1)
    print("nothing is wrong")


if __name__ == "__main__":
    run(main)
