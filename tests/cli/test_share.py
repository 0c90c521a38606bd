"""Weights of a run as others load them."""

import sys

import pytest
import torch

from tests._jobs import VARIANTS, bitext, corpus, job, translation
from tests._training import CPU, run_script, write_weights
from workflow.cli.share import share
from workflow.config.errors import ConfigError
from workflow.costs.trained_net import TrainedRun
from workflow.tasks import store as pairs
from workflow.tasks.char_lm import store

REASON = "the extra `archive` is not installed"
save_file = pytest.importorskip("safetensors.torch", reason=REASON).save_file
read = pytest.importorskip("models.weights", reason=REASON).read


@pytest.mark.parametrize(
    "asked, text, write, score",
    [
        (job(**VARIANTS["adaptive"]), corpus, store.write, "test_bpc"),
        (translation(), bitext, pairs.write, "test_ppl"),  # one matrix under several names
    ],
    ids=["char_lm", "translation"],
)
def test_a_model_and_its_symbols_come_back_from_the_file_alone(asked, text, write, score, tmp_path):
    record = run_script(asked, tmp_path / "run", text(), write)
    model, symbols = read(share(tmp_path / "run", tmp_path / "toy.npz"))
    assert symbols == text().symbols
    assert not model.training
    shared = model.state_dict()
    ours = TrainedRun.at(tmp_path / "run" / "weights.pt").load(CPU)[1].state_dict()
    assert ours.keys() == shared.keys()
    assert all(torch.equal(shared[name], ours[name]) for name in ours)
    card = (tmp_path / "run" / "card.md").read_text()
    assert f"| {record.metrics[score]:.4g} |" in card
    assert record.signature in card


def test_what_is_no_model_is_refused(tmp_path):
    write_weights(job(), tmp_path / "run", {})
    with pytest.raises(ConfigError, match="the run failed"):
        share(tmp_path / "run", tmp_path / "toy.npz")
    save_file({"a": torch.ones(1)}, tmp_path / "other.safetensors")
    with pytest.raises(ValueError, match="attention, net, symbols"):
        read(tmp_path / "other.safetensors")


def test_without_safetensors_the_extra_is_named(tmp_path, monkeypatch):
    run_script(job(), tmp_path / "run", corpus(), store.write)
    monkeypatch.delitem(sys.modules, "models.weights")
    monkeypatch.delattr("models.weights", raising=False)
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(ConfigError, match=r"\[archive\]"):
        share(tmp_path / "run", tmp_path / "toy.npz")
