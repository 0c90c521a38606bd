"""Before the first update a run is known to end in a record; the rehearsal leaves no trace."""

from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from tests._jobs import VARIANTS, bitext, captioning, job, translation
from tests._training import assert_same, break_updates, finish, origin, run_script, start
from tests.tasks.test_captioning import coloured
from workflow.config.errors import ConfigError
from workflow.results.record import Record
from workflow.scripts import train
from workflow.tasks import store as pairs
from workflow.tasks.captioning.runner import CaptioningTask
from workflow.tasks.char_lm.runner import CharLMTask
from workflow.tasks.translation.runner import TranslationTask
from workflow.training.backends import chosen
from workflow.training.run import ASKED

RUNS = {
    "dynamic": (job(**VARIANTS["dynamic"]), None),
    "sentences": (translation(), bitext()),
    "pictures": (captioning(), coloured(60)),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_rehearsed_run_has_the_bits_of_one_that_was_not(name, tmp_path, monkeypatch):
    """Dropout is on, so random numbers must go on where they were; a dynamic span keeps records."""
    monkeypatch.setattr(CaptioningTask, "score_meteor", lambda *_: {})  # it takes long
    case, data = RUNS[name]
    runs = [start(case, tmp_path / f"{n}", data) for n in range(2)]
    ends = []
    for run in runs:
        torch.manual_seed(case.seed)
        if run is runs[1]:
            train.check_rehearsal(run, origin())
        ends.append(finish(run))
        assert not run.task.missing
    assert_same(*ends)
    assert chosen(runs[0].model) == chosen(runs[1].model)


@pytest.fixture
def translate(tmp_path):
    """Return a function that runs the script on a small job of translation."""

    def run() -> Record:
        return run_script(translation(), tmp_path / "run", bitext(), pairs.write)

    return run


@pytest.mark.parametrize(
    "point, scores, facts, named",
    [
        ({"dev_nats": 2.0}, {}, {}, "'dev_nats'"),
        ({}, {"blue": 1.0}, {}, "'dev_blue'.*'dev_bleu'"),
        ({}, {"bleu": [1.0]}, {}, r"'dev_bleu' .*\[1.0\]"),
        ({}, {}, {"weights": [1.0]}, "'weights'"),
        ({}, {}, {"maps": np.ones(1)}, "ndarray"),
        ({}, {}, {"mean_span": [8.0]}, r"'mean_span' .*\[8.0\]"),
    ],
)
def test_what_no_record_could_hold_is_refused_before_the_first_update(
    point, scores, facts, named, translate, tmp_path, monkeypatch
):
    validate, score = TranslationTask.validate, TranslationTask.score

    def changed(self, *words):
        found_scores, found_facts = score(self, *words)
        return found_scores | scores, found_facts | facts

    monkeypatch.setattr(TranslationTask, "validate", lambda *words: validate(*words) | point)
    monkeypatch.setattr(TranslationTask, "score", changed)
    break_updates(monkeypatch, AssertionError("the run was trained"))
    with pytest.raises(ConfigError, match=named):
        translate()
    assert {file.name for file in (tmp_path / "run").iterdir()} == {"job.json"}


@pytest.mark.parametrize("lacking", ASKED)
def test_a_task_without_what_the_loop_asks_for_is_refused(lacking, monkeypatch):
    task = type("Lacking", (), dict.fromkeys(set(ASKED) - {lacking}))
    monkeypatch.setattr(train, "load", lambda dotted: task)
    with pytest.raises(ConfigError, match=f"'{lacking}'"):
        train.load_task("char_lm")


def test_a_curve_without_the_loss_that_the_specification_names_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(CharLMTask, "train_point", lambda self, nats: {"train_ppl": nats})
    with pytest.raises(ConfigError, match="'train_bpc'"):
        run_script(job(), tmp_path / "run")


def test_scoring_that_cannot_work_is_a_record_before_the_first_update(translate, monkeypatch):
    monkeypatch.setattr(TranslationTask, "score", Mock(side_effect=NameError("blue")))
    break_updates(monkeypatch, AssertionError("the run was trained"))
    record = translate()
    assert record.status == "error"
    assert "NameError: blue" in record.reason
    assert not record.curve


def test_a_name_that_came_up_after_training_alone_costs_its_score_alone(translate, monkeypatch):
    """As one of a second test, of which the rehearsal sees nothing."""
    evaluate = TranslationTask.evaluate

    def more(self, model):
        found = evaluate(self, model)
        metrics = found.metrics | {"third_test_bleu": 1.0}
        return replace(found, metrics=metrics, facts=found.facts | {"seen": 1})

    monkeypatch.setattr(TranslationTask, "evaluate", more)
    record = translate()
    assert record.status == "ok"
    assert record.metrics["test_bleu"] >= 0
    assert {"third_test_bleu", "seen"} <= record.missing.keys()
    assert "seen" not in record.facts
