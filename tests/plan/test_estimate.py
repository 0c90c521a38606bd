"""How long runs take, estimated from runs that have ended."""

import pytest

from tests._finished import timed
from tests._jobs import VARIANTS, job, translation
from workflow.plan.estimate import (
    START,
    Timed,
    TrainingTime,
    estimate,
    memory_bytes,
)

GPU = "NVIDIA H200"


def test_the_fastest_of_equal_runs_counts_and_twice_the_steps_take_twice_the_time():
    """Beyond the start of its process; the slower runs shared the machine with others."""
    known = [timed(job(seed=seed), START + spent) for seed, spent in ((1, 50), (2, 10))]
    assert estimate(job(seed=4), known).seconds == pytest.approx(START + 10)
    longer = estimate(job(steps=24), known)
    assert longer.nearest.record.job.configuration != longer.job.configuration
    assert longer.seconds == pytest.approx(START + 20, rel=0.2)


def test_the_nearest_run_is_of_the_same_task_then_of_this_machine_then_the_most_alike():
    wanted = job(steps=20, evaluate_every=5)
    alike = job(steps=10, evaluate_every=5)
    top_k = job(selection={"name": "top_k", "k": 3}, steps=20, evaluate_every=5)
    other_task = timed(translation(), 5)
    elsewhere = timed(wanted, 3, here=False)

    def nearest(*known: Timed):
        return estimate(wanted, known).nearest.record

    assert nearest(timed(top_k, 9), timed(alike, 7), other_task, elsewhere).job == alike
    assert nearest(other_task, elsewhere).job == wanted
    assert nearest(other_task).job.task == "translation"
    assert memory_bytes(wanted, nearest(other_task)) is None


def test_a_variant_is_estimated_from_itself_rather_than_from_another_of_the_same_work():
    seconds = dict(zip(VARIANTS, range(10, 100), strict=False))
    known = [timed(job(**VARIANTS[name], seed=1), spent) for name, spent in seconds.items()]
    for name, spent in seconds.items():
        assert estimate(job(**VARIANTS[name], seed=2), known).seconds == pytest.approx(spent)


def test_a_gpu_is_estimated_from_runs_on_gpus_and_a_cpu_never_from_them():
    on_cpu = timed(job(seed=1), 100)
    on_gpu = timed(job(seed=2), 10, device=GPU)
    assert not estimate(job(seed=3), [on_cpu, on_gpu]).nearest.is_gpu
    assert estimate(job(seed=3), [on_cpu, on_gpu], gpu=True).seconds == pytest.approx(10)
    assert not TrainingTime.of([job(seed=3)], [on_cpu], 2, gpu=True).on_gpu


@pytest.mark.parametrize(
    "threads, device, wall",
    [(1, "cpu", 500), (2, "cpu", 1000), (1, GPU, 1000)],  # one after the other on a GPU
)
def test_ten_runs_of_100_seconds_share_two_cores(threads, device, wall):
    jobs = [job(seed=seed, threads=threads) for seed in range(10)]
    known = [timed(job(seed=99, threads=threads), 100, device=device)]
    assert TrainingTime.of(jobs, known, 2, gpu=device == GPU).wall == pytest.approx(wall)
