"""What ends a run early, and a device that is not there."""

import signal

import pytest
import torch

from workflow.config.errors import ConfigError
from workflow.training.guard import AGAIN, stopped_by_signals
from workflow.training.origin import pick_device


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_told_to_stop_a_run_saves_between_two_updates_and_ends_so_that_it_is_begun_again(number):
    saved, before = [], signal.getsignal(number)
    with pytest.raises(SystemExit) as ended, stopped_by_signals(lambda: saved.append(1)) as check:
        check()
        signal.raise_signal(number)
        assert not saved
        check()
    assert saved == [1] and ended.value.code == AGAIN
    assert signal.getsignal(number) is before


def test_a_second_signal_does_not_break_off_what_is_being_saved():
    saved = []

    def save() -> None:
        signal.raise_signal(signal.SIGTERM)
        saved.append(1)

    with pytest.raises(SystemExit), stopped_by_signals(save) as check:
        signal.raise_signal(signal.SIGUSR1)
        check()
    assert saved == [1]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_gpu_that_is_not_there_is_refused():
    with pytest.raises(ConfigError, match="torch sees none; valid here: auto, cpu"):
        pick_device("cuda")
