"""Which trial is followed, and whose numbers a run with the same settings takes."""

import json
import sys
from contextlib import suppress

import pytest

from tests._jobs import job
from tests._training import origin, run_script, write_job
from workflow.config.errors import ConfigError
from workflow.results import store
from workflow.results.record import Record, read_record, write_record, write_text
from workflow.results.trials import best_of, equal_run, read_choice
from workflow.scripts import choose, train

HALF = "a" * 12
SAME = "b" * 12
TRIALS = {HALF: {"lr": 0.5}, SAME: {"lr": 1.0}}
TUNED = job().model_copy(update={"trials": TRIALS})


def tried(digest: str, **changes) -> Record:
    known = {"status": "ok", "digest": digest, "job": job(), "origin": origin()}
    return Record(**known | changes)


def test_the_best_on_dev_is_followed_and_what_broke_never_is(tmp_path):
    scores = {"a": 2.1, "b": 2.0, "d": 2.0}
    records = [tried(name, metrics={"dev_bpc": score}) for name, score in scores.items()]
    broken = tried("c", status="diverged", metrics={"dev_bpc": 1.0})
    assert best_of([*records, broken]) == "b"  # the first among equals
    with pytest.raises(ConfigError):
        best_of([broken])
    for record in (*records, broken):
        write_record(tmp_path / record.digest / "record.json", record)
    choose.main([str(tmp_path / "choice.json"), *"abcd", "--runs", str(tmp_path)])
    chosen = json.loads((tmp_path / "choice.json").read_text())
    assert chosen == {"follows": "b", "dev": {"a": 2.1, "b": 2.0, "c": None, "d": 2.0}}


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
    words = ["train", str(write_job(TUNED, folder)), "--data", str(tmp_path / "toy.npz")]
    monkeypatch.setattr(sys, "argv", [*words, "--choice", str(choice), "--device", "cpu"])
    with suppress(SystemExit):  # of the process that it waits for
        train.start()
    record = read_record(folder / "record.json")
    assert (record.digest, record.job, record.follows) == (TUNED.digest, TUNED, follows)
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
        write_record(tmp_path / digest / "record.json", tried(digest, origin=made, **about))
        return equal_run(job(), tmp_path, "here") is not None

    assert found(bits="portable")
    assert not found(bits="this machine")
    assert not found(bits="portable", code="before")
    monkeypatch.setattr(store, "PRECOMPUTED", shipped)
    store.merge_records([tried(digest, bits="this machine")], shipped)
    assert found(bits="this machine", code="before")
    store.merge_records([tried(digest, status="diverged", reason="mean loss nan")], shipped)
    assert not found(bits="this machine", code="before")
