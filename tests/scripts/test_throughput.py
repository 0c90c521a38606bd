"""Rounds of a timing on made-up machines: one that slows down, one that is busy for a while."""

from types import SimpleNamespace

import pytest
import torch

from workflow.costs import timing
from workflow.results.record import write_text
from workflow.results.rows import read_rows, write_rows
from workflow.scripts import reference, summary
from workflow.scripts.throughput import Turn, pool_turns, take_turns

QUIET = 8.0  # ms of the reference step
TRUE = {"a": 20.0, "b": 10.0}  # ms of a step on the quiet machine


def machine(*slowdowns: float):
    """Make what times rounds, each so many times slower, the reference step included."""
    left = iter(slowdowns)

    def time_all(asked):
        turns = []
        for kind, trained in asked:
            name = trained.job.configuration
            slow = next(left)
            step = slow * TRUE[name]
            turn = Turn(name, kind, 100, step, slow * QUIET, QUIET)
            turns.append(turn)
        return turns

    return time_all


def timed(passes: int, *slowdowns: float, names: str = "ab") -> dict:
    """Time the training steps of these configurations; return what is pooled by name."""
    asked = []
    for name in names:
        job = SimpleNamespace(configuration=name)
        trained = SimpleNamespace(job=job)
        asked.append(("train", trained))
    turns = take_turns(asked * passes, machine(*slowdowns))
    found = {}
    for (name, _), pooled in pool_turns(turns, passes).items():
        found[name] = pooled
    return found


def test_a_change_of_the_machines_speed_between_two_sessions_leaves_the_ratio():
    a = timed(3, 1.0, 1.0, 1.0, names="a")["a"]
    b = timed(3, 1.1, 1.1, 1.1, names="b")["b"]
    times = a["ms"] / b["ms"]
    assert times == pytest.approx(2)
    speeds = b["tokens_per_s"] / a["tokens_per_s"]
    assert speeds == pytest.approx(2)
    assert b["references"] == pytest.approx([8.8] * 3)
    assert b["quiet"]


def test_rounds_on_a_busy_machine_are_repeated_and_left_out():
    # the second round of both, then both once more
    found = timed(3, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.05)
    assert found.keys() == TRUE.keys()
    for pooled in found.values():
        assert len(pooled["turns"]) == 3
        assert pooled["quiet"]
        slowest = max(pooled["references"])
        assert slowest < 1.1 * QUIET


def test_the_reference_step_is_the_same_every_time_and_timed_by_number_of_threads(
    tmp_path, monkeypatch
):
    cpu = torch.device("cpu")
    first = timing.reference_step(cpu)
    second = timing.reference_step(cpu)
    for ours, again in zip(first(), second(), strict=True):
        assert torch.equal(ours, again)
    monkeypatch.setattr(timing, "BLOCKS", 1)
    path = tmp_path / "reference.json"
    reference.main([str(path), "--threads", "1", "2", "--device", "cpu"])
    kind, rows = read_rows(path)
    assert kind == "reference"
    one, two = rows
    assert one["threads"] == 1
    assert two["threads"] == 2
    for row in rows:
        assert 0 < row["ms"] < 1000


def test_what_was_timed_on_a_busy_machine_is_named(tmp_path):
    timings = tmp_path / "throughput"
    was_quiet = {
        "known_entropy": False,
        "adaptive_vs_xl": True,
        "shipped": None,
    }
    for name, quiet in was_quiet.items():
        rows = write_rows("throughput", [{"quiet": quiet}])
        write_text(timings / f"{name}.json", rows)
    (said,) = summary.list_restless(tmp_path)
    assert said.endswith(f": rm {timings}/known_entropy.json")
    assert summary.list_restless(tmp_path / "elsewhere") == []
