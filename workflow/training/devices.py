"""The processes that train one model together: which part each takes, and how they come to the
numbers of one.

Each holds the whole model and takes an equal part of every update. The gradients are then averaged
over the processes, so that all make the same update:

    1/N sum_n  d/dw (mean loss of part n + penalty)  =  d/dw (mean loss of the whole + penalty)

Numbers and stops that all must share travel between the CPUs, so that no process waits for its GPU
to tell them.
"""

import os
from collections.abc import Callable
from contextlib import contextmanager
from datetime import timedelta

import torch
from torch import Tensor

from workflow.config.errors import ConfigError

LONGEST_WAIT = timedelta(minutes=30)  # of a process for another, which may be scoring dev


class Devices:
    """One of `count` processes, the `rank`-th. Alone, it is asked the same and does nothing."""

    def __init__(self, count: int = 1, rank: int = 0):
        self.count, self.rank = count, rank

    @property
    def first(self) -> bool:
        """Whether this process scores, saves and writes; one does it for all."""
        return self.rank == 0

    def rows(self, whole: int) -> slice:
        """Return this process's part of `whole` rows, which `count` divides."""
        size = whole // self.count
        return slice(self.rank * size, (self.rank + 1) * size)

    def average_gradients(self, parameters: list[Tensor]) -> None:
        """Replace the gradient of each parameter by its mean over the processes.

        After the backward passes, not during them as DistributedDataParallel does, whose import
        takes a second (docs/decisions/0018-several-devices.md).
        """
        if self.count > 1:
            for gradient in (
                parameter.grad for parameter in parameters if parameter.grad is not None
            ):
                torch.distributed.all_reduce(gradient)
                gradient /= self.count

    def mean(self, number: Tensor) -> Tensor:
        """Return the mean of a tensor over the processes, on the CPU."""
        mean = number.detach().to("cpu", copy=True)
        if self.count > 1:
            torch.distributed.all_reduce(mean)
            mean /= self.count
        return mean

    def join(self, part: Tensor, dim: int) -> Tensor:
        """Join the parts of all processes, which have one shape, one after the other."""
        if self.count == 1:
            return part.clone()
        parts = [
            torch.empty_like(part, memory_format=torch.contiguous_format) for _ in range(self.count)
        ]
        torch.distributed.all_gather(parts, part.contiguous())
        return torch.cat(parts, dim)

    def check(self, check: Callable[[], None]) -> None:
        """Call `check` in every process. Where it raises in one, all raise the same, at the same
        step.
        """
        if self.count == 1:
            check()
            return
        error = None
        try:
            check()
        except Exception as raised:
            error = raised
        raised_here = torch.tensor(error is not None, dtype=torch.int32)
        torch.distributed.all_reduce(raised_here)
        if not raised_here:
            return
        errors: list[Exception | None] = [None] * self.count
        torch.distributed.all_gather_object(errors, error)
        raise next(error for error in errors if error is not None)


ALONE = Devices()


def refuse_too_many(count: int, device: torch.device) -> None:
    """Raise `ConfigError` where this machine has fewer GPUs."""
    if device.type == "cuda" and count > torch.cuda.device_count():
        raise ConfigError(
            f"devices: {count} requested, but this machine has {torch.cuda.device_count()} GPUs"
        )


def launched() -> bool:
    """Whether `in_processes` or torchrun started this process as one of several."""
    return "TORCHELASTIC_RUN_ID" in os.environ  # others leave LOCAL_RANK behind


@contextmanager
def join_devices(device: torch.device):
    """Yield this process's `Devices`: one of several, or alone."""
    if not launched():
        yield ALONE
        return
    refuse_too_many(int(os.environ["LOCAL_WORLD_SIZE"]), device)
    if device.type == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    backend = "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"
    torch.distributed.init_process_group(backend, timeout=LONGEST_WAIT)
    yield Devices(torch.distributed.get_world_size(), torch.distributed.get_rank())
    # not after an error: others may wait for what never comes
    torch.distributed.destroy_process_group()
