"""The learning curve on a run's page."""

import pytest

from tests._jobs import job
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
