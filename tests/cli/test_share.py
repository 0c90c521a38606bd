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

RUNS = {
    "char_lm": (job(**VARIANTS["adaptive"]), corpus, store.write),
    "translation": (translation(), bitext, pairs.write),  # one matrix under several names
}


@pytest.mark.parametrize("name", RUNS)
def test_a_net_and_its_symbols_come_back_from_the_file_alone(name, tmp_path):
    asked, text, write = RUNS[name]
    record = run_script(asked, tmp_path / "run", text(), write)
    net, symbols = read(share(tmp_path / "run", tmp_path / "toy.npz"))
    assert symbols == text().symbols and not net.training
    ours = TrainedRun.at(tmp_path / "run" / "weights.pt").load(CPU)[1].state_dict()
    assert ours.keys() == net.state_dict().keys()
    assert all(torch.equal(each, ours[name]) for name, each in net.state_dict().items())
    card = (tmp_path / "run" / "card.md").read_text()
    assert f"| {record.metrics['test_ppl' if name == 'translation' else 'test_bpc']:.4g} |" in card
    assert record.signature in card and f"- span: {asked.attention.span['name']}, " in card


def test_what_is_no_net_is_refused(tmp_path):
    write_weights(job(), tmp_path / "run", {})
    with pytest.raises(ConfigError, match="the run failed"):
        share(tmp_path / "run", tmp_path / "toy.npz")

    save_file({"a": torch.ones(1)}, tmp_path / "other.safetensors")
    with pytest.raises(
        ValueError, match="not a model of this package: its metadata lacks attention, net, symbols"
    ):
        read(tmp_path / "other.safetensors")


def test_without_safetensors_the_extra_is_named(tmp_path, monkeypatch):
    run_script(job(), tmp_path / "run", corpus(), store.write)
    monkeypatch.delitem(sys.modules, "models.weights")
    monkeypatch.delattr("models.weights", raising=False)
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(ConfigError, match=r"\[archive\]"):
        share(tmp_path / "run", tmp_path / "toy.npz")
