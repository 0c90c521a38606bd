"""`train`: whatever happens to a run becomes a record, with weights, empty where it failed."""

import numpy as np
import pytest

from models.attention.spans.adaptive import Adaptive
from tests._jobs import corpus, job
from tests._training import CPU, break_updates, run_script
from workflow.config.errors import ConfigError
from workflow.config.missing import Missing
from workflow.costs.trained_net import TrainedRun, build_model
from workflow.tasks.char_lm.runner import CharLMTask
from workflow.training import checkpoint
from workflow.training.evaluation import Evaluation


def test_a_good_run_leaves_record_curve_and_weights(tmp_path):
    folder = tmp_path / "run"
    record = run_script(job(), folder)
    assert record.status == "ok"
    assert record.digest == job().digest
    assert [point.step for point in record.curve] == [4, 8, 12]
    macs = record.cost.macs
    assert macs.executed < macs.dense
    assert record.origin.sources
    assert (folder / "curve.csv").exists()
    facts = record.facts
    assert facts["start_span"] == 4.0
    assert facts["mean_span"] > 4.0
    counts = np.bincount(corpus().dev)
    frequencies = counts / 600
    entropy = -frequencies @ np.log2(frequencies)
    assert facts["symbol_entropy"] == pytest.approx(entropy)
    kept = checkpoint.load(folder / "weights.pt", record.digest, CPU)
    model = build_model(job(), CPU, 7)
    assert kept["net"].keys() == model.state_dict().keys()


def test_an_unforeseen_error_is_a_record_with_the_end_of_its_log(tmp_path, monkeypatch):
    break_updates(monkeypatch, ZeroDivisionError())
    folder = tmp_path / "run"
    record = run_script(job(), folder)
    assert record.status == "error"
    assert "ZeroDivisionError" in record.reason
    log = "\n".join(record.log)
    assert "ZeroDivisionError" in log
    trained = TrainedRun.at(folder / "weights.pt")
    assert not trained.has_weights


def test_a_score_without_a_value_is_missing_with_its_reason(tmp_path, monkeypatch):
    scores = {
        "dev_bpc": 2.0,
        "test_bpc": Missing("none"),
        "tokens_scored": float("inf"),
    }
    evaluation = Evaluation(scores, facts={})
    monkeypatch.setattr(CharLMTask, "evaluate", lambda self, model: evaluation)
    record = run_script(job(), tmp_path / "run")
    assert record.status == "ok"
    assert set(record.metrics) == {"train_bpc", "dev_bpc"}
    assert record.missing["test_bpc"] == "none"
    assert record.missing["tokens_scored"].startswith("inf")


def test_a_corpus_of_another_checksum_is_refused(tmp_path):
    other = job().model_copy(update={"checksum": "sha256:other"})
    with pytest.raises(ConfigError, match="sha256:other"):
        run_script(other, tmp_path / "run")
    assert not (tmp_path / "run" / "weights.pt").exists()


def test_an_unregistered_fact_of_a_choice_is_refused_before_training(tmp_path, monkeypatch):
    monkeypatch.setattr(Adaptive, "facts", lambda self: {"span": [1.0]})
    break_updates(monkeypatch, AssertionError("the run was trained"))
    folder = tmp_path / "run"
    with pytest.raises(ConfigError, match=r"'span': did you mean 'spans'"):
        run_script(job(), folder)
    names = [file.name for file in folder.iterdir()]
    assert names == ["job.json"]
