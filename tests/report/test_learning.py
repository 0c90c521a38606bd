"""The learning curve on a run's page."""

import re

import pytest

from tests._jobs import job, translation
from tests._training import origin
from workflow.report.pages.learning import draw_curve
from workflow.results.record import Point, Record


@pytest.mark.parametrize("spans, drawn", [((8.0, 12.0), True), ((64.0, 64.0), False), ((None, None), False)])
def test_the_mean_span_is_drawn_where_it_was_learned(spans, drawn):
    points = [
        Point(step=step, train_bpc=2.0, dev_bpc=2.1, tokens_per_s=1.0, mean_span=x) for step, x in enumerate(spans)
    ]
    record = Record(status="ok", digest=job().digest, job=job(), curve=points, origin=origin())
    assert ("mean span" in draw_curve(record)) == drawn


def test_scores_are_placed_between_the_ticks_and_what_is_no_number_is_left_out():
    """dev 3, 2, nan at steps 0, 50, 100: the second point stands right of the first and below it."""
    losses = [(0, 3.0), (50, 2.0), (100, float("nan"))]
    points = [Point(step=step, train_bpc=None, dev_bpc=loss, tokens_per_s=1.0) for step, loss in losses]
    record = Record(status="diverged", reason="x", digest=job().digest, job=job(), curve=points, origin=origin())
    train, dev = re.findall(r'<polyline points="([^"]*)"', draw_curve(record))
    (x, y), (right, below) = (map(float, point.split(",")) for point in dev.split())
    assert train == "" and right > x and below > y
    assert ">2.5<" in draw_curve(record)


def test_a_loss_of_sentences_is_drawn_by_its_logarithm():
    losses = [(0, 100.0), (50, 10.0), (100, 1.0)]
    points = [Point(step=step, train_ppl=None, dev_ppl=loss, tokens_per_s=1.0) for step, loss in losses]
    small = translation()
    record = Record(status="ok", digest=small.digest, job=small, curve=points, origin=origin())
    heights = [float(y) for y in re.findall(r"[\d.]+,([\d.]+)", re.findall(r'points="([^"]*)"', draw_curve(record))[1])]
    assert heights[1] - heights[0] == pytest.approx(heights[2] - heights[1], abs=0.2)
