"""Timings: what rounds say of one configuration and of two; no configuration has two times."""

from pathlib import Path

import pytest

from tests._runs import run
from workflow.plan.targets import Targets
from workflow.results.precomputed import precomputed_costs, precomputed_scales
from workflow.results.runs_table import as_frame
from workflow.results.statistics import Summary
from workflow.results.timings import over_turns, ratio_over_turns, told_apart


def timed(variant: str, *turns: float, reference: float | None = 8.0, **changes):
    """Make a run whose step has 100 characters, with the ms of its rounds."""
    speeds = [100_000 / turn for turn in turns]
    times = {
        "train_turns": list(turns),
        "train_ms": sum(turns) / len(turns),
        "train_tokens_per_s": sum(speeds) / len(turns),
    }
    return run(
        variant=variant,
        reference_ms=reference,
        **times,
        **changes,
    )


def speed(row: dict) -> Summary:
    return over_turns(as_frame([row]), "train_tokens_per_s")


def ratio(ours: dict, than: dict) -> Summary:
    of_ours = as_frame([ours])
    of_than = as_frame([than])
    return ratio_over_turns(of_ours, of_than, "train_tokens_per_s")


@pytest.mark.parametrize("scale", precomputed_scales())
def test_no_configuration_has_two_times_and_a_question_times_its_own(scale):
    shipped = [row["configuration"] for row in precomputed_costs("throughput", scale)]
    assert len(shipped) == len(set(shipped))
    targets = Targets.of({"scale": scale, "train": "everything"})
    runs = targets.runs
    members = []
    for group in runs.groups.values():
        members += group
    assert sorted(members) == sorted(runs.configurations)
    for name in targets.questions:
        read = []
        for file in targets.cost_files(name, "throughput"):
            group = Path(file).stem
            read += runs.groups[group]
        expected = runs.configurations_of(name)
        assert sorted(read) == sorted(expected), name


def test_a_speed_has_the_interval_of_its_rounds():
    shown = speed(timed("fixed", 10.0, 10.0, 12.5))
    mean = (10_000 + 10_000 + 8_000) / 3
    assert shown.value == pytest.approx(mean)
    half = 4.3027 * 1154.70 / 3**0.5
    assert shown.high - shown.value == pytest.approx(half, rel=1e-4)
    of_two_rounds = speed(timed("fixed", 10.0, 12.5))
    assert of_two_rounds.low is None


@pytest.mark.parametrize(
    "ours, than, differs",
    [
        ((10.0, 10.4, 9.8), (10.1, 9.9, 10.2), False),
        ((5.0, 5.1), (10.0, 10.1), False),  # two rounds have no interval
        ((5.0, 5.1, 4.9), (10.0, 10.0, 10.1), True),
    ],
)
def test_unequal_speeds_differ_significantly(ours, than, differs):
    compared = ratio(timed("a", *ours), timed("b", *than))
    assert told_apart(compared) == differs


def test_speeds_of_two_machines_are_not_compared():
    here = timed("a", 5.0, 5.0, 5.1)
    there = timed("b", 5.0, 5.0, 5.1, reference=9.0)
    assert ratio(here, there).value is None
