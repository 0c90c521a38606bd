"""Spans compared with the optimal predictor: shares and windows worked out by hand."""

import pandas as pd
import pytest

from studies.own.figures import known_entropy as figure
from studies.own.figures import spans_at_borders as borders
from studies.own.tables import known_entropy
from studies.own.tables._attainable import paying_window, with_share
from tests._runs import everything, optimal_predictor, topic_borders


def shares(predictor: pd.DataFrame) -> pd.Series:
    cells = known_entropy.build(everything(), predictor)
    is_share = cells["column"] == "share of the achievable improvement"
    return cells[is_share].set_index("row")["value"]


def test_a_share_is_of_the_achievable_improvement():
    """Between 3.2 bpc given the word and 2.0 at best 2.6 is half way; 4.0 is worse than either."""
    scores = pd.DataFrame({"test_bpc": [4.0, 3.2, 2.6, 2.0]})
    share = with_share(scores, optimal_predictor())["share"]
    assert share.tolist() == pytest.approx([-200 / 3, 0, 50, 100])
    found = shares(optimal_predictor())
    assert found["optimal predictor, 32 characters"] == pytest.approx(82.9, abs=0.05)
    assert found["adaptive, S = 64"] == pytest.approx(100 / 1.2)


def test_the_window_that_pays_is_the_shortest_within_a_hundredth_of_the_best():
    """2.205 at 32 and 2.2 at 64 are far above 2.0; once the best is 2.196, 32 are enough."""
    predictor = optimal_predictor()
    assert paying_window(predictor) is None
    predictor.loc[predictor["window"].isna(), "bpc"] = 2.196
    assert paying_window(predictor) == 32


def test_a_window_that_is_by_chance_better_than_the_full_context_is_left_out():
    lucky = optimal_predictor()
    lucky.loc[lucky["window"] == 64, "bpc"] = 1.99
    found = shares(lucky)
    assert "optimal predictor, 64 characters" not in found
    assert found["optimal predictor, full context"] == found.max() == 100


def test_a_corpus_of_unknown_entropy_has_no_share_and_no_optimal_predictor():
    unknown = optimal_predictor().head(0)
    assert shares(unknown).isna().all()
    without = figure.data(everything(), unknown)
    assert figure.WHOLE not in set(without["source"])
    known = figure.data(everything(), optimal_predictor()).set_index("source")
    assert known["mean"][figure.WHOLE] == 2.0


def test_spans_at_borders_are_averaged_over_the_models_with_the_largest_s():
    drawn = borders.data(everything(), topic_borders())
    around = drawn.query("duration == 400")
    within = drawn.dropna(subset=["place"])
    assert around["span"].tolist() == [50.0, 50.0]
    assert within["span"].tolist() == [60.0, 40.0, 20.0]
    assert set(drawn["nets"]) == {2}
