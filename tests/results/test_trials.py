"""Which trial is followed, and whose numbers a run with the same settings takes."""

import json
import sys
from contextlib import suppress

import pytest

from tests._jobs import job
from tests._runs import run
from tests._training import origin, run_script, write_job
from workflow.config.errors import ConfigError
from workflow.plan.planned_runs import name_choice
from workflow.report.pages.run import Uses, run_page
from workflow.results import store
from workflow.results.record import Record, read_record, write_record, write_text
from workflow.results.trials import best_of, equal_run, read_choice
from workflow.scripts import choose, train

TRIALS = {"a" * 12: {"lr": 0.5}, "b" * 12: {"lr": 1.0}}


def tried(digest: str, **changes) -> Record:
    return Record(**{"status": "ok", "digest": digest, "job": job(), "origin": origin()} | changes)


def test_the_best_on_dev_is_followed_and_what_broke_never_is(tmp_path):
    scores = {"a": 2.1, "b": 2.0, "c": 1.0, "d": 2.0}
    records = [tried(name, metrics={"dev_bpc": score}) for name, score in scores.items()]
    records[2] = tried("c", status="diverged", metrics={"dev_bpc": 1.0})
    assert best_of(records) == "b"  # the first among equals
    with pytest.raises(ConfigError, match="all failed"):
        best_of(records[2:3])
    for record in records:
        write_record(tmp_path / record.digest / "record.json", record)
    choose.main([str(tmp_path / "choice.json"), *scores, "--runs", str(tmp_path)])
    chosen = json.loads((tmp_path / "choice.json").read_text())
    assert chosen == {"follows": "b", "dev": {"a": 2.1, "b": 2.0, "c": None, "d": 2.0}}


def test_a_choice_is_one_of_the_trials_of_the_job(tmp_path):
    with_trials, choice = job().model_copy(update={"trials": TRIALS}), tmp_path / "choice.json"
    write_text(choice, json.dumps({"follows": "b" * 12}))
    assert read_choice(choice, with_trials) == "b" * 12 and read_choice(None, job()) is None
    with pytest.raises(ConfigError, match="has trials; say which it follows"):
        read_choice(None, with_trials)
    with pytest.raises(ConfigError, match="has no trials to choose from"):
        read_choice(choice, job())
    write_text(choice, json.dumps({"follows": "c" * 12}))
    with pytest.raises(ConfigError, match="unknown trial in .*choice.json 'cccccccccccc'"):
        read_choice(choice, with_trials)


def test_a_run_that_follows_the_recipe_takes_its_numbers_and_one_with_another_rate_is_trained(
    tmp_path, monkeypatch
):
    recipe = run_script(job(), tmp_path / job().digest)
    tuned = job().model_copy(update={"trials": TRIALS})
    folder, data = tmp_path / tuned.digest, str(tmp_path / "toy.npz")
    words = [
        "train",
        str(write_job(tuned, folder)),
        "--data",
        data,
        "--choice",
        str(tmp_path / "choice.json"),
    ]
    for follows, lr in (("b" * 12, 0.07), ("a" * 12, 0.035)):
        write_text(tmp_path / "choice.json", json.dumps({"follows": follows}))
        monkeypatch.setattr(sys, "argv", [*words, "--device", "cpu"])
        with suppress(SystemExit):  # of the process that it waits for
            train.start()
        record = read_record(folder / "record.json")
        assert (record.digest, record.job, record.follows) == (tuned.digest, tuned, follows)
        assert record.trained.training.lr == lr
        same = recipe.bits == "portable" and lr == 0.07
        assert (record.cost.seconds == recipe.cost.seconds) == same
        assert (record.losses == recipe.losses) == (lr == 0.07)


def test_numbers_are_taken_from_shipped_runs_and_from_portable_ones_of_the_same_code(
    tmp_path, monkeypatch
):
    digest = job().digest

    def found(code="here", **about) -> bool:
        made = origin().model_copy(update={"source": code})
        write_record(tmp_path / digest / "record.json", tried(digest, origin=made, **about))
        return equal_run(job(), tmp_path, "here") is not None

    assert found(bits="portable") and not found(bits="this machine")
    assert not found(bits="portable", code="before")
    monkeypatch.setattr(store, "PRECOMPUTED", tmp_path / "precomputed")
    store.merge_records([tried(digest, bits="this machine")], tmp_path / "precomputed")
    assert found(bits="this machine", code="before")
    diverged = tried(digest, status="diverged", reason="mean loss nan")
    store.merge_records([diverged], tmp_path / "precomputed")
    assert not found(bits="this machine", code="before")


def test_the_page_of_a_run_that_follows_a_trial_names_it_and_how_to_train_it_again():
    asked = job().model_copy(update={"trials": TRIALS})
    record = tried(asked.digest, job=asked, follows="a" * 12)
    page = run_page(record, Uses(), run(scale="smoke"))
    assert page.factors == {"lr": 0.5}
    assert page.command.endswith(f" --choice results/choices/{name_choice(asked)}.json")
    assert "--choice" not in run_page(tried(job().digest), Uses(), run(scale="smoke")).command
