"""Peak memory, measured in a process of its own, so that no measurement includes what another left.

The processes are forked from one that has imported the libraries and computed nothing; what is
measured is the memory that such a process holds above that.
"""

import gc
import multiprocessing
import signal
from collections.abc import Callable
from dataclasses import asdict

import torch

from models.kernels.compiled.build import fix_sums
from workflow.config.process import end_with_parent
from workflow.training.failures import failure
from workflow.training.hardware import limit_more_memory, peak_bytes, reserved_bytes, reset_peak
from workflow.training.optimisers import Adam

STEPS = 2  # the second step holds what the optimiser allocated in the first


def in_fresh_process(work: Callable[..., dict], *arguments, seconds: float = 600) -> dict:
    """Run `work(*arguments)` in a fork and return what it returns, with status and reason.

    status: ok, or error, oom where it raised or died, timeout where it took longer than `seconds`.
    """
    here, there = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=_send, args=(there, work, arguments)
    )
    process.start()
    there.close()
    answer = {"status": "timeout", "reason": f"no answer in {seconds:.0f} s"}
    try:
        if here.poll(seconds):
            answer = here.recv()
    except EOFError:
        process.join()
        answer = _death(process.exitcode)
    if process.is_alive() and answer["status"] == "timeout":
        process.kill()
    process.join()
    return answer


def _death(status: int) -> dict:
    """Say how a process ended that gave no answer; the system kills one when memory ends."""
    if status == -signal.SIGKILL:
        return {"status": "oom", "reason": "the process was killed"}
    ended = (
        f"was ended by {signal.Signals(-status).name}"
        if status < 0
        else f"ended with status {status}"
    )
    return {"status": "error", "reason": f"the process {ended}"}


def _send(pipe, work, arguments) -> None:
    end_with_parent()
    gc.freeze()  # the collector passes over what the parent holds
    try:
        answer = {"status": "ok", "reason": None, **work(*arguments)}
    except (Exception, MemoryError) as error:
        answer = asdict(failure(error))
    pipe.send(answer)
    pipe.close()


def peak_memory(
    make: Callable, device: torch.device, threads: int, budget: int | None = None
) -> dict:
    """Measure the peak of `STEPS` calls of the function that `make()` returns, in bytes above the
    libraries.

    make: loads the model, so its weights count; memory that is free again afterwards does not.
    budget: bytes above the libraries beyond which an allocation fails.
    """
    fix_sums(threads)
    _load_libraries()
    gc.collect()
    reset_peak(device)
    base = peak_bytes(device)
    if budget is not None:
        limit_more_memory(budget, device)
    step, _ = make()
    gc.collect()
    reset_peak(device)
    for _ in range(STEPS):
        step()
    held = peak_bytes(device) - base
    if budget is not None and held > budget:  # the system may have seen to no limit
        raise MemoryError(f"{held:,} bytes used, the budget is {budget:,}")
    return {"bytes": held, "reserved": reserved_bytes(device)}


def _load_libraries() -> None:
    """Make an update of one number: what a first update brings into memory belongs to torch."""
    parameter = torch.nn.Parameter(torch.ones(1))
    optimiser = Adam([parameter], 0.0, 1.0)
    (parameter * parameter).sum().backward()
    optimiser.step()
