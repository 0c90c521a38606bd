"""A score that fails costs no training: weights and curve are kept, the reason is told, and scoring
is done again.
"""

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
from workflow.config.errors import ConfigError
from workflow.plan import sources
from workflow.results.outcome import Outcome
from workflow.results.record import Record, read_record
from workflow.scripts import train
from workflow.tasks import store as pairs
from workflow.tasks.captioning import runner as captions
from workflow.tasks.captioning import store as captioned
from workflow.tasks.char_lm import runner as texts
from workflow.tasks.char_lm import store
from workflow.tasks.parsing import runner as brackets
from workflow.tasks.sequences import SequenceTask
from workflow.tasks.translation import runner as sentences
from workflow.training import checkpoint, loop
from workflow.training.evaluation import Story
from workflow.training.run import Run

FIGURES = "ValueError: no figures"
BREAKS = Mock(side_effect=ValueError("no figures"))
TOP_K = {"selection": {"name": "top_k", "k": 2}}
RUNS = {
    "text": (job(), corpus(), store.write),
    "sentences": (translation(**TOP_K), bitext(), pairs.write),
    "trees": (parsing(), trees(80), pairs.write),
    "pictures": (captioning(), coloured(60), captioned.write),
}
# which run, what fails in it, which scores, facts and costs are then missing, and some that are
# there
CASES = {
    "bpc": ("text", (texts, "score_text"), {"dev_bpc", "test_bpc", "tokens_scored"}, {"train_bpc"}),
    "a probe": ("text", (texts, "probe"), {"attention_by_distance", "fragment"}, {"test_bpc"}),
    "a count": (
        "text",
        (macs, "executed"),
        {"macs_paper", "macs_dense", "macs_executed"},
        {"test_bpc"},
    ),
    "sacrebleu": (
        "sentences",
        (sentences, "count_sentences"),
        {"test_bleu", "dev_chrf"},
        {"test_ppl", "dev_ppl"},
    ),
    "maps": ("sentences", (sentences, "draw_maps"), {"maps"}, {"test_bleu", "test_bleu_every_key"}),
    "beam search": (
        "trees",
        (SequenceTask, "write"),
        {"dev_f1", "test_f1", "test_repaired"},
        {"test_ppl"},
    ),
    "brackets": ("trees", (brackets, "count_sentence"), {"dev_f1", "test_f1"}, {"test_ppl"}),
    "perplexity": (
        "trees",
        (SequenceTask, "_perplexity"),
        {"dev_ppl", "test_ppl", "curve"},
        {"test_f1"},
    ),
    "meteor": ("pictures", (captions, "meteor_by_nltk"), {"test_meteor_nltk"}, {"test_cider"}),
    "looks": (
        "pictures",
        (captions, "record_looks"),
        {"looks"},
        {"test_cider", "test_meteor_nltk"},
    ),
}


def again(case: tuple, folder: Path) -> Record:
    """Score a run once more, as docs/failures.md says; none of its updates is made again."""
    (folder / "record.json").unlink()
    with pytest.MonkeyPatch.context() as patch:
        break_updates(patch, AssertionError("it was trained again"))
        return run_script(case[0], folder, *case[1:])


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a function that trains a run of which nothing fails, once."""
    return cache(
        lambda name: run_script(
            RUNS[name][0], tmp_path_factory.mktemp(name) / "run", *RUNS[name][1:]
        )
    )


@pytest.mark.parametrize("name, broken, missing, there", CASES.values(), ids=CASES)
def test_a_score_that_fails_is_missing_with_its_reason_and_can_be_had_later(
    name, broken, missing, there, whole, tmp_path, monkeypatch
):
    case, folder = RUNS[name], tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(*broken, BREAKS)
        patch.setattr(train, "check_rehearsal", Mock())  # it fails after training alone
        record = run_script(case[0], folder, *case[1:])
    assert (
        record.status == "ok"
        and missing <= record.missing.keys()
        and not there & record.missing.keys()
    )
    assert (
        all(record.missing[name].startswith(FIGURES) for name in missing) and FIGURES in record.why
    )
    assert there <= record.metrics.keys() and not missing & (
        record.metrics.keys() | record.facts.keys()
    )
    assert len(record.curve) == case[0].training.steps // case[0].training.evaluate_every
    weights = checkpoint.load(folder / "weights.pt", case[0].digest, CPU)["net"]
    assert weights and (folder / "checkpoint.pt").exists() and (folder / "curve.csv").stat().st_size
    scored = again(case, folder)
    assert all(
        getattr(scored, part) == getattr(whole(name), part)
        for part in ("metrics", "facts", "missing")
    )
    assert scored.cost.macs == whole(name).cost.macs and not (folder / "checkpoint.pt").exists()
    kept = checkpoint.load(folder / "weights.pt", case[0].digest, CPU)["net"]
    assert all(torch.equal(kept[key], weight) for key, weight in weights.items())


@pytest.mark.parametrize(
    "error", [MemoryError("no memory"), ConfigError("no such word"), RecursionError("too deep")]
)
def test_whatever_a_task_of_ones_own_raises_while_it_scores_is_a_reason(
    error, tmp_path, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(texts.CharLMTask, "evaluate", Mock(side_effect=error))
        record = run_script(job(), tmp_path / "run")
    assert (
        record.status == "ok"
        and str(error) in record.missing["test_bpc"]
        and "train_bpc" in record.metrics
    )
    assert again(RUNS["text"], tmp_path / "run").metrics["test_bpc"] > 0


def test_dev_that_cannot_be_scored_while_training_leaves_gaps_in_the_curve(
    whole, tmp_path, monkeypatch
):
    monkeypatch.setattr(texts.CharLMTask, "validate", BREAKS)
    monkeypatch.setattr(train, "check_rehearsal", Mock())
    record = run_script(job(), tmp_path / "run")
    assert [(point.step, point.dev_bpc) for point in record.curve] == [
        (4, None),
        (8, None),
        (12, None),
    ]
    assert [*record.missing] == ["curve"] and record.metrics == whole("text").metrics


def test_a_record_that_cannot_be_written_as_json_keeps_the_weights(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(texts, "probe", lambda net, corpus: {"fragment": torch.ones(1)})
        record = run_script(job(), tmp_path / "run")
    assert (
        record.status == "error" and "serializ" in record.reason.lower() and len(record.curve) == 3
    )
    assert checkpoint.load(tmp_path / "run" / "weights.pt", record.digest, CPU)["net"]
    assert again(RUNS["text"], tmp_path / "run").status == "ok"


def test_a_last_update_that_leaves_no_numbers_is_a_loss_that_diverged(tmp_path, monkeypatch):
    log_loss = Run.log_loss

    def spoil(self, loss):
        log_loss(self, loss)
        if self.step == 12:
            self.parameters[0].data.fill_(math.nan)

    monkeypatch.setattr(Run, "log_loss", spoil)
    record = run_script(job(), tmp_path / "run")
    assert record.status == "diverged" and "non-finite" in record.reason
    assert not (tmp_path / "run" / "checkpoint.pt").exists()


def test_an_update_that_fails_leaves_no_weights_though_it_is_the_last(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "check_loss", lambda run: 1 / 0 if run.step == 12 else None)
    record = run_script(job(), tmp_path / "run")
    assert (
        record.status == "error"
        and not checkpoint.load(tmp_path / "run" / "weights.pt", record.digest, CPU)["net"]
    )


def test_a_crash_while_it_is_scored_leaves_the_weights_of_its_checkpoint(tmp_path, monkeypatch):
    """What the waiting process writes of a run whose process the system ended."""
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(train, "evaluate", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run_script(translation(), folder, bitext(), pairs.write)
    source = sources.digest(sources.of_run(translation()))
    story = checkpoint.load_story(folder / "checkpoint.pt", translation(), source)
    crashed = Outcome("error", story, "ended by SIGSEGV")
    train.write(crashed, translation(), folder, origin())
    assert read_record(folder / "record.json").status == "error"
    crashed = checkpoint.load(folder / "weights.pt", translation().digest, CPU)["net"]
    assert again((translation(), bitext(), pairs.write), folder).status == "ok"
    scored = checkpoint.load(folder / "weights.pt", translation().digest, CPU)["net"]
    assert all(torch.equal(crashed[name], weight) for name, weight in scored.items())
    assert checkpoint.load_story(folder / "none.pt", translation(), "") == Story()
