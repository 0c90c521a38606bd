"""The whole state of a run in one file: written atomically, read without executing code in it.

Random numbers belong to that state, most of them of dropout. Each device draws other ones, and they
are the same after an interruption.
"""

import hashlib
from pathlib import Path

import torch
from torch import Tensor

from workflow.config.errors import ConfigError
from workflow.config.files import atomic_write, open_zip
from workflow.config.job import Job
from workflow.training.evaluation import Story
from workflow.training.hardware import generators
from workflow.training.processes import Devices

APART = 1 << 40  # a device's seed is so far from another's


def save(path: Path, state: dict) -> None:
    """Write tensors, numbers, strings, lists and dicts of them.

    A crash leaves the previous file or this one.
    """
    with atomic_write(path) as file:
        torch.save(state, file)


def digest_of(weights: dict[str, Tensor]) -> str | None:
    """Digest the weights of a model: 16 hexadecimal digits; None where there are none."""
    if not weights:
        return None
    digest = hashlib.sha256()
    for name, tensor in sorted(weights.items()):
        header = f"{name} {tuple(tensor.shape)} {tensor.dtype} "
        digest.update(header.encode())
        flat = tensor.detach().cpu().contiguous().view(-1)
        content = flat.view(torch.uint8).numpy()
        digest.update(content.tobytes())
    return digest.hexdigest()[:16]


def load_story(path: Path, job: Job, source: str) -> Story:
    """Read the story of a run as it was last saved by this code; weights if it was trained then."""
    if not path.exists():
        return Story()
    state = load(path, job.digest, torch.device("cpu"), mmap=True)
    if state["source"] != source:
        return Story()
    is_trained = state["step"] == job.training.steps
    return Story(
        curve=state["curve"],
        log=state["log"],
        losses=state["losses"],
        weights=state["net"] if is_trained else {},
    )


def load(path: Path, digest: str, device: torch.device, mmap: bool = False) -> dict:
    """Read the state saved for the job `digest`.

    `ConfigError` where the file is truncated, foreign or another job's.
    mmap: tensors stay in the file until they are read, so that looking at it takes no memory.
    """
    try:
        # what torch writes is not packed, so nothing in it swells
        with open_zip(path, path.stat().st_size):
            state = torch.load(path, map_location=device, weights_only=True, mmap=mmap)
    except (OSError, MemoryError, torch.OutOfMemoryError, ConfigError):
        raise  # says nothing about what the file holds
    except Exception:
        # foreign bytes make torch raise nearly anything, KeyError and IndexError among it
        problem = "not a checkpoint of this suite, or truncated"
        raise ConfigError(f"{path}: {problem}; delete it to start again") from None
    found = state.get("digest") if isinstance(state, dict) else None
    if found != digest:
        problem = f"a checkpoint of job {found}, not of {digest}"
        raise ConfigError(f"{path}: {problem}; delete it to start again")
    return state


def seed_device(devices: Devices, number: int) -> None:
    """Seed all devices but the first, so that each drops other numbers.

    The first goes on as a run on a single device.
    """
    if not devices.first:
        torch.manual_seed(APART * devices.rank + number)


def random_states(devices: Devices, device: torch.device) -> dict[str, Tensor]:
    """Return the states by kind of generator, a row for each device."""
    states = {}
    for kind, generator in generators(device).items():
        states[kind] = devices.join(generator.get_state()[None], dim=0)
    return states


def restore_random_states(
    states: dict[str, Tensor], devices: Devices, device: torch.device, number: int
) -> None:
    """Set what `random_states` returned; a device that has no row is seeded with `number`."""
    if devices.rank >= len(states["cpu"]):
        seed_device(devices, number)
        return
    for kind, generator in generators(device).items():
        if kind in states:  # a run that began on a CPU has none of a GPU
            # torch misreads a view
            row = states[kind][devices.rank]
            generator.set_state(row.to("cpu", copy=True))
