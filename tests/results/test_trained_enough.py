"""What the last quarter of a curve brought, and whether a net learned at all, worked out by
hand.
"""

import math

import numpy as np
import pytest

from tests._runs import run
from workflow.results.runs_table import as_frame
from workflow.results.trained_enough import hardly_moved, late_gain, why_untrained
from workflow.tasks.frequencies import symbol_entropy


def curve(**points):
    return [{"step": int(step.removeprefix("at")), "dev_bpc": bpc} for step, bpc in points.items()]


@pytest.mark.parametrize(
    "points, gain",
    [
        ({"at50": 3.0, "at75": 2.5, "at100": 2.4}, 0.1),  # a point where the last quarter begins
        ({"at60": 3.0, "at80": 2.0, "at100": 2.0}, 0.25),  # between two points: 2.25 at 75
        ({}, None),
        ({"at100": 2.0}, None),
        ({"at90": 2.5, "at100": 2.0}, 0.5),  # none before it: the first there is
        ({"at50": 2.0, "at75": 2.0, "at100": 2.1}, -0.1),
    ],
)
def test_the_gain_of_the_last_quarter(points, gain):
    assert late_gain(curve(**points)) == (gain if gain is None else pytest.approx(gain))


def test_a_perplexity_counts_in_bits():
    points = [
        {"step": 75, "dev_bpc": None, "dev_ppl": 8.0},
        {"step": 100, "dev_ppl": 4.0},
        {"step": 110},
    ]
    assert late_gain(points) == 1.0


@pytest.mark.parametrize("end", [float("inf"), float("nan"), 0.0])
def test_a_point_that_is_no_number_is_no_point(end):
    points = [{"step": step, "dev_ppl": 2.0 ** (4 - step / 50)} for step in (50, 100)]
    assert late_gain([*points, {"step": 200, "dev_ppl": end}]) == late_gain(points)
    assert late_gain([{"step": step, "dev_ppl": end} for step in (1, 2)]) is None


@pytest.mark.parametrize(
    "points, learned",
    [
        ({"at10": 5.0, "at50": 4.94, "at100": 5.1}, True),  # its best point counts, not its last
        ({"at10": 5.0, "at50": 4.97, "at100": 4.96}, False),
        ({"at10": 4.0, "at50": 5.0, "at100": 5.0}, False),
        ({"at20": 2.0, "at100": 2.0}, True),  # begins too late to say
        ({"at100": 5.0}, True),
        ({}, True),
    ],
)
def test_a_net_whose_curve_is_flat_from_the_start_learned_nothing(points, learned):
    told = why_untrained(curve(**points))
    assert (told is None) == learned
    assert learned or "from update 10 to 100 " in told  # not after so many updates in all


@pytest.mark.parametrize(
    "variant, S, start, means, still",
    [
        ("adaptive", 512, 8.0, (9.0, 9.2), True),  # it has to reach 1.25 (8 + 1) = 11.25
        # 11.2 over its seeds: one that grew does not vouch for the other
        ("adaptive", 512, 8.0, (11.0, 11.4), True),
        ("adaptive", 512, 8.0, (11.1, 11.5), False),
        ("dynamic", 64, 33.2, (42.0, 43.0), True),  # of 42.75
        ("adaptive", 11, 8.0, (8.0, 8.0), False),  # its limit leaves it no room
        ("fixed", 512, 8.0, (8.0, 8.0), False),  # learns no span
    ],
)
def test_a_learned_span_is_judged_on_its_own_dataset_and_limit(variant, S, start, means, still):
    of_one = {"variant": variant, "S": S, "start_span": start, "corpus": "a"}
    rows = [run(seed=seed, mean_span=mean, **of_one) for seed, mean in enumerate(means)]
    grown = {"variant": variant, "start_span": 8.0, "mean_span": 100.0}
    # elsewhere spans grew
    rows += [run(S=S, corpus="b", **grown), run(S=2048, corpus="a", **grown)]
    assert hardly_moved(as_frame(rows)).tolist() == [still, still, False, False]


@pytest.mark.parametrize(
    "points, learned",
    [
        # at chance, though its curve begins late and fell on the way there
        ({"at20": 4.2, "at100": 4.13}, False),
        ({"at100": 4.14}, False),  # one point
        ({"at20": 4.5, "at100": 4.48}, False),  # flat, and worse than chance
        ({"at10": 4.3, "at100": 4.12}, False),  # fell by more than .05, to chance
        # flat, and far better: it learned before the first point
        ({"at20": 2.0, "at100": 2.0}, True),
        ({"at50": 7.0, "at100": 5.0}, True),  # worse than chance, and still falling: not converged
        ({"at100": 5.0}, True),  # as that, for all that is known
        ({"at20": 4.2, "at100": 4.06}, True),  # .08 better than chance
        ({}, True),
    ],
)
def test_a_net_that_is_no_better_than_the_frequencies_of_symbols_learned_nothing(points, learned):
    told = why_untrained(curve(**points), chance=4.14)
    assert (told is None) == learned and (learned or "4.14" in told)


@pytest.mark.parametrize("late, learned", [(4.12, False), (3.0, True)])
def test_where_a_curve_begins_late_the_first_losses_say_where_the_net_was(late, learned):
    """Updates 3 and 4 of 40 had 4.15 bits on average, the first two 6 bits."""
    nats = math.log(2)
    losses = [6.0 * nats, 12.0 * nats, (12.0 + 2 * 4.15) * nats]
    points = curve(at20=late, at40=late)
    told = why_untrained(points, losses)
    assert (told is None) == learned and (learned or "4.15 bits from update 4 to 40" in told)
    assert (
        why_untrained(points, losses[:1]) is None
        and why_untrained(points, [*losses, math.nan]) is None
    )
    assert why_untrained(curve(at8=late, at16=late), losses) is None  # 4 of 16 updates are too many


def test_the_entropy_of_symbols_by_hand():
    """One half, one quarter, two eighths: .5 x 1 + .25 x 2 + 2 x .125 x 3."""
    assert (
        symbol_entropy(np.array([7, 7, 7, 7, 2, 2, 1, 5])) == 1.75
        and symbol_entropy(np.array([3, 3])) == 0.0
    )
