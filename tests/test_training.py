"""The loop: data order, updates, scores; that it repeats itself, survives being killed, and ends in a record."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from tests._jobs import VARIANTS, corpus, job
from workflow.config.errors import ConfigError
from workflow.data.text import store
from workflow.results.record import read_record
from workflow.scripts import train
from workflow.tasks.streams import Streams, cut, evaluate
from workflow.training import checkpoint
from workflow.training.loop import Run
from workflow.training.origin import pick_device
from workflow.training.watchdog import TimeLimit, time_limit

CPU = torch.device("cpu")
ROOT = Path(__file__).parent.parent


def test_streams_are_contiguous_and_blocks_follow_one_another():
    streams = Streams(np.arange(40, dtype=np.uint16), batch=2, block=4, seed=0, device=CPU)
    inputs, targets, anew = streams.read()
    assert inputs.tolist() == [[0, 1, 2, 3], [20, 21, 22, 23]]
    assert targets.tolist() == [[1, 2, 3, 4], [21, 22, 23, 24]]
    assert not anew
    assert streams.read()[0].tolist() == [[4, 5, 6, 7], [24, 25, 26, 27]]


def test_after_a_pass_streams_start_anew_at_a_random_offset_below_the_block():
    streams = Streams(np.arange(40, dtype=np.uint16), batch=2, block=4, seed=0, device=CPU)
    reads = [streams.read() for _ in range(30)]
    begins = [inputs[0, 0].item() for inputs, _, anew in reads if anew]
    assert len(begins) >= 5 and set(begins) <= {0, 1, 2, 3} and len(set(begins)) > 1


def test_a_text_shorter_than_its_blocks_is_refused():
    with pytest.raises(ConfigError, match="block T = 16 needs more than 32"):
        Streams(np.arange(100, dtype=np.uint16), batch=4, block=16, seed=0, device=CPU)


def test_evaluation_bookkeeping_of_five_million_characters():
    """8 streams, blocks of 512: 1220 blocks, 4,997,120 characters scored (reference, 1.6)."""

    class Uniform(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.zero = torch.nn.Parameter(torch.zeros(1))

        def start(self, batch):
            return None

        def forward(self, tokens, past):
            return self.zero.expand(*tokens.shape, 4), past

    bpc, scored = evaluate(Uniform(), np.zeros(5_000_000, np.uint16), streams=8, block=512)
    assert scored == 4_997_120
    assert bpc == pytest.approx(2)  # four symbols, nothing known


def test_cut_drops_the_remainder():
    assert cut(np.arange(11), 3).tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


def finished(made_job, folder, text=None):
    run = Run(made_job, text or corpus(), folder, CPU)
    run.resume()
    run.train()
    made = train.evaluate(run)
    return made["metrics"], made["facts"], run.net.state_dict()


def interrupt(run, step):
    """Train it until it is broken off after `step` steps."""

    def check():
        if run.step == step:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.train(check)


def assert_same(one, other):
    assert one[0] == other[0]
    assert one[1] == other[1]
    for (name, a), b in zip(one[2].items(), other[2].values(), strict=True):
        assert torch.equal(a, b), name


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_same_job_twice_gives_the_same_numbers(variant, tmp_path):
    made = job(**VARIANTS[variant], steps=6)
    assert_same(finished(made, tmp_path / "a"), finished(made, tmp_path / "b"))


@pytest.mark.parametrize("variant", ["adaptive", "dynamic", "transformer_xl"])
def test_a_resumed_run_ends_as_one_never_interrupted(variant, tmp_path):
    """Dropout is on, so the random state must come back too."""
    made = job(**VARIANTS[variant])
    interrupt(Run(made, corpus(), tmp_path / "b", CPU), step=6)
    assert_same(finished(made, tmp_path / "a"), finished(made, tmp_path / "b"))


def test_accumulated_parts_make_the_step_of_the_whole_batch(tmp_path):
    quiet = {"net": {"dropout": 0.0, "attention_dropout": 0.0}}
    whole = finished(job(**quiet, steps=4), tmp_path / "a")
    parts = finished(job(**quiet, steps=4, accumulate=2), tmp_path / "b")
    for a, b in zip(whole[2].values(), parts[2].values(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def test_it_learns(tmp_path):
    run = Run(job(steps=60, net={"dropout": 0.0, "attention_dropout": 0.0}), corpus(), tmp_path, CPU)
    run.train()
    assert run.curve[-1]["dev_bpc"] < 0.6 * run.curve[0]["dev_bpc"]


def record_of(made_job, tmp_path, text=None):
    data, folder = tmp_path / "toy.npz", tmp_path / "run"
    store.write(data, text or corpus())
    train.main([made_job.canonical(), str(folder), "--data", str(data), "--device", "cpu"])
    return read_record(folder / "record.json"), folder


@pytest.fixture
def unlimited(monkeypatch):
    """In the test's own process no memory bound is set: it could not be taken back."""
    monkeypatch.setattr(train, "limit_memory", lambda budget: None)


def test_a_good_run_leaves_record_curve_and_weights(tmp_path, unlimited):
    record, folder = record_of(job(), tmp_path)
    assert record.status == "ok" and record.digest == job().digest
    assert [point.step for point in record.curve] == [4, 8, 12]
    assert record.cost.macs.executed < record.cost.macs.dense
    assert {path.name for path in folder.iterdir()} == {"job.json", "record.json", "curve.csv", "weights.pt"}


def test_a_diverging_run_is_a_record(tmp_path, unlimited):
    record, folder = record_of(job(lr=1e6, warmup=0, loss_bound=3.0, steps=16), tmp_path)
    assert record.status == "diverged" and "bound" in record.reason
    assert not (folder / "weights.pt").exists()


def test_a_run_out_of_time_is_a_record_with_its_curve(tmp_path, unlimited):
    record, _ = record_of(job(steps=100_000, time_limit_s=2), tmp_path)
    assert record.status == "timeout" and len(record.curve) > 0


def test_a_run_out_of_memory_is_a_record(tmp_path, unlimited, monkeypatch):
    def starved(self):
        torch.empty(1 << 60)

    monkeypatch.setattr(Run, "_update", starved)
    record, _ = record_of(job(), tmp_path)
    assert record.status == "oom"


def test_an_unforeseen_error_is_a_record_with_the_end_of_its_log(tmp_path, unlimited, monkeypatch):
    monkeypatch.setattr(Run, "_update", lambda self: 1 / 0)
    record, _ = record_of(job(), tmp_path)
    assert record.status == "error" and "ZeroDivisionError" in record.reason
    assert any("ZeroDivisionError" in line for line in record.log)


def test_a_text_of_another_checksum_is_refused(tmp_path, unlimited):
    made = job().model_copy(update={"checksum": "sha256:other"})
    with pytest.raises(ConfigError, match="the job was made for sha256:other"):
        record_of(made, tmp_path)


def test_a_deadline_passes_quietly_and_rings_only_after_its_grace():
    with time_limit(0.05) as deadline:
        deadline.check()
        time.sleep(0.2)
        with pytest.raises(TimeLimit):
            deadline.check()
    with pytest.raises(TimeLimit), time_limit(0.05, grace=0.05):
        time.sleep(5)


def test_killed_and_started_again_it_ends_with_the_same_record(tmp_path):
    """SIGKILL after the first checkpoint, then the same command again, against an uninterrupted run."""
    data = tmp_path / "toy.npz"
    store.write(data, corpus())
    made = job(steps=120, evaluate_every=40, checkpoint_every=10)

    def command(folder):
        words = [sys.executable, "-m", "workflow.scripts.train", made.canonical(), str(folder)]
        return subprocess.Popen([*words, "--data", str(data), "--device", "cpu"], cwd=ROOT, stdout=subprocess.DEVNULL)

    killed = command(tmp_path / "killed")
    deadline = time.monotonic() + 60
    while (
        not (tmp_path / "killed" / "checkpoint.pt").exists() and time.monotonic() < deadline and killed.poll() is None
    ):
        time.sleep(0.005)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    assert not (tmp_path / "killed" / "record.json").exists()
    assert command(tmp_path / "killed").wait() == 0
    assert command(tmp_path / "whole").wait() == 0
    one, other = (read_record(tmp_path / name / "record.json") for name in ("killed", "whole"))
    assert any("resumed" in line for line in one.log)
    assert (one.metrics, one.facts) == (other.metrics, other.facts)
    keys = ("step", "train_bpc", "dev_bpc", "mean_span", "max_span")
    assert [[getattr(p, key) for key in keys] for p in one.curve] == [
        [getattr(p, key) for key in keys] for p in other.curve
    ]


@pytest.mark.parametrize(
    "content",
    [b"", b"not a checkpoint", b"PK\x03\x04 cut off", b"hello world", b"epoch 3", b"step,dev_bpc\n100,2.5\n200,2.25\n"],
)
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


def test_another_jobs_checkpoint_is_refused(tmp_path):
    checkpoint.save(tmp_path / "c.pt", {"digest": "abc"})
    with pytest.raises(ConfigError, match="a checkpoint of job abc, not of x"):
        checkpoint.load(tmp_path / "c.pt", "x", CPU)


def test_a_failed_write_leaves_the_previous_checkpoint(tmp_path, monkeypatch):
    path = tmp_path / "c.pt"
    checkpoint.save(path, {"digest": "x", "step": 1})

    def full_disk(fd):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        checkpoint.save(path, {"digest": "x", "step": 2})
    assert checkpoint.load(path, "x", CPU)["step"] == 1
    assert [one.name for one in tmp_path.iterdir()] == ["c.pt"]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_gpu_that_is_not_there_is_refused():
    with pytest.raises(ConfigError, match="torch sees none; valid here: auto, cpu"):
        pick_device("cuda")
