"""Which trial is followed, and whose numbers a run with the same settings takes."""

import json
import sys
from contextlib import suppress
from dataclasses import replace

import pytest

from tests._jobs import job
from tests._training import origin, run_script, write_job
from workflow.config.errors import ConfigError
from workflow.results import store
from workflow.results.record import Record, read_record, write_record, write_text
from workflow.results.trials import best_of, equal_run, read_choice
from workflow.scripts import choose, train
from workflow.tasks.spec import TASKS
from workflow.tasks.task import Selection

HALF = "a" * 12
SAME = "b" * 12
TRIALS = {HALF: {"lr": 0.5}, SAME: {"lr": 1.0}}
TUNED = job().model_copy(update={"trials": TRIALS})


def tried(digest: str, **changes) -> Record:
    known = {
        "status": "ok",
        "digest": digest,
        "job": job(),
        "origin": origin(),
    }
    return Record(**known | changes)


def test_the_best_on_dev_is_followed_and_what_broke_never_is(tmp_path):
    ended = [
        tried("a", metrics={"dev_bpc": 2.1}),
        tried("b", metrics={"dev_bpc": 2.0}),
        tried("d", metrics={"dev_bpc": 2.0}),
    ]
    broken = tried("c", status="diverged", metrics={"dev_bpc": 1.0})
    records = [*ended, broken]
    # the first among equals
    assert best_of(records) == "b"
    with pytest.raises(ConfigError):
        best_of([broken])
    for record in records:
        folder = tmp_path / record.digest
        write_record(folder / "record.json", record)
    choice = tmp_path / "choice.json"
    choose.main([str(choice), *"abcd", "--runs", str(tmp_path)])
    chosen = json.loads(choice.read_text())
    assert chosen["follows"] == "b"
    assert chosen["dev"] == {"a": 2.1, "b": 2.0, "c": None, "d": 2.0}


def test_of_scores_within_a_tie_the_lowest_rate_is_followed(monkeypatch):
    selection = Selection("dev_bpc", better="higher", tie=1.0)
    task = replace(TASKS["char_lm"], tuned_by=selection)
    monkeypatch.setitem(TASKS, "char_lm", task)
    ended = []
    for digest, lr, score in (("a", 0.4, 90.0), ("b", 0.2, 89.1), ("c", 0.1, 88.9)):
        asked = job(lr=lr)
        ended.append(tried(digest, job=asked, metrics={"dev_bpc": score}))
    assert best_of(ended) == "b"


def test_a_trial_that_has_not_learned_its_task_is_followed_only_where_none_has(monkeypatch):
    selection = Selection("dev_bpc", better="higher", tie=1.0, learned=99.0)
    task = replace(TASKS["char_lm"], tuned_by=selection)
    monkeypatch.setitem(TASKS, "char_lm", task)

    def ended(digest: str, lr: float, score: float, at_first: float):
        over = [
            {"at": 1.0, "count": 10, "metrics": {"dev_bpc": at_first}},
            {"at": 2.0, "count": 10, "metrics": {"dev_bpc": score}},
        ]
        metrics = {"dev_bpc": score}
        return tried(digest, job=job(lr=lr), metrics=metrics, over_condition=over)

    low = ended("a", 0.1, 95.0, 98.9)
    lower = ended("b", 0.05, 94.5, 98.0)
    learned = ended("c", 0.2, 90.0, 99.0)
    assert best_of([low, lower, learned]) == "c"
    assert best_of([low, lower]) == "b"


def test_a_choice_is_one_of_the_trials_of_the_job(tmp_path):
    choice = tmp_path / "choice.json"
    write_text(choice, json.dumps({"follows": SAME}))
    assert read_choice(choice, TUNED) == SAME
    assert read_choice(None, job()) is None
    with pytest.raises(ConfigError, match="has trials"):
        read_choice(None, TUNED)
    with pytest.raises(ConfigError, match="no trials"):
        read_choice(choice, job())
    write_text(choice, json.dumps({"follows": "c" * 12}))
    with pytest.raises(ConfigError, match="choice.json 'cccccccccccc'"):
        read_choice(choice, TUNED)


@pytest.mark.parametrize("follows, lr", [(SAME, 0.07), (HALF, 0.035)])
def test_a_run_that_follows_the_recipe_takes_its_numbers_and_another_is_trained(
    follows, lr, tmp_path, monkeypatch
):
    recipe = run_script(job(), tmp_path / job().digest)
    folder = tmp_path / TUNED.digest
    choice = tmp_path / "choice.json"
    write_text(choice, json.dumps({"follows": follows}))
    words = ["train", str(write_job(TUNED, folder))]
    words += ["--data", str(tmp_path / "toy.npz")]
    words += ["--choice", str(choice), "--device", "cpu"]
    monkeypatch.setattr(sys, "argv", words)
    with suppress(SystemExit):  # of the process that it waits for
        train.start()
    record = read_record(folder / "record.json")
    assert record.digest == TUNED.digest
    assert record.job == TUNED
    assert record.follows == follows
    assert record.trained.training.lr == lr
    taken = follows == SAME
    assert (record.losses == recipe.losses) == taken
    if recipe.bits == "portable":
        assert (record.cost.seconds == recipe.cost.seconds) == taken


def test_numbers_are_taken_from_shipped_runs_and_from_portable_ones_of_the_same_code(
    tmp_path, monkeypatch
):
    digest = job().digest
    shipped = tmp_path / "precomputed"

    def found(code="here", **about) -> bool:
        made = origin().model_copy(update={"source": code})
        record = tried(digest, origin=made, **about)
        write_record(tmp_path / digest / "record.json", record)
        equal = equal_run(job(), tmp_path, "here")
        return equal is not None

    assert found(bits="portable")
    assert not found(bits="this machine")
    assert not found(bits="portable", code="before")
    monkeypatch.setattr(store, "PRECOMPUTED", shipped)
    ended = tried(digest, bits="this machine")
    store.merge_records([ended], shipped)
    assert found(bits="this machine", code="before")
    diverged = tried(digest, status="diverged", reason="mean loss nan")
    store.merge_records([diverged], shipped)
    assert not found(bits="this machine", code="before")
