"""How long runs take, estimated from runs that have ended."""

import pytest

from tests._finished import timed
from tests._jobs import VARIANTS, job, translation
from workflow.config.choices import choice_names
from workflow.plan import estimate as estimates
from workflow.plan.estimate import (
    START,
    CostTime,
    Countdown,
    Timed,
    TrainingTime,
    Waiting,
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


def test_a_choice_without_compiled_code_takes_as_long_as_another_without():
    compiled = timed(job(normaliser={"name": "softmax"}), 10)
    in_torch = timed(job(selection={"name": "top_p", "p": 0.5}), 40)
    known = [compiled, in_torch]
    assert estimate(job(normaliser={"name": "learned_sink"}), known).nearest is in_torch
    assert estimate(job(normaliser={"name": "entmax15"}), known).nearest is compiled


def test_a_run_whose_choice_was_deleted_breaks_no_estimate(monkeypatch):
    gone = timed(job(normaliser={"name": "sparsemax"}), 40)
    there = [name for name in choice_names("normaliser") if name != "sparsemax"]
    names = {"normaliser": tuple(there)}
    monkeypatch.setattr(
        estimates, "choice_names", lambda axis: names.get(axis) or choice_names(axis)
    )
    assert estimate(job(), [gone]).nearest is gone


def test_the_costs_of_a_card_are_estimated_in_seconds_as_training_is():
    def costs(variant: str, seconds: float) -> CostTime:
        targets = Targets.of({"variant": variant, "scale": "smoke", "tasks": ["symbols"]})
        jobs = [targets.runs.job_of(name) for name in targets.runs.configurations]
        return CostTime.of(targets, [timed(each, START + seconds) for each in jobs], cores=2)

    def alone(needed: CostTime) -> float:
        return sum(each for file, each in needed.seconds.items() if "/throughput/" in file)

    needed = costs("top_k", 4)
    assert needed.configurations == 6  # the variant and the baseline on three datasets
    total = sum(needed.seconds.values())
    assert needed.line(2).startswith(f"costs: about {spell(total)} on 2")
    assert needed.line(2).endswith("6 configurations")
    slower = costs("top_k", 40)
    assert all(slower.seconds[file] > each for file, each in needed.seconds.items())
    # a normaliser of a library is timed with that too
    assert alone(costs("entmax15", 4)) > alone(needed)


def test_what_is_left_of_a_card_follows_what_has_ended():
    """Of a configuration that took twice the estimate, and one that is not known yet."""
    known = Waiting("known", seconds=50, share=0.5)
    other = Waiting("other", seconds=30, share=0.5)
    ended = {}
    runs = {"a": known, "b": known, "c": other}
    countdown = Countdown(runs, {"no/such/file": 60}, ended.get)
    began = countdown.changed
    assert countdown.line(began + 10) == "about 3.0 min left; 0 of 3 runs trained"
    # 200 s on half of the machine: b as long, c twice its estimate
    ended["a"] = 200.0
    assert countdown.line(began + 100) == "about 3.7 min left; 1 of 3 runs trained"
    assert countdown.line(began + 140) == "about 3.0 min left; 1 of 3 runs trained"
    # nothing says that it will be done in time
    assert countdown.line(began + 1000) == "about 1.8 min left; 1 of 3 runs trained"


def test_a_card_says_before_it_starts_how_long_its_costs_take():
    lines = card_lines(Targets.of({"variant": "top_k", "scale": "smoke", "tasks": ["symbols"]}), 2)
    assert [line.partition(":")[0] for line in lines[1:]] == ["training", "costs"]
    assert "minutes for costs" not in " ".join(lines)
