"""What a run does with memory that it frees."""

import platform
import resource

import pytest
import torch

from workflow.costs.fresh_process import in_fresh_process
from workflow.training.hardware import keep_freed_memory

TENSOR = 64 << 20  # bytes
TIMES = 8


def faults(keeps: bool) -> dict:
    """Count the pages that come from the system while a tensor is made again and again."""
    if keeps:
        keep_freed_memory()
    for _ in range(TIMES):  # until there is room for one next to another
        torch.ones(TENSOR // 4)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(TIMES):
        torch.ones(TENSOR // 4)
    return {"pages": resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before}


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator than glibc's")
def test_memory_that_a_run_freed_is_used_again():
    of_one = TENSOR // resource.getpagesize()
    assert in_fresh_process(faults, False)["pages"] >= TIMES * of_one / 4
    assert in_fresh_process(faults, True)["pages"] < of_one / 4
