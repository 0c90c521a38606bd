"""Timings: what turns say of one configuration and of two, and that no configuration has two
times.
"""

from pathlib import Path

import pytest

from tests._runs import run
from workflow.plan.targets import Targets
from workflow.results.precomputed import precomputed_costs, precomputed_scales
from workflow.results.runs_table import as_frame
from workflow.results.statistics import Summary
from workflow.results.timings import describe_timings, over_turns, ratio_over_turns, told_apart

SCALES = precomputed_scales()


def said_of(runs):
    return describe_timings(runs.to_dict("records"))


def timed(variant: str, *turns: float, reference: float | None = 8.0, **changes):
    """Make a run whose step has 100 characters, with the ms of its turns."""
    speed = sum(100_000 / turn for turn in turns) / len(turns)
    times = {
        "train_turns": list(turns),
        "train_ms": sum(turns) / len(turns),
        "train_tokens_per_s": speed,
    }
    return run(variant=variant, reference_ms=reference, **times, **changes)


def ratio(ours: dict, than: dict) -> Summary:
    return ratio_over_turns(as_frame([ours]), as_frame([than]), "train_tokens_per_s")


@pytest.mark.parametrize("scale", SCALES)
def test_no_configuration_has_two_times_and_a_question_times_its_own(scale):
    """Every configuration is in one group, and one row came with the project."""
    came = [row["configuration"] for row in precomputed_costs("throughput", scale)]
    assert len(came) == len(set(came))
    targets = Targets.of({"scale": scale, "train": "everything"})
    members = [name for group in targets.runs.groups.values() for name in group]
    assert sorted(members) == sorted(targets.runs.configurations)
    for name in targets.questions:
        groups = [Path(file).stem for file in targets.cost_files(name, "throughput")]
        read = [each for group in groups for each in targets.runs.groups[group]]
        assert sorted(read) == sorted(targets.runs.configurations_of(name)), name


def test_a_speed_has_the_interval_of_its_turns():
    shown = over_turns(as_frame([timed("fixed", 10.0, 10.0, 12.5)]), "train_tokens_per_s")
    assert shown.value == pytest.approx((10_000 + 10_000 + 8_000) / 3)
    assert shown.high - shown.value == pytest.approx(4.3027 * 1154.70 / 3**0.5, rel=1e-4)
    few = over_turns(as_frame([timed("fixed", 10.0, 12.5)]), "train_ms")
    assert few.low is None and few.points == [10.0, 12.5]


def test_a_time_or_speed_of_0_is_no_measurement():
    assert over_turns(as_frame([run(train_tokens_per_s=0.0)]), "train_tokens_per_s").value is None
    still = run(train_turns=[0.0, 2.0], train_ms=1.0, train_tokens_per_s=300.0)
    assert over_turns(as_frame([still]), "train_tokens_per_s").value == 300
    assert ratio(run(train_tokens_per_s=0.0), timed("b", 10)).value is None


def test_equal_speeds_cannot_be_told_apart_and_unequal_ones_can():
    assert not told_apart(ratio(timed("a", 10.0, 10.4, 9.8), timed("b", 10.1, 9.9, 10.2)))
    # two turns have no interval
    assert not told_apart(ratio(timed("a", 5.0, 5.1), timed("b", 10.0, 10.1)))
    twice = ratio(timed("a", 5.0, 5.1, 4.9), timed("b", 10.0, 10.0, 10.1))
    assert told_apart(twice) and twice.low < 2 < twice.high


def test_speeds_of_two_machines_are_not_compared():
    apart = timed("a", 5.0, 5.0, 5.1), timed("b", 5.0, 5.0, 5.1, reference=9.0)
    assert ratio(*apart).value is None
    assert any("several machines" in phrase for phrase in said_of(as_frame([*apart])))


def test_it_is_said_what_was_not_quiet_and_what_had_no_reference():
    restless = said_of(as_frame([timed("a", 5.0, 5.1, quiet=False), timed("b", 5.0, 5.1)]))
    assert (
        len(restless) == 1
        and "while 1 of 2" in restless[0]
        and "--forcerun throughput" in restless[0]
    )
    without = said_of(as_frame([timed("a", 5.0, 5.1, reference=None, quiet=None)]))
    assert without == ["speeds timed without correction for other load on the machine"]
    assert said_of(as_frame([timed("a", 5.0, 5.1)])) == []
