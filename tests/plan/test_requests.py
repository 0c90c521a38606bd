"""What jobs ask a scheduler for: more than is estimated, and twice as much at each attempt."""

import math
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from tests._finished import timed
from tests._jobs import job
from workflow.plan import estimate
from workflow.plan.estimate import DAY, NOTICE, OFF, SHORT, UNKNOWN, Requests

PEAK = 1 << 30  # bytes of what tests._finished made up
WILDCARDS = SimpleNamespace(digest="digest", configuration="configuration")


@pytest.fixture
def asked(monkeypatch):
    """Return a function that makes the requests of one planned job, where such runs ended."""

    def make(planned, *ended, scheduled=True, gpus=0):
        monkeypatch.setattr(estimate, "read_timed", lambda runs: list(ended))
        runs = SimpleNamespace(
            jobs={"digest": planned},
            configurations={"configuration": "digest"},
        )
        config = SimpleNamespace(gpus=gpus)
        targets = SimpleNamespace(runs=runs, config=config)
        return Requests(targets, scheduled=scheduled)

    return make


def of_run(made, attempt=1):
    """Return the minutes and megabytes that a run asks for at an attempt."""
    functions = made.of_run()
    return {
        "runtime": functions["runtime"](WILDCARDS, attempt),
        "mem_mb": functions["mem_mb"](WILDCARDS, attempt),
    }


def test_a_run_asks_for_its_estimate_with_a_margin_and_for_twice_as_much_at_each_attempt(asked):
    planned = job(seed=2, time_limit_s=90_000)
    ended = timed(job(seed=1), 1000)
    made = asked(planned, ended)
    first = of_run(made, 1)
    second = of_run(made, 2)
    last = of_run(made, 20)
    seconds = 60 * first["runtime"]
    assert seconds == pytest.approx(NOTICE + OFF * 1000, abs=60)
    twice = 2 * first["runtime"]
    assert second["runtime"] == pytest.approx(twice, abs=1)
    assert last["runtime"] == DAY / 60
    memory = 1e6 * first["mem_mb"]
    assert memory == pytest.approx(1.5 * PEAK, rel=1e-3)
    assert second["mem_mb"] == 2 * first["mem_mb"]
    assert last["mem_mb"] == second["mem_mb"]


@pytest.mark.parametrize(
    "ended, gpus",
    [([], 0), ([timed(job(), 10)], 1), ([timed(job(steps=12), 10)], 0)],
    ids=["nothing", "on a CPU, for a GPU", "far smaller"],
)
def test_where_nothing_like_it_has_run_it_asks_for_its_limit(asked, ended, gpus):
    planned = job(steps=1200, time_limit_s=5000)
    made = asked(planned, *ended, gpus=gpus)
    minutes = math.ceil((NOTICE + 5000) / 60)
    assert of_run(made) == {"runtime": minutes, "mem_mb": UNKNOWN}


def test_short_runs_travel_together_and_a_timing_has_its_node_to_itself(asked):
    short = asked(job(seed=2), timed(job(), 5))
    long = asked(job(time_limit_s=9000), timed(job(), 2 * SHORT))
    assert short.group(WILDCARDS) == "short"
    assert long.group(WILDCARDS) is None
    timing = short.of_timing()
    assert timing["slurm_extra"] == "--exclusive"
    training = short.of_run()
    assert training["slurm_extra"] == f"--signal=USR1@{NOTICE}"


def test_without_a_scheduler_only_devices_are_asked_for_and_no_record_is_read(asked, monkeypatch):
    of_two = job(devices=2)
    made = asked(of_two, scheduled=False, gpus=1)
    unread = Mock(side_effect=AssertionError("a record was read"))
    monkeypatch.setattr(estimate, "read_timed", unread)
    assert made.of_data() == {}
    assert made.of_timing() == {}
    assert made.of_configuration() == {}
    assert made.group is None
    asks = made.of_run()
    assert set(asks) == {"gpu"}
    # one a device
    assert asks["gpu"](WILDCARDS) == 2
