"""Turns of a timing on made-up machines: one that slows down, and one that was busy for a while."""

from types import SimpleNamespace

import pytest
import torch

from workflow.costs import timing as step
from workflow.results.rows import read_rows
from workflow.scripts import reference
from workflow.scripts.throughput import Turn, pool_turns, take_turns

QUIET = 8.0
RUNS = {name: SimpleNamespace(job=SimpleNamespace(configuration=name)) for name in ("a", "b")}
TRUE = {"a": 20.0, "b": 10.0}  # ms of a step on the quiet machine


def machine(*slowdowns: float):
    """Times turns; each is so many times slower than on the quiet machine, the reference step
    beside it too.
    """
    left = iter(slowdowns)

    def time_all(asked):
        return [_turn(trained.job.configuration, kind, next(left)) for kind, trained in asked]

    return time_all


def _turn(name: str, kind: str, slow: float) -> Turn:
    return Turn(name, kind, 100, slow * TRUE[name], slow * QUIET, QUIET)


def taken(passes: int, *slowdowns: float, names: str = "ab") -> dict:
    asked = [("train", RUNS[name]) for _ in range(passes) for name in names]
    turns = take_turns(asked, machine(*slowdowns))
    return {name: pooled for (name, _), pooled in pool_turns(turns, passes).items()}


def test_a_change_of_the_machines_speed_between_two_sessions_leaves_the_ratio():
    a = taken(3, 1.0, 1.0, 1.0, names="a")["a"]
    b = taken(3, 1.1, 1.1, 1.1, names="b")["b"]
    assert a["ms"] / b["ms"] == pytest.approx(2)
    assert b["tokens_per_s"] / a["tokens_per_s"] == pytest.approx(2)
    assert b["references"] == pytest.approx([8.8] * 3) and b["quiet"]


def test_turns_on_a_busy_machine_are_taken_again_and_left_out():
    # the second turn of both, then both once more
    pooled = taken(3, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.05)
    assert [len(each["turns"]) for each in pooled.values()] == [3, 3]
    assert all(each["quiet"] and max(each["references"]) < 1.1 * QUIET for each in pooled.values())


def test_on_a_machine_that_stays_busy_all_turns_are_kept_and_it_is_said():
    pooled = taken(3, *[1.0] * 2, *[2.0] * 8)
    assert not pooled["a"]["quiet"] and len(pooled["a"]["turns"]) == 5
    assert pooled["a"]["ms"] == pytest.approx(20)


def test_the_reference_step_is_the_same_every_time_and_its_file_has_each_number_of_threads(
    tmp_path, monkeypatch
):
    device = torch.device("cpu")
    first, second = (step.reference_step(device)() for _ in range(2))
    assert all(map(torch.equal, first, second))
    monkeypatch.setattr(step, "BLOCKS", 1)
    reference.main([str(tmp_path / "reference.json"), "--threads", "1", "2", "--device", "cpu"])
    kind, rows = read_rows(tmp_path / "reference.json")
    assert kind == "reference" and [row["threads"] for row in rows] == [1, 2]
    assert all(0 < row["ms"] < 1000 for row in rows)
