"""Where a number comes from: code, machine, libraries."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version

import psutil
import torch

from models.kernels.compiled.build import compiler_version, threads
from workflow.config.environment import ALLOCATOR
from workflow.config.files import ROOT
from workflow.training.failures import attempt
from workflow.training.hardware import name_of

LIBRARIES = ("numpy", "sympy")


def describe(device: torch.device, precision: str, code: dict, devices: int = 1) -> dict:
    """Describe where a number that is computed now comes from: the fields of a record's `Origin`.

    code: what `workflow.plan.sources.recorded` says of its files. devices: how many of this kind
    share the work. What this machine does not tell is listed under `missing` with the reason, and
    ends nothing.
    """
    cuda = device.type == "cuda"
    missing: dict[str, str] = {}
    commit = "unknown"
    with attempt(missing, ["commit"]):
        commit = _ask_git("rev-parse", "HEAD")
    dirty = True
    if commit != "unknown":
        with attempt(missing, ["dirty"]):
            dirty = bool(_ask_git("status", "--porcelain"))
    versions = dict.fromkeys(LIBRARIES, "unknown")
    for name in LIBRARIES:
        with attempt(missing, [name]):
            versions[name] = version(name)
    if not cuda:
        versions["compiler"] = "unknown"
        with attempt(missing, ["compiler"]):
            versions["compiler"] = compiler_version()
    memory = None
    with attempt(missing, ["host_memory_bytes"]):
        memory = psutil.virtual_memory().total
    return {
        "commit": commit,
        "dirty": dirty,
        "device": name_of(device),
        "devices": devices,
        "driver": f"CUDA {torch.version.cuda}" if cuda else None,
        "threads": threads(),
        "allocator": os.environ.get(ALLOCATOR, "as the system has it"),
        "precision": precision if cuda else "fp32",
        "deterministic": not cuda,
        "versions": {
            "python": platform.python_version(),
            "torch": str(torch.__version__),
            **versions,
        },
        **code,
        "host_memory_bytes": memory,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "missing": missing,
    }


def _ask_git(*words: str) -> str:
    """Return git's answer about the suite's own repository, and no other around it.

    `OSError` if it gives none: no git, no repository, one of another owner. An error of
    `subprocess` if it takes too long.
    """
    variables = {"GIT_CEILING_DIRECTORIES": str(ROOT.parent), "LC_ALL": "C"}
    for name, value in os.environ.items():
        is_setting = name.startswith("GIT_") and "CONFIG" not in name
        if not is_setting:
            variables.setdefault(name, value)
    command = ("git", "--no-optional-locks", "-C", str(ROOT), *words)
    answer = subprocess.run(
        command, capture_output=True, text=True, errors="replace", timeout=20, env=variables
    )
    if answer.returncode:
        raise OSError(answer.stderr.strip())
    return answer.stdout.strip()
