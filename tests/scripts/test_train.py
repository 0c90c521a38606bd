"""`train`: whatever happens to a run becomes a record, with weights, empty where it failed."""

import math

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
    assert (record.status, record.digest) == ("ok", job().digest)
    assert [point.step for point in record.curve] == [4, 8, 12]
    assert record.cost.macs.executed < record.cost.macs.dense
    assert record.origin.sources
    assert (folder / "curve.csv").exists()
    assert record.facts["start_span"] == 4.0 < record.facts["mean_span"]
    counts = np.bincount(corpus().dev)
    entropy = math.log2(600) - counts @ np.log2(counts) / 600
    assert record.facts["symbol_entropy"] == pytest.approx(entropy)
    weights = checkpoint.load(folder / "weights.pt", record.digest, CPU)["net"]
    assert weights.keys() == build_model(job(), CPU, 7).state_dict().keys()


def test_an_unforeseen_error_is_a_record_with_the_end_of_its_log(tmp_path, monkeypatch):
    break_updates(monkeypatch, ZeroDivisionError())
    record = run_script(job(), tmp_path / "run")
    assert record.status == "error"
    assert "ZeroDivisionError" in record.reason
    assert any("ZeroDivisionError" in line for line in record.log)
    assert not TrainedRun.at(tmp_path / "run" / "weights.pt").has_weights


def test_a_score_without_a_value_is_missing_with_its_reason(tmp_path, monkeypatch):
    scores = {"dev_bpc": 2.0, "test_bpc": Missing("none"), "tokens_scored": float("inf")}
    monkeypatch.setattr(CharLMTask, "evaluate", lambda self, model: Evaluation(scores, facts={}))
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
    with pytest.raises(ConfigError, match=r"'span': did you mean 'spans'"):
        run_script(job(), tmp_path / "run")
    assert [file.name for file in (tmp_path / "run").iterdir()] == ["job.json"]
