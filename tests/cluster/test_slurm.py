"""A run through a real SLURM of one node: what it asks for, and what becomes of it when it is interrupted.

Other ways to interrupt it are tried by hand, and so is scale smoke whole: see interrupted.py and slurm.py.
"""

import importlib.util
import tempfile
from pathlib import Path

import pytest

from tests.cluster.interrupted import interrupted, same_bits
from tests.cluster.slurm import missing, one_node
from workflow.plan.requests import UNKNOWN

PLUGIN = "snakemake_executor_plugin_slurm"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.skipif(importlib.util.find_spec(PLUGIN) is None, reason="the extra `cluster` is not installed"),
]


@pytest.fixture(scope="module")
def node():
    """The environment of a cluster of one node."""
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        cluster = one_node(Path(folder))
        try:
            environment = cluster.__enter__()
        except (RuntimeError, OSError) as error:
            pytest.skip(str(error))
        yield environment
        cluster.__exit__(None, None, None)


def test_a_run_that_slurm_interrupts_asks_for_more_time_and_ends_with_the_same_bits(node, tmp_path):
    """By `scancel --signal=USR1`; as none has ended, it asks for its own limit of eight minutes, and two more."""
    first, again = interrupted("SIGUSR1", tmp_path / "suite", node)
    assert (first["JobState"], again["JobState"]) == ("FAILED", "COMPLETED")
    assert (first["TimeLimit"], again["TimeLimit"]) == ("00:10:00", "00:20:00")
    assert (first["MinMemoryNode"], again["MinMemoryNode"]) == (f"{UNKNOWN}M", f"{2 * UNKNOWN}M")
    assert first["NumCPUs"] == "1" and same_bits(tmp_path / "suite", node)
