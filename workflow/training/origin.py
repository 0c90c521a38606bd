"""Where a number comes from: code, machine, libraries."""

import hashlib
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import psutil
import torch

from workflow.config.environment import allocator
from workflow.config.errors import ConfigError
from workflow.results.record import Origin

ROOT = Path(__file__).parent.parent.parent
DECIDES = ("models", "workflow/training", "workflow/tasks", "workflow/data", "workflow/scripts/train.py")
LIBRARIES = ("torch", "numpy", "sympy")


def source_digest() -> str:
    """12 hexadecimal digits over every source file that can change a run's numbers."""
    found = hashlib.sha256()
    for place in DECIDES:
        files = [ROOT / place] if place.endswith(".py") else sorted((ROOT / place).rglob("*.py"))
        for path in files:
            found.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:12]


def pick_device(asked: str) -> torch.device:
    """auto: a GPU where there is one."""
    if asked == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device 'cuda' was asked for and torch sees none; valid here: auto, cpu")
    return torch.device("cuda" if asked != "cpu" and torch.cuda.is_available() else "cpu")


def describe(device: torch.device, precision: str) -> Origin:
    commit, status = _git("rev-parse", "HEAD"), _git("status", "--porcelain")
    cuda = device.type == "cuda"
    return Origin(
        commit=commit or "unknown",
        dirty=bool(status) if commit else True,
        source=source_digest(),
        device=torch.cuda.get_device_name(device) if cuda else f"cpu: {_processor()}, {os.cpu_count()} cores",
        driver=f"CUDA {torch.version.cuda}" if cuda else None,
        threads=torch.get_num_threads(),
        allocator=allocator(),
        precision=precision if cuda else "fp32",
        deterministic=not cuda,
        versions={"python": platform.python_version(), **{name: _version(name) for name in LIBRARIES}},
        host_memory_bytes=psutil.virtual_memory().total,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _version(name: str) -> str:
    return str(torch.__version__) if name == "torch" else version(name)


def _git(*words: str) -> str | None:
    try:
        done = subprocess.run(("git", "-C", str(ROOT), *words), capture_output=True, text=True, timeout=20)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
