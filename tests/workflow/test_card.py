"""The card of a new choice, from its file to its page, at scale smoke."""

import json
import re
from pathlib import Path

import pytest

from tests._copied import copied, ended, snakemake

NORMALISER = '''"""Half of softmax, half even weights.

p_i = (softmax(z)_i + 1 / n) / 2
"""

import torch
from torch import Tensor

from ..choice import Choice, Shape


class Half(Choice):
    def __init__(self, shape: Shape):
        super().__init__()

    def forward(self, kept: Tensor) -> Tensor:
        seen = ~torch.isneginf(kept)
        even = seen / seen.sum(-1, keepdim=True).clamp(min=1)
        return (kept.softmax(-1) + even) / 2
'''


@pytest.mark.slow
def test_a_new_choice_gets_a_card_and_asked_again_there_is_nothing_to_make(tmp_path):
    folder = copied(tmp_path)
    (folder / "models/attention/normalisers/half.py").write_text(NORMALISER)
    config = ("card", "--config", "scale=smoke", "tasks=[symbols]", "variant=half")
    ended = snakemake(folder, *config)
    said = ended.stdout + ended.stderr
    assert ended.returncode == 0, said[-4000:]
    card = json.loads((folder / "results/smoke-card-half/card.json").read_text())
    assert all(part["ours"] for part in card["parts"])
    # compiled code does not know it, so the baseline is measured without that too
    assert all(part["costs"]["memory"] and part["costs"]["train"] for part in card["parts"])
    page = (folder / "reports/smoke/cards/half.html").read_text()
    assert "Half of softmax" in page
    again = snakemake(folder, "-n", *config)
    assert "Nothing to be done" in again.stdout + again.stderr
    packed = snakemake(folder, "card_bundle", *config[1:])
    assert packed.returncode == 0, packed.stderr[-4000:]
    _receive(folder / "results/smoke-card-half/card.zip", tmp_path / "other")


def _receive(archive: Path, other: Path) -> None:
    """Receive a card in a copy of the project that does not have its choice."""
    other.mkdir()
    copied(other)
    received = ended(other, "workflow.cli.receive_card", str(archive))
    assert received.returncode == 0, received.stderr
    assert "numbers agree" in received.stdout
    assert "Half of softmax" in (other / "reports/smoke/cards/received/half.html").read_text()
    assert not (other / "models/attention/normalisers/half.py").exists()


@pytest.mark.slow
def test_without_a_variant_the_line_says_what_is_missing(tmp_path):
    ended = snakemake(copied(tmp_path), "-n", "card", "--config", "scale=smoke")
    assert ended.returncode
    assert re.search(r"config error: target 'card': .*variant=", ended.stdout + ended.stderr)
