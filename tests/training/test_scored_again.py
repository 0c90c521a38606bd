"""A score that fails costs no training: weights and curve stay, and scoring is done again."""

import math
from functools import cache
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch

from models import macs
from tests._jobs import bitext, captioning, corpus, job, parsing, translation
from tests._training import CPU, break_updates, origin, run_script
from tests.tasks.test_captioning import coloured
from tests.tasks.test_parsing import trees
from workflow.plan import sources
from workflow.results.outcome import Outcome
from workflow.results.record import Record, read_record
from workflow.scripts import train
from workflow.tasks import store as pairs
from workflow.tasks.captioning import runner as captions
from workflow.tasks.captioning import store as captioned
from workflow.tasks.char_lm import runner as characters
from workflow.tasks.char_lm import store
from workflow.tasks.sequences import SequenceTask
from workflow.tasks.translation import runner as sentences
from workflow.training import checkpoint
from workflow.training.evaluation import Story
from workflow.training.run import Run

BREAKS = Mock(side_effect=ValueError("no figures"))
RUNS = {
    "characters": (job(), corpus(), store.write),
    "sentences": (translation(selection={"name": "top_k", "k": 2}), bitext(), pairs.write),
    "trees": (parsing(), trees(80), pairs.write),
    "pictures": (captioning(), coloured(60), captioned.write),
}
# run, where it breaks, what is then missing, what is still there
CASES = [
    ("characters", (characters, "score_text"), ["dev_bpc", "test_bpc"], "train_bpc"),
    ("characters", (characters, "probe"), ["attention_by_distance", "fragment"], "test_bpc"),
    ("characters", (macs, "executed"), ["macs_paper", "macs_dense", "macs_executed"], "test_bpc"),
    ("sentences", (sentences, "count_sentences"), ["test_bleu", "dev_chrf"], "test_ppl"),
    ("trees", (SequenceTask, "_perplexity"), ["dev_ppl", "test_ppl", "curve"], "test_f1"),
    ("pictures", (captions, "meteor_by_nltk"), ["test_meteor_nltk"], "test_cider"),
]


def run(name: str, folder: Path) -> Record:
    case, data, write = RUNS[name]
    return run_script(case, folder, data, write)


def again(name: str, folder: Path) -> Record:
    """Score a run once more, as docs/failures.md says; none of its updates is made again."""
    (folder / "record.json").unlink()
    with pytest.MonkeyPatch.context() as patch:
        break_updates(patch, AssertionError("it was trained again"))
        return run(name, folder)


def weights_in(folder: Path, record: Record) -> dict[str, torch.Tensor]:
    return checkpoint.load(folder / "weights.pt", record.digest, CPU)["net"]


def assert_same_weights(ours: dict, oracle: dict) -> None:
    torch.testing.assert_close(ours, oracle, rtol=0, atol=0)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a function that trains a run of which nothing fails, once."""
    return cache(lambda name: run(name, tmp_path_factory.mktemp(name) / "run"))


@pytest.mark.parametrize("name, broken, missing, there", CASES)
def test_a_score_that_fails_is_missing_with_its_reason_and_can_be_had_later(
    name, broken, missing, there, whole, tmp_path, monkeypatch
):
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(*broken, BREAKS)
        patch.setattr(train, "check_rehearsal", Mock())  # it fails after training alone
        record = run(name, folder)
    assert record.status == "ok"
    assert there in record.metrics
    for each in missing:
        assert record.missing[each].startswith("ValueError: no figures")
        assert each not in record.metrics | record.facts
    assert record.curve
    weights = weights_in(folder, record)

    scored = again(name, folder)
    unbroken = whole(name)
    for field in ("metrics", "facts", "missing"):
        assert getattr(scored, field) == getattr(unbroken, field)
    assert scored.cost.macs == unbroken.cost.macs
    assert not (folder / "checkpoint.pt").exists()
    assert_same_weights(weights_in(folder, scored), weights)


def test_a_record_that_cannot_be_written_as_json_keeps_the_weights(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(characters, "probe", lambda model, corpus: {"fragment": torch.ones(1)})
        record = run("characters", tmp_path / "run")
    assert record.status == "error"
    assert weights_in(tmp_path / "run", record)
    assert again("characters", tmp_path / "run").status == "ok"


def test_a_last_update_that_leaves_no_numbers_is_a_loss_that_diverged(tmp_path, monkeypatch):
    log_loss = Run.log_loss

    def spoil(self, loss):
        log_loss(self, loss)
        if self.step == 12:
            self.parameters[0].data.fill_(math.nan)

    monkeypatch.setattr(Run, "log_loss", spoil)
    assert run("characters", tmp_path / "run").status == "diverged"


def test_a_crash_while_it_is_scored_leaves_the_weights_of_its_checkpoint(tmp_path, monkeypatch):
    """What the waiting process writes of a run whose process the system ended."""
    case = RUNS["sentences"][0]
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(train, "evaluate", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run("sentences", folder)
    source = sources.digest(sources.of_run(case))
    story = checkpoint.load_story(folder / "checkpoint.pt", case, source)
    train.write(Outcome("error", story, "ended by SIGSEGV"), case, folder, origin())
    crashed = weights_in(folder, read_record(folder / "record.json"))
    scored = again("sentences", folder)
    assert scored.status == "ok"
    assert_same_weights(weights_in(folder, scored), crashed)
    assert checkpoint.load_story(folder / "none.pt", case, "") == Story()


def test_dev_that_cannot_be_scored_while_training_leaves_gaps_in_the_curve(
    whole, tmp_path, monkeypatch
):
    monkeypatch.setattr(characters.CharLMTask, "validate", BREAKS)
    monkeypatch.setattr(train, "check_rehearsal", Mock())
    record = run("characters", tmp_path / "run")
    assert [point.dev_bpc for point in record.curve] == [None, None, None]
    assert [*record.missing] == ["curve"]
    assert record.metrics == whole("characters").metrics
