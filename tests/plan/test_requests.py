"""What jobs ask a scheduler for: more than is estimated, and twice as much at each attempt."""

from types import SimpleNamespace

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
        targets = SimpleNamespace(runs=runs, config=SimpleNamespace(gpus=gpus))
        return Requests(targets, scheduled=scheduled)

    return make


def of_run(made, attempt=1):
    return {key: made.of_run()[key](WILDCARDS, attempt) for key in ("runtime", "mem_mb")}


def test_a_run_asks_for_its_estimate_with_a_margin_and_for_twice_as_much_at_each_attempt(asked):
    made = asked(job(seed=2, time_limit_s=90_000), timed(job(seed=1), 1000))
    first = of_run(made, 1)
    second = of_run(made, 2)
    last = of_run(made, 20)
    assert 60 * first["runtime"] == pytest.approx(NOTICE + OFF * 1000, abs=60)
    assert second["runtime"] == pytest.approx(2 * first["runtime"], abs=1)
    assert last["runtime"] == DAY / 60
    assert first["mem_mb"] * 1e6 == pytest.approx(1.5 * PEAK, rel=1e-3)
    assert last["mem_mb"] == second["mem_mb"] == 2 * first["mem_mb"]


@pytest.mark.parametrize(
    "ended, gpus",
    [([], 0), ([timed(job(), 10)], 1), ([timed(job(steps=12), 10)], 0)],
    ids=["nothing", "on a CPU, for a GPU", "far smaller"],
)
def test_where_nothing_like_it_has_run_it_asks_for_its_limit(asked, ended, gpus):
    made = asked(job(steps=1200, time_limit_s=5000), *ended, gpus=gpus)
    assert of_run(made) == {"runtime": -(-(NOTICE + 5000) // 60), "mem_mb": UNKNOWN}


def test_short_runs_travel_together_and_a_timing_has_its_node_to_itself(asked):
    short = asked(job(seed=2), timed(job(), 5))
    long = asked(job(time_limit_s=9000), timed(job(), 2 * SHORT))
    assert short.group(WILDCARDS) == "short"
    assert long.group(WILDCARDS) is None
    assert short.of_timing()["slurm_extra"] == "--exclusive"
    assert short.of_run()["slurm_extra"] == f"--signal=USR1@{NOTICE}"


def test_without_a_scheduler_only_devices_are_asked_for_and_no_record_is_read(asked, monkeypatch):
    of_two = job(devices=2)
    made = asked(of_two, scheduled=False, gpus=1)
    monkeypatch.setattr(estimate, "read_timed", lambda runs: pytest.fail("a record was read"))
    assert made.of_data() == made.of_timing() == made.of_configuration() == {}
    assert made.group is None
    assert set(made.of_run()) == {"gpu"}
    assert made.of_run()["gpu"](WILDCARDS) == 2  # one a device
