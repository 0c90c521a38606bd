"""What a container leaves a process of the machine's cores and memory (Linux's control groups, both versions)."""

import os
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
NO_LIMIT = 1 << 60  # bytes; version 1 says "none" by a larger number


def cores() -> float:
    """That this process may use: those it is pinned to, and no more time than its container is given."""
    pinned = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota, _, period = (_read("cpu.max") or "max").partition(" ")
    if quota == "max":
        quota, period = _read("cpu/cpu.cfs_quota_us") or "-1", _read("cpu/cpu.cfs_period_us") or "0"
    given = int(quota) / int(period or 0) if quota.isdecimal() and (period or "0") != "0" else pinned
    return min(pinned, given)


def memory_limit() -> int | None:
    """Bytes that the container may hold; None where nothing limits it."""
    limit = _read("memory.max") or _read("memory/memory.limit_in_bytes") or "max"
    return int(limit) if limit.isdecimal() and int(limit) < NO_LIMIT else None


def _read(name: str) -> str | None:
    try:
        return (CGROUP / name).read_text(encoding="utf-8").strip()
    except OSError:
        return None
