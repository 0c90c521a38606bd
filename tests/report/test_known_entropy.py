"""Spans compared with the optimal predictor: shares and windows worked out by hand."""

import pandas as pd
import pytest

from studies.own.figures import known_entropy as figure
from studies.own.figures import spans_at_borders as borders
from studies.own.tables import known_entropy
from studies.own.tables._attainable import paying_window, with_share
from tests._runs import everything, optimal_predictor, topic_borders

SHARE = "share of the achievable improvement"


def shares(predictor: pd.DataFrame) -> pd.Series:
    cells = known_entropy.build(everything(), predictor)
    return cells[cells["column"] == SHARE].set_index("row")["value"]


def test_a_share_is_of_the_achievable_improvement():
    """Between 3.2 bpc given the word and 2.0 at best 2.6 is half way; 4.0 is worse than either."""
    scores = pd.DataFrame({"test_bpc": [4.0, 3.2, 2.6, 2.0]})
    runs = with_share(scores, optimal_predictor())
    assert runs["share"].tolist() == pytest.approx([-200 / 3, 0, 50, 100])
    assert runs["above_best"].tolist() == pytest.approx([2.0, 1.2, 0.6, 0.0])


def test_the_window_that_pays_is_the_shortest_within_a_hundredth_of_the_best():
    """2.205 at 32 and 2.2 at 64 are far above 2.0; once the best is 2.196, 32 are enough."""
    predictor = optimal_predictor()
    assert paying_window(predictor) is None
    predictor.loc[predictor["window"].isna(), "bpc"] = 2.196
    assert paying_window(predictor) == 32


def test_optimal_predictors_have_rows_and_every_variant_its_share():
    found = shares(optimal_predictor())
    assert found["optimal predictor, 32 characters"] == pytest.approx(82.9, abs=0.05)
    assert found["adaptive, S = 64"] == pytest.approx(100 / 1.2)


def test_a_window_that_is_by_chance_better_than_the_full_context_is_left_out():
    lucky = optimal_predictor()
    lucky.loc[lucky["window"] == 64, "bpc"] = 1.99
    found = shares(lucky)
    assert "optimal predictor, 32 characters" in found
    assert "optimal predictor, 64 characters" not in found
    assert found["optimal predictor, full context"] == found.max() == 100


def test_a_corpus_of_unknown_entropy_has_no_share_and_no_optimal_predictor():
    unknown = optimal_predictor().head(0)
    cells = known_entropy.build(everything(), unknown)
    assert set(cells[cells["column"] == SHARE]["status"]) == {"not run"}
    assert not cells["row"].str.startswith("optimal predictor").any()
    drawn = figure.data(everything(), unknown)
    assert set(drawn["source"]) == {"fixed", "adaptive", "dynamic", "heads"}
    assert (drawn["source"] == "heads").sum() == 2 * 4  # two seeds, two layers of two heads
    known = figure.data(everything(), optimal_predictor())
    assert known[known["source"] == figure.WHOLE]["mean"].tolist() == [2.0]


def test_spans_at_borders_are_averaged_over_the_models_with_the_largest_s():
    drawn = borders.data(everything(), topic_borders())
    assert drawn[drawn["duration"] == 400]["span"].tolist() == [50.0, 50.0]
    assert drawn[drawn["place"].notna()]["span"].tolist() == [60.0, 40.0, 20.0]
    assert set(drawn["nets"]) == {2}


@pytest.mark.parametrize("spans, reacts", [([99.0, 101.0, 100.0], False), ([100.0, 150.0], True)])
def test_a_change_of_topic_is_noticed_where_it_moves_the_span(spans, reacts):
    assert ("not" in borders.say_borders(pd.Series(spans))) != reacts
