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
RUNS = {name: SimpleNamespace(job=SimpleNamespace(configuration=name)) for name in "ab"}
TRUE = {"a": 20.0, "b": 10.0}  # ms of a step on the quiet machine


def machine(*slowdowns: float):
    """Make what times rounds, each so many times slower, the reference step included."""
    left = iter(slowdowns)

    def time_all(asked):
        turns = []
        for kind, trained in asked:
            name = trained.job.configuration
            slow = next(left)
            turns.append(Turn(name, kind, 100, slow * TRUE[name], slow * QUIET, QUIET))
        return turns

    return time_all


def timed(passes: int, *slowdowns: float, names: str = "ab") -> dict:
    asked = [("train", RUNS[name]) for name in names] * passes
    turns = take_turns(asked, machine(*slowdowns))
    return {name: pooled for (name, _), pooled in pool_turns(turns, passes).items()}


def test_a_change_of_the_machines_speed_between_two_sessions_leaves_the_ratio():
    a = timed(3, 1.0, 1.0, 1.0, names="a")["a"]
    b = timed(3, 1.1, 1.1, 1.1, names="b")["b"]
    assert a["ms"] / b["ms"] == pytest.approx(2)
    assert b["tokens_per_s"] / a["tokens_per_s"] == pytest.approx(2)
    assert b["references"] == pytest.approx([8.8] * 3)
    assert b["quiet"]


def test_rounds_on_a_busy_machine_are_repeated_and_left_out():
    # the second round of both, then both once more
    for pooled in timed(3, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.05).values():
        assert len(pooled["turns"]) == 3
        assert pooled["quiet"]
        assert max(pooled["references"]) < 1.1 * QUIET


def test_the_reference_step_is_the_same_every_time_and_timed_by_number_of_threads(
    tmp_path, monkeypatch
):
    first, second = (timing.reference_step(torch.device("cpu"))() for _ in range(2))
    assert all(map(torch.equal, first, second))
    monkeypatch.setattr(timing, "BLOCKS", 1)
    reference.main([str(tmp_path / "reference.json"), "--threads", "1", "2", "--device", "cpu"])
    kind, rows = read_rows(tmp_path / "reference.json")
    assert kind == "reference"
    assert [row["threads"] for row in rows] == [1, 2]
    assert all(0 < row["ms"] < 1000 for row in rows)


def test_what_was_timed_on_a_busy_machine_is_named(tmp_path):
    for name, quiet in (("known_entropy", False), ("adaptive_vs_xl", True), ("shipped", None)):
        rows = write_rows("throughput", [{"quiet": quiet}])
        write_text(tmp_path / "throughput" / f"{name}.json", rows)
    (said,) = summary.list_restless(tmp_path)
    assert said.endswith(f": rm {tmp_path}/throughput/known_entropy.json")
    assert summary.list_restless(tmp_path / "elsewhere") == []
