"""What ends a run early, and a device that is not there."""

import time

import pytest
import torch

from workflow.config.errors import ConfigError
from workflow.training.guard import TimeLimit, time_limit
from workflow.training.origin import pick_device


def test_a_deadline_passes_quietly_and_rings_only_after_its_grace():
    with time_limit(0.05) as deadline:
        deadline.check()
        time.sleep(0.2)
        with pytest.raises(TimeLimit):
            deadline.check()
    with pytest.raises(TimeLimit), time_limit(0.05, grace=0.05):
        time.sleep(5)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_gpu_that_is_not_there_is_refused():
    with pytest.raises(ConfigError, match="torch sees none; valid here: auto, cpu"):
        pick_device("cuda")
