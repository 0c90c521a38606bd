"""The learning curve on a run's page."""

import re

import pytest

from tests._jobs import job, translation
from tests._training import origin
from workflow.report.pages.learning import WIDTH, draw_curve
from workflow.results.record import Point, Record

SIZE = 9  # of a letter, in points; a digit is .6 of it wide


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


@pytest.mark.parametrize("last", [1220, 14_600, 395_000])
@pytest.mark.parametrize(
    "small, low, high",
    [(job(), 1.2, 1.9), (translation(), 1.9, 5.5), (translation(), 2.1, 2.9), (translation(), 4.0, 700.0)],
)
def test_ticks_are_three_at_least_and_none_is_cut(small, low, high, last):
    unit = "bpc" if small.task == "char_lm" else "ppl"
    losses = [(0, high), (last // 2, (low * high) ** 0.5), (last, low)]
    points = [Point(step=step, **{f"dev_{unit}": loss}, tokens_per_s=1.0) for step, loss in losses]
    svg = draw_curve(Record(status="ok", digest=small.digest, job=small, curve=points, origin=origin()))
    texts = re.findall(r'<text x="([\d.]+)" y="[\d.]+" text-anchor="(\w+)">([^<]+)<', svg)
    assert sum(anchor == "end" for _, anchor, _ in texts) >= 3
    assert all(float(x) + 0.3 * SIZE * len(words) <= WIDTH for x, anchor, words in texts if anchor == "middle")


def test_a_loss_of_sentences_is_drawn_by_its_logarithm():
    losses = [(0, 100.0), (50, 10.0), (100, 1.0)]
    points = [Point(step=step, train_ppl=None, dev_ppl=loss, tokens_per_s=1.0) for step, loss in losses]
    small = translation()
    record = Record(status="ok", digest=small.digest, job=small, curve=points, origin=origin())
    heights = [float(y) for y in re.findall(r"[\d.]+,([\d.]+)", re.findall(r'points="([^"]*)"', draw_curve(record))[1])]
    assert heights[1] - heights[0] == pytest.approx(heights[2] - heights[1], abs=0.2)
