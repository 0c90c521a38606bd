"""What seeds could show."""

import pytest

from tests._finished import finished
from tests._jobs import job
from workflow.monitor.effects import detectable_effect, scatter
from workflow.results.statistics import smallest_effect


def test_what_seeds_can_show_comes_from_their_scatter():
    """Two cells, deviations 0.1 and 0.3 around their means: squares pooled over two degrees of freedom."""
    rows = [finished(job(seed=seed), test_bpc=2 + value) for seed, value in ((1, 0.1), (2, -0.1))]
    rows += [finished(job(seed=seed, steps=24), test_bpc=3 + value) for seed, value in ((1, 0.3), (2, -0.3))]
    deviation, runs = scatter(rows, "char_lm")
    assert deviation == pytest.approx(((2 * 0.01 + 2 * 0.09) / 2) ** 0.5) and runs == 4
    assert detectable_effect(deviation, 3) == pytest.approx(smallest_effect(2**0.5 * deviation, 3))
    assert scatter(rows, "translation") is None


def test_a_record_that_was_read_twice_is_one_run():
    """A restored record beside the one it was copied from: no second seed, and no difference of 0."""
    once = finished(job(seed=1), test_bpc=2.0)
    assert scatter([once, once], "char_lm") is None
    both = [once, finished(job(seed=2), test_bpc=2.2)]
    assert scatter(both + both, "char_lm") == scatter(both, "char_lm")


def test_seeds_that_do_not_differ_say_nothing():
    assert scatter([finished(job(seed=seed), test_bpc=2.0) for seed in (1, 2, 3)], "char_lm") is None
