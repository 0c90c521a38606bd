"""How many CPUs a process may use."""

import os

import pytest

from workflow.config import cpus

SECOND = {"cpu.max": "150000 100000\n"}
FIRST = {"cpu/cpu.cfs_quota_us": "250000\n", "cpu/cpu.cfs_period_us": "100000\n"}
NO_QUOTA = {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}


@pytest.mark.parametrize(
    "files, count",
    [(SECOND, 2), (FIRST, 3), (NO_QUOTA, 4), ({"cpu.max": "max 100000\n"}, 4), ({}, 4)],
)
def test_a_quota_is_rounded_up_and_at_most_the_affinity(files, count, tmp_path, monkeypatch):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(cpus, "CGROUPS", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3}, raising=False)
    assert cpus.count_cpus() == count
