"""How many CPUs this process may use: its affinity, and the quota of its container."""

import math
import os
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")


def count_cpus() -> int:
    """Count the CPUs that this process may use, at least one."""
    if hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    else:  # on a Mac a process cannot be bound to some of the CPUs
        allowed = os.cpu_count() or 1
    return max(1, min(allowed, _quota()))


def _quota() -> float:
    """Return the CPUs that a container's quota allows, rounded up; infinity without a quota.

    Source: the kernel's Documentation/admin-guide/cgroup-v2.rst (cpu.max), and
    Documentation/scheduler/sched-bwc.rst for version 1.
    """
    second = CGROUPS / "cpu.max"
    first = CGROUPS / "cpu"
    try:
        if second.exists():
            quota, period = second.read_text().split()
        else:
            quota = (first / "cpu.cfs_quota_us").read_text()
            period = (first / "cpu.cfs_period_us").read_text()
    except (OSError, ValueError):
        return math.inf
    # no quota is "max" in version 2, and -1 in version 1
    if quota == "max" or int(quota) <= 0:
        return math.inf
    return math.ceil(int(quota) / int(period))
