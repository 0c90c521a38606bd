"""Told to stop while it saves, a run saves to the end; test_interruption.py tells real runs to stop."""

import signal

import pytest

from workflow.training.guard import stopped_by_signals


def test_a_second_signal_does_not_break_off_what_is_being_saved():
    saved = []

    def save() -> None:
        signal.raise_signal(signal.SIGTERM)
        saved.append(1)

    with pytest.raises(SystemExit), stopped_by_signals(save) as check:
        signal.raise_signal(signal.SIGUSR1)
        check()
    assert saved == [1]
