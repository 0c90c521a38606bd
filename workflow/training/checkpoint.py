"""The whole state of a run in one file: written atomically, read without executing code in it."""

import hashlib
from pathlib import Path

import torch

from workflow.config.errors import ConfigError
from workflow.config.files import atomic_write, open_zip
from workflow.config.job import Job


def save(path: Path, state: dict) -> None:
    """Write tensors, numbers, text, lists and dicts of them. A crash leaves the previous file or
    this one.
    """
    with atomic_write(path) as file:
        torch.save(state, file)


def digest_of(weights: dict[str, torch.Tensor]) -> str | None:
    """Digest the weights of a net, in the order of their names: 16 hexadecimal digits; None where
    there are none.
    """
    told = hashlib.sha256()
    for name, tensor in sorted(weights.items()):
        told.update(f"{name} {tuple(tensor.shape)} {tensor.dtype} ".encode())
        told.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return told.hexdigest()[:16] if weights else None


def load_story(path: Path, job: Job, source: str) -> dict:
    """Read curve and log of a run as it was last saved by this code, and its weights where that was
    its last step.
    """
    if not path.exists():
        return {}
    state = load(path, job.digest, torch.device("cpu"), mmap=True)
    kept = ["curve", "log", "losses", *(["net"] if state["step"] == job.training.steps else [])]
    return {name: state[name] for name in kept} if state["source"] == source else {}


def load(path: Path, digest: str, device: torch.device, mmap: bool = False) -> dict:
    """Read the state saved for the job `digest`. `ConfigError` where the file is truncated, foreign
    or another job's.

    mmap: tensors stay in the file until they are read, so that looking at what is there takes no
    memory.
    """
    try:
        # what torch writes is not packed, so nothing in it swells
        with open_zip(path, path.stat().st_size):
            state = torch.load(path, map_location=device, weights_only=True, mmap=mmap)
    except (OSError, MemoryError, torch.OutOfMemoryError, ConfigError):
        raise  # says nothing about what the file holds
    except (
        Exception
    ):  # foreign bytes make torch raise nearly anything, KeyError and IndexError among it
        raise ConfigError(
            f"{path}: not a checkpoint of this suite, or truncated; delete it to start again"
        ) from None
    if (found := state.get("digest") if isinstance(state, dict) else None) != digest:
        raise ConfigError(
            f"{path}: a checkpoint of job {found}, not of {digest}; delete it to start again"
        )
    return state
