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
from workflow.scripts import train
from workflow.tasks import store as pairs
from workflow.tasks.captioning import store as captioned
from workflow.tasks.captioning.runner import CaptioningTask
from workflow.tasks.char_lm.runner import CharLMTask
from workflow.tasks.translation.runner import TranslationTask
from workflow.training.backends import chosen
from workflow.training.run import ASKED

RUNS = {
    "dynamic": (job(**VARIANTS["dynamic"]), None),
    "transformer_xl": (job(**VARIANTS["transformer_xl"]), None),
    "sentences": (translation(), bitext()),
    "pictures": (captioning(), coloured(60)),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_rehearsed_run_has_the_bits_of_one_that_was_not(name, tmp_path, monkeypatch):
    """Dropout is on, so random numbers must go on where they were; a dynamic span keeps records."""
    monkeypatch.setattr(CaptioningTask, "score_meteor", lambda *_: {})  # it takes long
    case, text = RUNS[name]
    ended = {}
    backends = {}
    for rehearsed in (False, True):
        run = start(case, tmp_path / str(rehearsed), text)
        torch.manual_seed(case.seed)
        if rehearsed:
            train.check_rehearsal(run, origin())
        ended[rehearsed] = finish(run)
        backends[rehearsed] = chosen(run.model)
        assert not run.task.missing
    assert_same(ended[True], ended[False])
    assert backends[True] == backends[False]


def add_to_scores(value: dict):
    score = TranslationTask.score

    def changed(self, *words):
        scores, facts = score(self, *words)
        return scores | value, facts

    return "score", changed


def add_to_facts(value: dict):
    score = TranslationTask.score

    def changed(self, *words):
        scores, facts = score(self, *words)
        return scores, facts | value

    return "score", changed


def add_to_point(value: dict):
    validate = TranslationTask.validate
    return "validate", lambda self, model: validate(self, model) | value


@pytest.mark.parametrize(
    "change, named",
    [
        (add_to_point({"dev_nats": 2.0}), "'dev_nats'"),
        (add_to_scores({"blue": 1.0}), "'dev_blue': did you mean 'dev_bleu'"),
        (add_to_scores({"bleu": [1.0]}), r"'dev_bleu' .*\[1.0\]"),
        (add_to_facts({"weights": [1.0]}), "'weights'"),
        (add_to_facts({"maps": np.ones(1)}), "ndarray"),
        (add_to_facts({"mean_span": [8.0]}), r"'mean_span' .*\[8.0\]"),
    ],
)
def test_what_no_record_could_hold_is_refused_before_the_first_update(
    change, named, tmp_path, monkeypatch
):
    monkeypatch.setattr(TranslationTask, *change)
    break_updates(monkeypatch, AssertionError("the run was trained"))
    with pytest.raises(ConfigError, match=named):
        run_script(translation(), tmp_path / "run", bitext(), pairs.write)
    assert {file.name for file in (tmp_path / "run").iterdir()} == {"job.json"}


def test_scoring_that_cannot_work_is_a_record_before_the_first_update(tmp_path, monkeypatch):
    monkeypatch.setattr(TranslationTask, "score", Mock(side_effect=NameError("blue")))
    break_updates(monkeypatch, AssertionError("the run was trained"))
    record = run_script(translation(), tmp_path / "run", bitext(), pairs.write)
    assert record.status == "error" and "NameError: blue" in record.reason
    assert not record.curve


def test_a_name_that_came_up_after_training_alone_costs_its_score_alone(tmp_path, monkeypatch):
    """As one of a second test, of which the rehearsal sees nothing."""
    evaluate = TranslationTask.evaluate

    def more(self, model):
        found = evaluate(self, model)
        metrics = found.metrics | {"third_test_bleu": 1.0}
        return replace(found, metrics=metrics, facts=found.facts | {"seen": 1})

    monkeypatch.setattr(TranslationTask, "evaluate", more)
    record = run_script(translation(), tmp_path / "run", bitext(), pairs.write)
    assert record.status == "ok" and record.metrics["test_bleu"] >= 0
    assert {"third_test_bleu", "seen"} <= record.missing.keys()
    assert "seen" not in record.facts and (tmp_path / "run" / "checkpoint.pt").exists()


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


def test_pictures_are_rehearsed_without_what_takes_long(tmp_path, monkeypatch):
    """METEOR starts Java, which takes seconds: it scores test alone."""
    monkeypatch.setattr(CaptioningTask, "score_meteor", Mock(side_effect=AssertionError))
    data = coloured(60)
    captioned.write(tmp_path / "toy.npz", data)
    train.check_rehearsal(start(captioning(), tmp_path, data), origin())
