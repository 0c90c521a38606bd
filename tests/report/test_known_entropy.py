"""Spans beside the best possible reader: shares and windows worked out by hand."""

import pandas as pd
import pytest

from studies.own.figures import known_entropy as figure
from studies.own.figures import spans_at_borders as borders
from studies.own.tables import known_entropy
from studies.own.tables._attainable import paying_window, with_share
from tests._runs import everything, optimal_predictor, topic_borders


def test_a_share_is_what_is_gained_of_what_can_be_gained():
    """Between 3.2 bpc for the word alone and 2.0 at best, 2.6 is half way, and 4.0 is worse than
    either.
    """
    runs = with_share(pd.DataFrame({"test_bpc": [4.0, 3.2, 2.6, 2.3, 2.0]}), optimal_predictor())
    assert runs["share"].tolist() == pytest.approx([-200 / 3, 0, 50, 75, 100])
    assert runs["above_best"].tolist() == pytest.approx([2.0, 1.2, 0.6, 0.3, 0.0])


def test_the_window_that_pays_is_the_shortest_within_a_hundredth_of_the_best():
    """2.205 at 32 and 2.2 at 64 are both far above 2.0; once the best is 2.196, 32 characters are
    enough.
    """
    assert paying_window(optimal_predictor()) is None
    near = optimal_predictor()
    near.loc[near["window"].isna(), "bpc"] = 2.196
    assert paying_window(near) == 32


def test_readers_have_rows_of_their_own_and_every_variant_its_share():
    """One that beats the best by chance, on its stretch of the text, is left out."""
    cells = known_entropy.build(everything(), optimal_predictor()).set_index(["row", "column"])
    shares = cells.xs("share of the achievable improvement", level="column")["value"]
    assert shares["optimal predictor, 32 characters"] == pytest.approx(82.9, abs=0.05)
    assert shares["adaptive, S = 64"] == pytest.approx(100 / 1.2)
    assert cells.loc[("optimal predictor, full context", "test"), "kind"] == "analytic"
    lucky = optimal_predictor()
    lucky.loc[lucky["window"] == 64, "bpc"] = 1.99
    cells = known_entropy.build(everything(), lucky).set_index(["row", "column"])
    shares = cells.xs("share of the achievable improvement", level="column")["value"]
    assert (
        "optimal predictor, 32 characters" in shares
        and "optimal predictor, 64 characters" not in shares
    )
    assert shares["optimal predictor, full context"] == shares.max() == 100


def test_a_text_without_a_known_limit_has_no_share_and_no_readers():
    unknown = optimal_predictor().head(0)
    cells = known_entropy.build(everything(), unknown)
    assert set(cells[cells["column"] == "share of the achievable improvement"]["status"]) == {
        "not run"
    }
    assert not cells["row"].str.startswith("optimal predictor").any()
    drawn, known = (figure.data(everything(), reader) for reader in (unknown, optimal_predictor()))
    heads = drawn[drawn["source"] == "heads"]
    assert set(heads["S"]) == {64} and len(heads) == 2 * 4  # two seeds, two layers of two heads
    assert set(drawn["source"]) == {"fixed", "adaptive", "dynamic", "heads"}
    assert known[known["source"] == figure.WHOLE]["mean"].tolist() == [2.0]


def test_the_borders_of_topics_are_averaged_over_the_nets_with_the_largest_s_and_said_in_a_sentence():
    drawn = borders.data(everything(), topic_borders())
    assert drawn[drawn["duration"] == 400]["span"].tolist() == [50.0, 50.0]
    assert drawn[drawn["place"].notna()]["span"].tolist() == [60.0, 40.0, 20.0] and set(
        drawn["nets"]
    ) == {2}
    unnoticed, noticed = (
        borders.say_borders(pd.Series(spans)) for spans in ([99.0, 101.0, 100.0], [100.0, 150.0])
    )
    assert "does not react" in unnoticed and "99 to 101" in unnoticed
    assert "not" not in noticed and "100 to 150" in noticed
