"""What `workflow.cli.estimate` prints."""

import math

import pytest

from tests import _jobs
from tests._finished import finished
from workflow.cli import estimate as command
from workflow.config.errors import ConfigError
from workflow.config.files import ROOT
from workflow.config.strict import read_yaml
from workflow.plan.estimate import SHARE, load_devices, spell_hours, training_operations
from workflow.plan.targets import Targets
from workflow.results import store
from workflow.results.record import write_record

ASKED = {"scale": "smoke", "questions": ["span_limit"]}
WORDS = ["--config", "scale=smoke", "questions=[span_limit]", "device=cpu"]


@pytest.fixture
def printed(tmp_path, capsys):
    """Return a function that runs the command in an empty folder of results."""
    results = tmp_path / "results"
    results.mkdir()

    def run(*words):
        command.main([*words, "--results", str(results), "--cores", "2"])
        return capsys.readouterr().out

    return run


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    folder = tmp_path / "precomputed"
    monkeypatch.setattr(store, "PRECOMPUTED", folder)
    return folder


def planned():
    config = read_yaml(ROOT / "config" / "config.yaml")
    targets = Targets.of(config | ASKED)
    return targets.runs.jobs


def test_it_counts_what_would_run_and_writes_nothing(printed, tmp_path):
    said = printed(*WORDS)
    assert f"{len(planned())} to train" in said
    assert "config/scales/smoke/char_lm.yaml" in said
    results = tmp_path / "results"
    assert not list(results.iterdir())


def test_operations_of_a_training_by_hand():
    """Two layers of width 8 and inner width 16, S = 16.

    2 (4 * 64 + 2 * 128) numbers in matrices, 2 * 2 * 16 * 8 in attention; three passes of two
    operations for each, 20 updates of 4 streams of 8 characters.
    """
    job = _jobs.job(
        span={"name": "fixed", "limit": 16},
        net={"layers": 2, "d_model": 8, "heads": 2, "d_ff": 16},
        block=8,
        batch=4,
        steps=20,
    )
    matrices = 2 * (4 * 64 + 2 * 128)
    attention = 2 * 2 * 16 * 8
    characters = 20 * 4 * 8
    by_hand = 3 * 2 * characters * (matrices + attention)
    assert training_operations(job) == by_hand


def test_for_a_named_device_it_predicts_the_hours_of_all_runs(printed):
    jobs = planned().values()
    device = load_devices()["H100 SXM"]
    operations = sum(map(training_operations, jobs))
    seconds = operations / (SHARE * device.fp32)
    hours = spell_hours(seconds / 3600)
    said = printed(*WORDS, "--on", "H100 SXM")
    assert f"H100 SXM: about {hours} hours to train all {len(jobs)} runs" in said
    with pytest.raises(ConfigError, match="'H100': did you mean 'H100 SXM'"):
        printed("--on", "H100")


def test_runs_are_done_or_failed_or_precomputed_or_to_train(printed, tmp_path, shipped):
    done, broken, left, *others = planned().values()
    store.merge_records(map(finished, others), shipped)
    out_of_memory = {"status": "oom", "reason": "made up"}
    failed = finished(broken).model_copy(update=out_of_memory)
    runs = tmp_path / "results" / "runs"
    for record in (finished(done), failed):
        folder = runs / record.digest
        write_record(folder / "record.json", record)
    counts = f", 1 done, 1 failed, {len(others)} precomputed, 1 to train"
    assert counts in printed(*WORDS)
    counts = f", 1 done, 1 failed, {len(others) + 1} to train"
    assert counts in printed(*WORDS, "train=everything")
    last = finished(left)
    store.merge_records([last], shipped)
    assert "nothing to train" in printed(*WORDS)


def test_the_scatter_of_seeds_is_pooled_over_configurations():
    """Deviations 0.1 and 0.3 around two means; a record that was read twice is one run."""
    scores = {
        (1, 12): 2.1,
        (2, 12): 1.9,
        (1, 24): 3.3,
        (2, 24): 2.7,
    }
    records = []
    for (seed, steps), bpc in scores.items():
        job = _jobs.job(seed=seed, steps=steps)
        record = finished(job, test_bpc=bpc)
        records.append(record)
    read_twice = records * 2
    deviation, runs = command.scatter_between_seeds(read_twice, "char_lm", "test_bpc")
    variance = (2 * 0.01 + 2 * 0.09) / 2
    assert deviation == pytest.approx(math.sqrt(variance))
    assert runs == 4
    one_run = records[:1] * 2
    assert command.scatter_between_seeds(one_run, "char_lm", "test_bpc") is None
