"""Where a number comes from: code, machine, libraries."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import psutil
import torch

from workflow.config.environment import ALLOCATOR
from workflow.config.errors import ConfigError
from workflow.config.files import ROOT

LIBRARIES = ("torch", "numpy", "sympy")


def pick_device(name: str) -> torch.device:
    """Return a device by its name; auto: a GPU where there is one. `ConfigError` for a GPU that is not there."""
    if name == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device 'cuda' was asked for and torch sees none; valid here: auto, cpu")
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")


def describe(device: torch.device, precision: str, code: dict, devices: int = 1) -> dict:
    """Describe where a number that is computed now comes from: the fields of a record's `Origin`.

    code: what `workflow.plan.sources.recorded` says of its files. devices: how many of this kind share the work.
    """
    commit, status = _ask_git("rev-parse", "HEAD"), _ask_git("status", "--porcelain")
    cuda = device.type == "cuda"
    return {
        "commit": commit or "unknown",
        "dirty": bool(status) if commit else True,
        "device": torch.cuda.get_device_name(device) if cuda else f"cpu: {_processor()}, {os.cpu_count()} cores",
        "devices": devices,
        "driver": f"CUDA {torch.version.cuda}" if cuda else None,
        "threads": torch.get_num_threads(),
        "allocator": os.environ.get(ALLOCATOR, "as the system has it"),
        "precision": precision if cuda else "fp32",
        "deterministic": not cuda,
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in LIBRARIES}},
        **code,
        "host_memory_bytes": psutil.virtual_memory().total,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _version(name: str) -> str:
    return str(torch.__version__) if name == "torch" else version(name)


def _ask_git(*words: str) -> str | None:
    try:
        answer = subprocess.run(("git", "-C", str(ROOT), *words), capture_output=True, text=True, timeout=20)
    except OSError:
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
