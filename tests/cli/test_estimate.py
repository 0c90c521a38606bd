"""What `workflow.cli.estimate` prints."""

import pytest

from tests import _jobs
from tests._finished import finished, timed
from workflow.cli import estimate as command
from workflow.config.errors import ConfigError
from workflow.config.files import ROOT
from workflow.config.strict import read_yaml
from workflow.plan.estimate import SHARE, load_devices, spell_hours, training_operations
from workflow.plan.targets import Targets
from workflow.results import store
from workflow.results.record import write_record

CONFIG = ROOT / "config" / "config.yaml"
WORDS = ["--config", "scale=smoke", "questions=[span_limit]"]


@pytest.fixture
def printed(tmp_path, capsys):
    """Runs the command in an empty folder of results."""
    results = tmp_path / "results"
    results.mkdir()

    def run(*words):
        command.main([*words, "--results", str(results), "--cores", "2"])
        return capsys.readouterr().out

    return run


def planned():
    return Targets.of(read_yaml(CONFIG) | {"scale": "smoke", "questions": ["span_limit"]})


def test_it_says_what_would_run_what_that_is_told_from_and_writes_nothing(printed, tmp_path):
    lines = printed(*WORDS, "device=cpu").splitlines()
    count = len(planned().runs.jobs)
    assert lines[0].startswith("scale smoke:") and lines[0].endswith(f"0 done, {count} to train")
    assert "config/scales/smoke/char_lm.yaml: Tiny models" in "\n".join(lines)
    for start in ("training: about ", "  based on ", "plus minutes for "):
        assert any(line.startswith(start) for line in lines), start
    assert "(precomputed)" in "\n".join(lines)
    assert list((tmp_path / "results").iterdir()) == []


def test_operations_of_a_training_by_hand():
    """Two layers of width 8 and inner width 16, S = 16: 2 (4 * 64 + 2 * 128) numbers in matrices, 2
    * 2 * 16 * 8 in attention; three passes of two operations for each, 20 updates of 4 streams of 8
    characters.
    """
    net = {"layers": 2, "d_model": 8, "heads": 2, "d_ff": 16}
    counted = training_operations(
        _jobs.job(span={"name": "fixed", "limit": 16}, net=net, block=8, batch=4, steps=20)
    )
    assert counted == 3 * 2 * 20 * 4 * 8 * (2 * (4 * 64 + 2 * 128) + 2 * 2 * 16 * 8)


def test_for_a_named_device_it_predicts_the_hours_of_all_runs(printed):
    """A run that two questions ask for is trained once."""
    runs, rate = planned().runs, SHARE * load_devices()["H100 SXM"].fp32
    hours = sum(training_operations(each) for each in runs.jobs.values()) / rate / 3600
    said = f"on one H100 SXM: about {spell_hours(hours)} hours to train all {len(runs.jobs)} runs"
    assert said in printed(*WORDS, "--on", "H100 SXM") and "on one H100" not in printed(*WORDS)
    with pytest.raises(ConfigError, match="unknown device 'H100': did you mean 'H100 SXM'"):
        printed("--on", "H100")


def test_what_a_gpu_takes_is_not_told_from_a_cpu(printed, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "PRECOMPUTED", tmp_path / "precomputed")
    record = timed(_jobs.job()).record
    store.merge_records([record], tmp_path / "precomputed")
    said = printed("--config", "scale=small", "device=cuda")
    assert "no GPU run has a record" in said and "About ten minutes on one GPU" in said
    assert "hours" not in said


def test_runs_are_done_or_failed_or_come_with_the_project_or_are_to_train(
    printed, tmp_path, monkeypatch
):
    monkeypatch.setattr(store, "PRECOMPUTED", tmp_path / "precomputed")
    done, broken, left, *others = planned().runs.jobs.values()
    store.merge_records(map(finished, others), tmp_path / "precomputed")
    failed = finished(broken).model_copy(update={"status": "oom", "reason": "made up"})
    for record in (finished(done), failed):
        write_record(tmp_path / "results" / "runs" / record.digest / "record.json", record)
    assert f", 1 done, 1 failed, {len(others)} precomputed, 1 to train" in printed(
        *WORDS, "device=cpu"
    )
    assert f", 1 done, 1 failed, {len(others) + 1} to train" in printed(
        *WORDS, "device=cpu", "train=everything"
    )
    store.merge_records([finished(left)], tmp_path / "precomputed")
    assert "nothing to train" in printed(*WORDS)


def test_trials_and_what_follows_them_are_counted_and_their_seed_is_none_of_those_that_judge(
    printed,
):
    """Models at scale overnight: 4 variants on 2 texts with 3 seeds, as many tuned, and 3 trials a
    variant.
    """
    said = printed(
        "--config",
        "scale=overnight",
        "questions=[adaptive_vs_xl]",
        "train=everything",
        "device=cpu",
    )
    assert "scale overnight: 60 runs" in said
    assert "12 trials: 0 done, 12 to train" in said
    assert "24 runs with tuned settings: 0 done, 24 to train" in said
    assert "with 3 seeds (from" in said and "4 seeds" not in said and "not tuned" not in said
    said = printed(
        "--config", "scale=smoke", "questions=[adaptive_vs_xl, span_types]", "device=cpu"
    )
    assert (
        "not tuned at this scale (no trial_seed): adaptive_vs_xl\n" in said
        and "trials:" not in said
    )


@pytest.mark.parametrize(
    "word, line", [("scale", "expected KEY=VALUE"), ("scale=smok", "did you mean 'smoke'")]
)
def test_nonsense_is_refused(word, line, printed):
    with pytest.raises(ConfigError, match=line):
        printed("--config", word)


def test_what_seeds_can_show_comes_from_their_scatter():
    """Two configurations, deviations 0.1 and 0.3 around their means; a record that was read twice
    is one run.
    """
    rows = [
        finished(_jobs.job(seed=seed), test_bpc=2 + value) for seed, value in ((1, 0.1), (2, -0.1))
    ]
    assert command.scatter_between_seeds([rows[0]] * 2, "char_lm", "test_bpc") is None
    rows += [
        finished(_jobs.job(seed=seed, steps=24), test_bpc=3 + value)
        for seed, value in ((1, 0.3), (2, -0.3))
    ]
    deviation, runs = command.scatter_between_seeds(rows + rows, "char_lm", "test_bpc")
    assert deviation == pytest.approx(((2 * 0.01 + 2 * 0.09) / 2) ** 0.5) and runs == 4
    alike = [finished(_jobs.job(seed=seed), test_bpc=2.0) for seed in (1, 2, 3)]
    assert command.scatter_between_seeds(alike, "char_lm", "test_bpc") is None
