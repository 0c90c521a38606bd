"""Checkpoints: written whole or not at all, read without executing code, refused where they are not the run's own."""

import os
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch

from tests._training import CPU
from workflow.config.errors import ConfigError
from workflow.training import checkpoint


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off", b"step,dev_bpc\n100,2.5\n"])
def test_a_broken_checkpoint_is_refused(content, tmp_path):
    path = tmp_path / "checkpoint.pt"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="not a checkpoint of this suite") as error:
        checkpoint.load(path, "x", CPU)
    assert str(error.value).isprintable() and path.read_bytes() == content


class Evil:
    def __reduce__(self):
        return (os.system, ("touch /tmp/executed-by-a-checkpoint",))


def test_code_in_a_checkpoint_is_not_executed(tmp_path):
    path = tmp_path / "checkpoint.pt"
    torch.save({"version": 1, "digest": "x", "evil": Evil()}, path)
    with pytest.raises(ConfigError):
        checkpoint.load(path, "x", CPU)
    assert not Path("/tmp/executed-by-a-checkpoint").exists()


def test_a_failed_write_leaves_the_previous_checkpoint(tmp_path, monkeypatch):
    path = tmp_path / "c.pt"
    checkpoint.save(path, {"digest": "x", "step": 1})

    monkeypatch.setattr(os, "fsync", Mock(side_effect=OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space left"):
        checkpoint.save(path, {"digest": "x", "step": 2})
    assert checkpoint.load(path, "x", CPU)["step"] == 1
    assert [file.name for file in tmp_path.iterdir()] == ["c.pt"]
