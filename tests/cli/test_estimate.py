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


def test_it_counts_what_would_run_and_writes_nothing(printed, tmp_path):
    said = printed(*WORDS, "device=cpu")
    assert f"{len(planned().runs.jobs)} to train" in said
    assert "config/scales/smoke/char_lm.yaml" in said and "precomputed" in said
    assert list((tmp_path / "results").iterdir()) == []


def test_operations_of_a_training_by_hand():
    """Two layers of width 8 and inner width 16, S = 16.

    2 (4 * 64 + 2 * 128) numbers in matrices, 2 * 2 * 16 * 8 in attention; three passes of two
    operations for each, 20 updates of 4 streams of 8 characters.
    """
    net = {"layers": 2, "d_model": 8, "heads": 2, "d_ff": 16}
    span = {"name": "fixed", "limit": 16}
    counted = training_operations(_jobs.job(span=span, net=net, block=8, batch=4, steps=20))
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


def test_trials_and_what_follows_them_are_counted(printed):
    """Models at scale overnight: 4 variants on 2 corpora with 3 seeds, as many tuned.

    Each variant has 3 trials, whose seed is not among those that judge.
    """
    asked = ("scale=overnight", "questions=[adaptive_vs_xl]", "train=everything", "device=cpu")
    said = printed("--config", *asked)
    for count in ("60 runs", "12 trials", "24 runs with tuned", "3 seeds"):
        assert count in said
    asked = ("scale=smoke", "questions=[adaptive_vs_xl, span_types]", "device=cpu")
    said = printed("--config", *asked)
    assert "(no trial_seed): adaptive_vs_xl\n" in said and "trials:" not in said


@pytest.mark.parametrize("word, value", [("scale", "KEY=VALUE"), ("scale=smok", "'smoke'")])
def test_nonsense_is_refused(word, value, printed):
    with pytest.raises(ConfigError, match=value):
        printed("--config", word)


def test_what_seeds_can_show_comes_from_their_scatter():
    """Two configurations, deviations 0.1 and 0.3 around their means.

    A record that was read twice is one run.
    """

    def scatter(records: list):
        return command.scatter_between_seeds(records, "char_lm", "test_bpc")

    one = [finished(_jobs.job(seed=1), test_bpc=2.1), finished(_jobs.job(seed=2), test_bpc=1.9)]
    other = [
        finished(_jobs.job(seed=1, steps=24), test_bpc=3.3),
        finished(_jobs.job(seed=2, steps=24), test_bpc=2.7),
    ]
    assert scatter([one[0], one[0]]) is None
    deviation, runs = scatter([*one, *other] * 2)
    assert deviation == pytest.approx(((2 * 0.01 + 2 * 0.09) / 2) ** 0.5) and runs == 4
    alike = [finished(_jobs.job(seed=seed), test_bpc=2.0) for seed in (1, 2, 3)]
    assert scatter(alike) is None
