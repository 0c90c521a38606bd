"""Each check of the doctor passes where all is well, and finds what it is there for."""

import locale
from functools import partial
from types import SimpleNamespace

import pytest
import torch

from models.attention.engine.engine import Engine
from models.kernels.compiled import build
from tests._jobs import job
from tests._training import CPU, write_job
from workflow.costs import fresh_process
from workflow.doctor import container, libraries, machine, measures, numbers, scales, training
from workflow.doctor.finding import NOTE, OK, WRONG, examine, line
from workflow.plan.targets import Targets

CUDA = torch.device("cuda")


def by_name(found) -> dict:
    return {each.about: each for each in found}


@pytest.fixture
def few_numbers(monkeypatch):
    monkeypatch.setattr(numbers, "CHOICES", ("top-k",))
    monkeypatch.setattr(numbers, "types_of", lambda device: [torch.float64])


def test_every_backend_gives_the_definitions_numbers(few_numbers):
    found = by_name(numbers.look_at_numbers(CPU))
    names = ["definition", "band", "small", "gather", *([] if build.obstacle(torch.float64) else ["compiled"])]
    assert {each.split(",")[0] for each in found} == set(names) and {each.status for each in found.values()} == {OK}


@pytest.mark.parametrize("factor", [1 + 1e-6, float("nan")])
def test_a_backend_with_other_numbers_is_wrong_and_named(factor, few_numbers, monkeypatch):
    results = numbers.results

    def broken(name, implementation, *device):
        found = results(name, implementation, *device)
        fault = isinstance(implementation, Engine) and implementation.backend.name == "gather"
        return found | {"one by one": factor * found["one by one"]} if fault else found

    monkeypatch.setattr(numbers, "results", broken)
    found = by_name(numbers.look_at_numbers(CPU))
    wrong = [name for name, each in found.items() if each.status == WRONG]
    assert wrong == ["gather, cpu, float64"] and found[wrong[0]].said.endswith("top-k: one by one")


def test_on_a_gpu_the_kernel_is_looked_at_in_every_type_and_nothing_of_the_cpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: True)
    monkeypatch.setattr(numbers, "find_spec", lambda name: True)
    assert numbers.types_of(CUDA) == [torch.float64, torch.float32, torch.bfloat16]
    assert numbers.backends_of(CUDA, torch.bfloat16) == ["definition", "band", "small", "gather", "triton"]
    monkeypatch.setattr(numbers, "find_spec", lambda name: None)
    assert "triton" not in numbers.backends_of(CUDA, torch.float32)


def test_16_bits_are_allowed_what_the_definition_rounds(monkeypatch):
    monkeypatch.setattr(numbers, "distances", lambda *given: [numbers.Distance(0.05, 1.0, "")])
    oracle = dict.fromkeys(numbers.CHOICES)
    assert numbers.bounds_of(CUDA, torch.bfloat16, oracle) == pytest.approx(dict.fromkeys(numbers.CHOICES, 0.15))
    assert numbers.bounds_of(CPU, torch.float32, oracle)["fixed"] == 1e-4


@pytest.mark.parametrize("compiler, status", [("/bin/false", WRONG), ("no-such-compiler", WRONG), ("", NOTE)])
def test_a_broken_compiler_is_wrong_and_none_is_slow(compiler, status, monkeypatch, tmp_path):
    monkeypatch.setenv("CC", compiler)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    build._attempt.cache_clear()
    (found,) = libraries.look_at_compiler()
    build._attempt.cache_clear()
    assert found.status == status and "half the speed" in found.said


def test_a_gpu_that_torch_does_not_see_is_wrong(monkeypatch, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setenv("PATH", str(tmp_path))
    (found,) = libraries.look_at_gpu()
    assert found.status == OK and found.said.startswith("none")
    listing = tmp_path / "nvidia-smi"
    listing.write_text("#!/bin/sh\necho 'GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)'\n")
    listing.chmod(0o755)
    (found,) = libraries.look_at_gpu()
    assert found.status == WRONG and "NVIDIA H100 80GB HBM3, and torch, built" in found.said


@pytest.mark.parametrize("half, status", [(True, OK), (False, NOTE)])
def test_a_gpu_is_described(half, status, monkeypatch):
    about = SimpleNamespace(name="NVIDIA H100", total_memory=80 << 30, major=9, minor=0)
    for name, value in {"is_available": True, "is_bf16_supported": half}.items():
        monkeypatch.setattr(torch.cuda, name, lambda value=value: value)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: about)
    (found,) = libraries.look_at_gpu()
    assert found.status == status and found.said.startswith("NVIDIA H100, 80 GiB, compute 9.0")


def test_triton_is_missed_on_a_gpu_alone(monkeypatch):
    monkeypatch.setattr(libraries, "find_spec", lambda name: None)
    assert [next(libraries.look_at_triton(device)).status for device in (CPU, CUDA)] == [OK, NOTE]


def test_a_known_amount_is_counted_and_twice_the_limit_is_refused():
    assert [each.status for each in measures.look_at_memory_counter("cpu")] == [OK, OK]


def test_a_counter_that_counts_nothing_and_a_limit_that_limits_nothing_are_wrong(monkeypatch):
    blind = {"status": "ok", "reason": None, "bytes": 1000}
    monkeypatch.setattr(measures, "in_fresh_process", lambda *given: blind)
    assert [each.status for each in measures.look_at_memory_counter("cpu")] == [WRONG, WRONG]
    monkeypatch.setattr(fresh_process, "reset_peak", lambda device: None)
    monkeypatch.setattr(measures, "in_fresh_process", fresh_process.in_fresh_process)
    monkeypatch.setattr(measures, "pick_device", lambda name: 1 / 0)
    (found,) = measures.look_at_memory_counter("cpu")
    assert found.status == WRONG and "ZeroDivisionError" in found.said


@pytest.mark.parametrize("times, device, status", [((1, 2), CPU, OK), ((1, 1), CPU, NOTE), ((1, 1), CUDA, WRONG)])
def test_a_clock_that_does_not_follow_the_work(times, device, status, monkeypatch):
    given = iter([*times] * measures.TRIES + [9])
    monkeypatch.setattr(measures, "turn", lambda run, seconds, device: [next(given)])
    monkeypatch.setattr(measures, "_seconds_on_gpu", lambda run: 9)
    monkeypatch.setattr(
        torch, "randn", partial(torch.zeros, dtype=torch.float32) if device == CPU else lambda *a, **b: 0
    )
    assert next(measures.look_at_clock(device)).status == status


@pytest.mark.parametrize("by_gpu, status", [(9.0, OK), (11.0, WRONG)])
def test_a_timing_that_does_not_wait_for_the_gpu_is_wrong(by_gpu, status, monkeypatch):
    given = iter([1, 2, 9])
    monkeypatch.setattr(measures, "turn", lambda run, seconds, device: [next(given)])
    monkeypatch.setattr(measures, "_seconds_on_gpu", lambda run: by_gpu)
    monkeypatch.setattr(torch, "randn", lambda *shape, device: None)
    assert [each.status for each in measures.look_at_clock(CUDA)] == [OK, status]


def test_other_bits_are_wrong_on_a_cpu_and_told_of_a_gpu():
    one, other = {"w": torch.ones(2)}, {"w": torch.tensor([1.0, 1.0 + 1e-7])}
    judged = [training._same("", one, two, device).status for two in (one, other) for device in (CPU, CUDA)]
    assert judged == [OK, OK, WRONG, NOTE]


def test_a_training_that_the_workflow_could_not_start_is_wrong(tmp_path):
    write_job(job(), tmp_path)
    found = training._started("started", job(), tmp_path / "none.npz", tmp_path, CPU)
    assert found.status == WRONG and "none.npz" in found.said


def test_what_a_container_leaves(monkeypatch, tmp_path):
    monkeypatch.setattr(container, "CGROUP", tmp_path)
    monkeypatch.setattr(container.os, "sched_getaffinity", lambda process: range(8), raising=False)
    monkeypatch.setattr(machine.os, "cpu_count", lambda: 8)
    assert (container.cores(), container.memory_limit()) == (8, None)
    assert [next(look()).status for look in (machine.look_at_cores, machine.look_at_memory)] == [OK, OK]
    (tmp_path / "cpu.max").write_text("150000 100000\n")
    (tmp_path / "memory.max").write_text(f"{1 << 30}\n")
    (cores,), (memory,) = machine.look_at_cores(), machine.look_at_memory()
    assert (cores.status, cores.said) == (NOTE, "1.5 of 8: start Snakemake with --cores 1")
    assert memory.status == WRONG and "the container's limit" in memory.said
    (tmp_path / "cpu.max").unlink()
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("-1")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000")
    assert container.cores() == 8


def test_a_folder_that_cannot_be_written_is_wrong(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    assert {each.status for each in machine.look_at_disk(tmp_path)} == {OK}
    monkeypatch.setattr(machine, "cache_folder", lambda: tmp_path / "file" / "cache")
    found = by_name(machine.look_at_disk(tmp_path))
    assert found["cache"].status == WRONG and "Not a directory" in found["cache"].said


def test_a_locale_that_cannot_write_every_letter_is_wrong(monkeypatch):
    monkeypatch.setattr(locale, "getpreferredencoding", lambda do_setlocale: "ANSI_X3.4-1968")
    found = by_name(machine.look_at_system())
    assert found["Python"].status == OK
    assert found["locale"].status == WRONG and "set LANG=C.UTF-8" in found["locale"].said


def test_a_scale_is_told_from_records_and_a_gpu_without_one_is_not_guessed(monkeypatch, tmp_path):
    monkeypatch.setattr(scales, "known_scales", lambda: ["smoke"])
    (found,) = scales.look_at_scales(tmp_path, "cpu")
    assert found.status == OK and "about" in found.said
    (found,) = scales.look_at_scales(tmp_path, "cuda")
    assert found.status == NOTE and "no record of a GPU" in found.said


def test_the_job_that_is_trained_has_a_record_and_is_cut_short():
    targets: Targets = scales.targets_of("laptop", "cpu")
    picked = training.pick_job(targets.runs.jobs)
    assert (picked.task, picked.corpus) == ("char_lm", training.TEXT) and training.precomputed(picked.digest)
    assert training.short(picked).training.steps == training.UPDATES


def test_a_check_that_breaks_is_wrong_and_the_others_go_on():
    (found,) = examine("clock", lambda: 1 / 0)
    assert line(found).split() == ["clock", "WRONG", "ZeroDivisionError:", "division", "by", "zero"]
