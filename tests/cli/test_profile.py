"""A trace of a few training steps of one run."""

import gzip
import json

import pytest

from tests._jobs import corpus, job
from tests._training import write_job
from workflow.cli import profile
from workflow.config.errors import ConfigError
from workflow.tasks.char_lm import store


@pytest.fixture
def words(tmp_path):
    """The command's words for a small job and its text, with a place for the trace."""
    store.write(tmp_path / "toy.npz", corpus())
    path = write_job(job(), tmp_path / "run")
    return [str(path), str(tmp_path / "trace.json.gz"), "--data", str(tmp_path / "toy.npz"), "--device", "cpu"]


@pytest.mark.slow
def test_a_trace_holds_the_steps_the_layers_and_the_operators_of_a_run_and_no_record_is_left(words, tmp_path, capsys):
    profile.main([*words, "--steps", "2"])
    events = json.loads(gzip.decompress((tmp_path / "trace.json.gz").read_bytes()))["traceEvents"]
    names = [event["name"] for event in events if event.get("cat") == "user_annotation"]
    assert sum(name.startswith("ProfilerStep") for name in names) == 2
    assert names.count("blocks.0.attention") == names.count("blocks.1.attention") >= 2
    products = {"aten::mm", "_Linear"}  # by torch, or compiled for this machine
    assert any(event["name"] in products and event["ph"] == "X" for event in events)
    assert "trace.json.gz: 2 training steps" in capsys.readouterr().out
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["job.json"]


@pytest.mark.parametrize(
    "changes, line",
    [
        (["--steps", "0"], "--steps: invalid whole number of at least 1 value: '0'"),
        (["--steps", "60"], "--steps 60: the job has 12 steps, and 3 of them come before the trace"),
        (["--data", "no.npz"], "no.npz: not there yet; `snakemake no.npz` makes it"),
    ],
)
def test_bad_input_ends_in_one_line(changes, line, words):
    with pytest.raises(ConfigError, match=line):
        profile.main([*words, *changes])
