"""What the page of a run gives its chart to draw."""

import pytest

from tests._jobs import job, translation
from tests._training import origin
from workflow.report.pages.run import learning_curves
from workflow.results.record import Point, Record


def curves_of(small, points: list[dict], status="ok") -> list[dict]:
    curve, about = [Point(**point, tokens_per_s=1.0) for point in points], {"digest": small.digest, "origin": origin()}
    return learning_curves(Record(status=status, reason=None, job=small, curve=curve, **about))


@pytest.mark.parametrize("spans, drawn", [((8.0, 12.0), True), ((64.0, 64.0), False), ((None, None), False)])
def test_the_mean_span_is_drawn_where_it_was_learned(spans, drawn):
    points = [{"step": step, "train_bpc": 2.0, "dev_bpc": 2.1, "mean_span": span} for step, span in enumerate(spans)]
    scores, *others = curves_of(job(), points)
    assert [each["name"] for each in scores["series"]] == ["train", "dev"] and not scores["log"]
    assert [each["title"] for each in others] == ["mean span, by steps"] * drawn


def test_what_is_no_number_or_has_no_logarithm_is_no_point():
    points = [{"step": step, "dev_ppl": ppl} for step, ppl in ((0, 100.0), (50, float("nan")), (100, 0.0))]
    (scores,) = curves_of(translation(), points, "diverged")
    train, dev = (each["points"] for each in scores["series"])
    assert (train, dev) == ([None] * 3, [{"value": 100.0}, None, None]) and scores["log"]
    (scores,) = curves_of(job(), [{"step": step, "dev_bpc": 2.0} for step in range(100)])  # some steps are named
    assert [name for name in scores["rows"] if name] == ["0", "13", "26", "39", "52", "65", "78", "91"]
    assert curves_of(job(), []) == []
