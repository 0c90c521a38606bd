"""What several devices send each other, worked out by hand."""

import pytest

from workflow.costs.sharing import bytes_sent, efficiency, shared_seconds


def test_two_devices_send_half_the_gradients_twice():
    assert bytes_sent(1_000_000, 2) == 4_000_000
    assert bytes_sent(1_000_000, 8) == 2 * 7 * 500_000


def test_a_device_alone_sends_nothing():
    assert bytes_sent(1_000_000, 1) == 0 and shared_seconds(0.5, 1_000_000, 1, 1e9) == 0.5


def test_what_is_left_of_eight_times_the_speed():
    """7 MB at 7 GB/s are 1 ms; an eighth of 72 ms are 9 ms."""
    assert shared_seconds(0.009, 1_000_000, 8, 7e9) == pytest.approx(0.010)
    assert efficiency(0.072, 0.010, 8) == pytest.approx(0.9)
