"""What a run does with memory that it frees."""

import platform
import resource
import subprocess
import sys

import pytest

TENSOR = 64 << 20  # bytes
TIMES = 8
# Pages that come from the system while a tensor is made again and again, after as many times in
# which room is made for one next to another.
COUNT = f"""
import resource
import torch
from workflow.training.hardware import keep_freed_memory

def faults():
    for _ in range({TIMES}):
        torch.ones({TENSOR // 4})
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

"""


def pages(first: str) -> int:
    """Count in a process of its own, as options of the allocator cannot be taken back."""
    code = f"{COUNT}{first}\nprint(-faults() + faults())"
    counted = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert counted.returncode == 0, counted.stderr
    return int(counted.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator than glibc's")
def test_memory_that_a_run_freed_is_used_again():
    of_one = TENSOR // resource.getpagesize()
    assert pages("") >= TIMES * of_one / 4
    assert pages("keep_freed_memory()") < of_one / 4
