"""How long runs take, told from runs that have ended."""

import pytest

from tests._finished import finished, timed
from tests._jobs import VARIANTS, job, translation
from workflow.plan.estimate import (
    START,
    Timed,
    TrainingTime,
    estimate,
    memory_bytes,
    spell,
    spell_hours,
)


def test_a_run_that_was_slowed_down_by_others_does_not_slow_down_the_estimate():
    known = [timed(job(seed=seed), spent) for seed, spent in ((1, 50), (2, 30), (3, 10))]
    assert estimate(job(seed=4), known).seconds == pytest.approx(10)


def test_a_run_takes_as_much_longer_as_it_computes_more():
    """Beyond the start of its process: twice the steps, twice the time."""
    short, long = job(steps=10, evaluate_every=5), job(steps=20, evaluate_every=5)
    found = estimate(long, [timed(short, START + 10)])
    assert found.seconds == pytest.approx(START + 20)
    assert found.nearest.record.job.configuration != found.job.configuration


def test_the_nearest_run_is_of_the_same_task_then_of_this_machine_then_the_most_alike():
    wanted = job(steps=20, evaluate_every=5)
    alike, top_k = (
        job(steps=10, evaluate_every=5),
        job(selection={"name": "top_k", "k": 3}, steps=20, evaluate_every=5),
    )
    known = [
        timed(top_k, 9),
        timed(alike, 7),
        timed(translation(), 5),
        timed(wanted, 3, here=False),
    ]
    assert estimate(wanted, known).nearest.record.job == alike
    assert estimate(wanted, known[2:]).nearest.record.job.configuration == wanted.configuration
    elsewhere = estimate(wanted, known[2:3])
    assert elsewhere.nearest.record.job.task == "translation"
    assert memory_bytes(wanted, elsewhere.nearest.record) is None
    broken = Timed(finished(job()).model_copy(update={"cost": None}), here=True)
    assert estimate(wanted, []) is None and estimate(wanted, [broken]) is None


def test_a_tiny_run_of_this_machine_tells_nothing_of_a_long_one():
    """It mostly starts and ends: a run of another machine with about as much work says more."""
    tiny, long, wanted = (job(steps=steps, evaluate_every=steps) for steps in (2, 1000, 2000))
    known = [timed(tiny, START + 5), timed(long, START + 10, here=False)]
    assert estimate(wanted, known).seconds == pytest.approx(START + 20)
    assert estimate(wanted, known[:1]).nearest.record.job == tiny


def test_a_variant_is_told_from_itself_rather_than_from_another_of_the_same_work():
    known = [
        timed(job(**choices, steps=12, seed=1), number)
        for number, choices in enumerate(VARIANTS.values(), 10)
    ]
    for number, choices in enumerate(VARIANTS.values(), 10):
        assert estimate(job(**choices, steps=12, seed=2), known).seconds == pytest.approx(number)


def test_a_gpu_is_told_from_runs_on_gpus_and_a_cpu_never_from_them():
    on_cpu, on_gpu = timed(job(seed=1), 100), timed(job(seed=2), 10, device="NVIDIA H200")
    assert not estimate(job(seed=3), [on_cpu, on_gpu]).nearest.is_gpu
    assert estimate(job(seed=3), [on_cpu, on_gpu], gpu=True).seconds == pytest.approx(10)
    assert not TrainingTime.of([job(seed=3)], [on_cpu], 2, gpu=True).on_gpu


def test_runs_share_the_cores_and_take_turns_on_a_gpu():
    """Ten runs of 100 s: five one after the other on each of two cores; with two threads each,
    ten.
    """
    jobs = [job(seed=seed) for seed in range(10)]
    assert TrainingTime.of(jobs, [timed(job(seed=99), 100)], 2).wall == pytest.approx(500)
    wide = [job(seed=seed, threads=2) for seed in range(10)]
    assert TrainingTime.of(wide, [timed(job(seed=99, threads=2), 100)], 2).wall == pytest.approx(
        1000
    )
    on_gpu = [timed(job(seed=99), 100, device="NVIDIA H200")]
    assert TrainingTime.of(jobs, on_gpu, 2, gpu=True).wall == pytest.approx(1000)


def test_durations_are_short_in_words():
    assert [spell(seconds) for seconds in (9, 90, 5400)] == ["9 s", "1.5 min", "1.5 h"]
    assert [spell_hours(hours) for hours in (0.0004, 0.1304, 84.2, 4523.4)] == [
        "less than 0.01",
        "0.13",
        "84",
        "4,523",
    ]
