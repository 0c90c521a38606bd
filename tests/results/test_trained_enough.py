"""What the last quarter of a curve brought, and whether a model learned at all, by hand."""

import math

import numpy as np
import pytest

from tests._runs import run
from workflow.results.runs_table import as_frame
from workflow.results.trained_enough import hardly_moved, late_gain, why_untrained
from workflow.tasks.frequencies import symbol_entropy


def curve(points: dict[int, float], score="dev_bpc") -> list[dict]:
    return [{"step": step, score: value} for step, value in points.items()]


@pytest.mark.parametrize(
    "points, gain",
    [
        ({50: 3.0, 75: 2.5, 100: 2.4}, 0.1),  # a point where the last quarter begins
        ({60: 3.0, 80: 2.0, 100: 2.0}, 0.25),  # between two points: 2.25 at 75
        ({}, None),
        ({90: 2.5, 100: 2.0}, 0.5),  # none before it: the first there is
        ({50: 2.0, 75: 2.0, 100: 2.1}, -0.1),
    ],
)
def test_the_gain_of_the_last_quarter(points, gain):
    assert late_gain(curve(points)) == (gain if gain is None else pytest.approx(gain))


def test_a_perplexity_counts_in_bits_and_a_point_without_a_number_not_at_all():
    points = curve({75: 8.0, 100: 4.0}, score="dev_ppl")
    assert late_gain([*points, {"step": 110}]) == 1.0
    for end in (math.inf, math.nan, 0.0):
        assert late_gain([*points, {"step": 110, "dev_ppl": end}]) == 1.0
        assert late_gain(curve({1: end, 2: end}, score="dev_ppl")) is None


@pytest.mark.parametrize(
    "points, chance, learned",
    [
        ({10: 5.0, 50: 4.94, 100: 5.1}, None, True),  # its best point counts, not its last
        ({10: 5.0, 50: 4.97, 100: 4.96}, None, False),
        ({20: 2.0, 100: 2.0}, None, True),  # begins too late to say
        # at chance, though its curve begins late and fell on the way there
        ({20: 4.2, 100: 4.13}, 4.14, False),
        ({100: 4.14}, 4.14, False),
        ({10: 4.3, 100: 4.12}, 4.14, False),  # fell by more than 0.05, to chance
        # flat, and far better: it learned before the first point
        ({20: 2.0, 100: 2.0}, 4.14, True),
        ({50: 7.0, 100: 5.0}, 4.14, True),  # worse than chance, and still falling
        ({20: 4.2, 100: 4.06}, 4.14, True),  # 0.08 better than chance
    ],
)
def test_a_model_with_a_flat_curve_or_no_better_than_symbol_frequencies_learned_nothing(
    points, chance, learned
):
    why = why_untrained(curve(points), chance=chance)
    assert (why is None) == learned


@pytest.mark.parametrize("late, learned", [(4.12, False), (3.0, True)])
def test_where_a_curve_begins_late_the_first_losses_show_where_the_model_was(late, learned):
    """Updates 3 and 4 of 40 had 4.15 bits on average, the first two 6 bits."""
    nats = math.log(2)
    losses = [6.0 * nats, 12.0 * nats, (12.0 + 2 * 4.15) * nats]
    points = curve({20: late, 40: late})
    why = why_untrained(points, losses)
    assert (why is None) == learned
    assert why_untrained(points, losses[:1]) is None
    assert why_untrained(points, [*losses, math.nan]) is None
    # 4 of 16 updates are too many
    assert why_untrained(curve({8: late, 16: late}), losses) is None


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
    rows = []
    for seed, mean in enumerate(means):
        known = {"variant": variant, "S": S, "start_span": start, "corpus": "a"}
        rows.append(run(seed=seed, mean_span=mean, **known))
    # spans grew elsewhere
    grown = {"variant": variant, "start_span": 8.0, "mean_span": 100.0}
    rows.append(run(S=S, corpus="b", **grown))
    rows.append(run(S=2048, corpus="a", **grown))
    assert hardly_moved(as_frame(rows)).tolist() == [still, still, False, False]


def test_the_entropy_of_symbols_by_hand():
    """One half, one quarter, two eighths: 0.5 x 1 + 0.25 x 2 + 2 x 0.125 x 3."""
    assert symbol_entropy(np.array([7, 7, 7, 7, 2, 2, 1, 5])) == 1.75
    assert symbol_entropy(np.array([3, 3])) == 0.0
