"""How long runs take, estimated from runs that have ended."""

import pytest

from tests._finished import timed
from tests._jobs import VARIANTS, job, translation
from workflow.plan.estimate import (
    START,
    CostTime,
    Timed,
    TrainingTime,
    card_lines,
    estimate,
    memory_bytes,
    spell,
)
from workflow.plan.targets import Targets

GPU = "NVIDIA H200"


def test_the_fastest_of_equal_runs_counts_and_twice_the_steps_take_twice_the_time():
    """Beyond the start of its process; the slower runs shared the machine with others."""
    known = [
        timed(job(seed=1), START + 50),
        timed(job(seed=2), START + 10),
    ]
    equal = estimate(job(seed=4), known)
    assert equal.seconds == pytest.approx(START + 10)
    longer = estimate(job(steps=24), known)
    nearest = longer.nearest.record.job
    assert nearest.configuration != longer.job.configuration
    assert longer.seconds == pytest.approx(START + 20, rel=0.2)


def test_the_nearest_run_is_of_the_same_task_then_of_this_machine_then_the_most_alike():
    wanted = job(steps=20, evaluate_every=5)
    alike = job(steps=10, evaluate_every=5)
    top_k = job(
        selection={"name": "top_k", "k": 3},
        steps=20,
        evaluate_every=5,
    )
    other_task = timed(translation(), 5)
    elsewhere = timed(wanted, 3, here=False)

    def nearest(*known: Timed):
        return estimate(wanted, known).nearest.record

    here = [timed(top_k, 9), timed(alike, 7)]
    assert nearest(*here, other_task, elsewhere).job == alike
    assert nearest(other_task, elsewhere).job == wanted
    of_other_task = nearest(other_task)
    assert of_other_task.job.task == "translation"
    assert memory_bytes(wanted, of_other_task) is None


def test_a_variant_is_estimated_from_itself_rather_than_from_another_of_the_same_work():
    known = []
    for seconds, choices in enumerate(VARIANTS.values(), 10):
        ended = job(**choices, seed=1)
        known.append(timed(ended, seconds))
    for seconds, choices in enumerate(VARIANTS.values(), 10):
        found = estimate(job(**choices, seed=2), known)
        assert found.seconds == pytest.approx(seconds)


def test_a_gpu_is_estimated_from_runs_on_gpus_and_a_cpu_never_from_them():
    on_cpu = timed(job(seed=1), 100)
    on_gpu = timed(job(seed=2), 10, device=GPU)
    wanted = job(seed=3)
    for_cpu = estimate(wanted, [on_cpu, on_gpu])
    assert not for_cpu.nearest.is_gpu
    for_gpu = estimate(wanted, [on_cpu, on_gpu], gpu=True)
    assert for_gpu.seconds == pytest.approx(10)
    without_gpu_runs = TrainingTime.of([wanted], [on_cpu], 2, gpu=True)
    assert not without_gpu_runs.on_gpu


@pytest.mark.parametrize(
    "threads, device, wall",
    [
        (1, "cpu", 500),
        (2, "cpu", 1000),
        # one after the other
        (1, GPU, 1000),
    ],
)
def test_ten_runs_of_100_seconds_share_two_cores(threads, device, wall):
    jobs = [job(seed=seed, threads=threads) for seed in range(10)]
    ended = job(seed=99, threads=threads)
    known = [timed(ended, 100, device=device)]
    time = TrainingTime.of(jobs, known, 2, gpu=device == GPU)
    assert time.wall == pytest.approx(wall)


def test_the_costs_of_a_card_are_estimated_in_seconds_as_training_is():
    def costs(variant: str, seconds: float) -> CostTime:
        targets = Targets.of({"variant": variant, "scale": "smoke", "tasks": ["symbols"]})
        jobs = [targets.runs.job_of(name) for name in targets.runs.configurations]
        return CostTime.of(targets, [timed(each, START + seconds) for each in jobs])

    needed = costs("top_k", 4)
    assert needed.configurations == 6  # the variant and the baseline on three datasets
    assert needed.line(2).startswith(f"costs: about {spell(needed.alone + needed.shared / 2)} on 2")
    assert needed.line(2).endswith("6 configurations")
    slower = costs("top_k", 40)
    assert slower.alone > needed.alone and slower.shared > needed.shared
    # a normaliser of a library is timed with that too
    assert costs("entmax15", 4).alone > needed.alone


def test_a_card_says_before_it_starts_how_long_its_costs_take():
    lines = card_lines(Targets.of({"variant": "top_k", "scale": "smoke", "tasks": ["symbols"]}), 2)
    assert [line.partition(":")[0] for line in lines[1:]] == ["training", "costs"]
    assert "minutes for costs" not in " ".join(lines)
