"""Before the first update a run is known to end in a record that can be written; and the rehearsal
leaves no trace.
"""

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
    "adaptive": (job(), None),
    "dynamic": (job(**VARIANTS["dynamic"]), None),
    "transformer_xl": (job(**VARIANTS["transformer_xl"]), None),
    "sentences": (translation(), bitext()),
    "pictures": (captioning(), coloured(60)),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_rehearsed_run_has_the_bits_of_one_that_was_not(name, tmp_path, monkeypatch):
    """Dropout is on, so random numbers must go on where they were; a dynamic span keeps what it has
    seen.
    """
    monkeypatch.setattr(CaptioningTask, "score_meteor", lambda *_: {})  # it takes long
    case, text = RUNS[name]
    runs = {rehearsed: start(case, tmp_path / str(rehearsed), text) for rehearsed in (False, True)}
    ended = {}
    for rehearsed, run in runs.items():
        torch.manual_seed(case.seed)
        if rehearsed:
            train.check_rehearsal(run, origin())
        ended[rehearsed] = finish(run)
    assert_same(ended[True], ended[False])
    assert chosen(runs[True].model) == chosen(runs[False].model)
    assert not runs[True].task.missing
    assert [point | {"tokens_per_s": 0} for point in runs[True].curve] == [
        point | {"tokens_per_s": 0} for point in runs[False].curve
    ]


def spoiled(what: str, value):
    """Give a method of a task that returns what it did, and something else among it."""
    kept = getattr(TranslationTask, what)

    def method(self, *words):
        returned = kept(self, *words)
        if what == "score":
            scores, facts = returned
            return (
                (scores | value, facts)
                if "facts" not in value
                else (scores, facts | value["facts"])
            )
        return returned | value

    return what, method


@pytest.mark.parametrize(
    "change, line",
    [
        (
            ("validate", {"dev_nats": 2.0}),
            "unknown column of the learning curve of .*TranslationTask 'dev_nats'",
        ),
        (
            ("score", {"blue": 1.0}),
            "unknown metric of .*TranslationTask .* 'dev_blue': did you mean 'dev_bleu'",
        ),
        (
            ("score", {"bleu": [1.0]}),
            r"score 'dev_bleu' .*\[1.0\]",
        ),
        (
            ("score", {"facts": {"weights": [1.0]}}),
            "unknown fact of .*TranslationTask .* 'weights'",
        ),
        (("score", {"facts": {"maps": np.ones(1)}}), "a fact that JSON cannot store: .*ndarray"),
        (
            ("score", {"facts": {"mean_span": [8.0]}}),
            r"fact 'mean_span' must be a number, got \[8.0\]",
        ),
    ],
)
def test_what_no_record_could_hold_is_refused_before_the_first_update(
    change, line, tmp_path, monkeypatch
):
    monkeypatch.setattr(TranslationTask, *spoiled(*change))
    break_updates(monkeypatch, AssertionError("the run was trained"))
    with pytest.raises(ConfigError, match=line):
        run_script(translation(), tmp_path / "run", bitext(), pairs.write)
    assert {file.name for file in (tmp_path / "run").iterdir()} == {"job.json"}


def test_scoring_that_cannot_work_is_a_record_before_the_first_update(tmp_path, monkeypatch):
    monkeypatch.setattr(
        TranslationTask, "score", Mock(side_effect=NameError("name 'blue' is not defined"))
    )
    break_updates(monkeypatch, AssertionError("the run was trained"))
    record = run_script(translation(), tmp_path / "run", bitext(), pairs.write)
    assert (
        record.status == "error"
        and "before the first update: NameError: name 'blue'" in record.reason
    )
    assert not record.curve


def test_a_name_that_came_up_after_training_alone_costs_its_score_alone(tmp_path, monkeypatch):
    """As one of a second test, of which the rehearsal sees nothing."""
    evaluate = TranslationTask.evaluate

    def more(self, net):
        found = evaluate(self, net)
        metrics = found.metrics | {"third_test_bleu": 1.0}
        return replace(found, metrics=metrics, facts=found.facts | {"seen": 1})

    monkeypatch.setattr(TranslationTask, "evaluate", more)
    record = run_script(translation(), tmp_path / "run", bitext(), pairs.write)
    assert (
        record.status == "ok"
        and record.metrics["test_bleu"] >= 0
        and not {"seen"} & record.facts.keys()
    )
    assert {"third_test_bleu", "seen"} <= record.missing.keys() and (
        tmp_path / "run" / "checkpoint.pt"
    ).exists()


@pytest.mark.parametrize("lacking", ASKED)
def test_a_task_without_what_the_loop_asks_for_is_refused(lacking, monkeypatch):
    class Lacking:
        unit = "bpc"

    for name in ASKED:
        if name != lacking:
            setattr(Lacking, name, None)
    monkeypatch.setattr(train, "load", lambda dotted: Lacking)
    with pytest.raises(
        ConfigError, match=f"CharLMTask: '{lacking}' is missing; the training loop needs"
    ):
        train.load_task("char_lm")


def test_a_task_whose_unit_is_another_than_its_specification_says_is_refused(monkeypatch):
    monkeypatch.setattr(CharLMTask, "unit", "nats")
    with pytest.raises(ConfigError, match="unit = 'nats', but the task's curve is in 'bpc'"):
        train.load_task("char_lm")


def test_pictures_are_rehearsed_without_what_takes_long(tmp_path, monkeypatch):
    """METEOR starts Java, which takes seconds: it scores test alone."""
    monkeypatch.setattr(
        CaptioningTask, "score_meteor", lambda *_: pytest.fail("METEOR was computed")
    )
    data = coloured(60)
    captioned.write(tmp_path / "toy.npz", data)
    train.check_rehearsal(start(captioning(), tmp_path, data), origin())
