"""The published values: all there, each once, joined by id."""

from collections import Counter

import pandas as pd
import pytest

from studies.adaptive_span.figures.adaptive_span_figure4 import DIGITISED
from workflow.claims.published import find, load
from workflow.config.errors import ConfigError
from workflow.report.comparison import join
from workflow.report.tables.cells import COLUMNS, make_cell


def test_all_451_values_of_the_three_papers_are_there():
    of_papers = [value for value in load().values() if not value.id.startswith("later_work.")]
    assert len(of_papers) == 451 and len(load()) == 458
    kinds = Counter(value.kind for value in of_papers)
    assert kinds == {
        "trained": 127,
        "setting": 124,
        "cited": 99,
        "analytic": 80,
        "speed": 19,
        "memory": 2,
    }


def test_an_unknown_id_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'as.t1.as_small.flops'"):
        find("as.t1.as_small.flop")
    with pytest.raises(ConfigError, match="as.t9.nothing"):
        join(cells(("r", "c", 1.0, "", "measured", "as.t9.nothing")))


def cells(*rows):
    return pd.DataFrame([make_cell(*row) for row in rows], columns=COLUMNS)


def test_join_sets_the_published_value_and_the_difference_beside():
    flops = ("r", "FLOPS", 41_607_168, "", "analytic", "as.t1.as_small.flops")
    joined = join(cells(flops, ("r", "other", 1.0, "", "measured")))
    assert joined["published_value"][0] == 42_000_000
    assert joined["difference_pct"][0] == pytest.approx(-0.935, abs=0.001)
    assert pd.isna(joined["published_value"][1]) and pd.isna(joined["difference_pct"][1])


def test_a_cell_without_a_number_has_no_difference():
    joined = join(cells(("r", "test", None, "bpc", "cited", "as.t1.t12.test")))
    assert joined["published_value"][0] == 1.18 and joined["difference_pct"][0] is None


def test_join_says_whether_the_paper_prints_the_value():
    counted = [("as.t1.as_small.flops", 41_607_168), ("as.f3.right.fixed.256", 40_894_464)]
    rows = [("r", key, value, "", "analytic", key) for key, value in counted]
    rows += [
        ("r", str(key), 300.0, "", "measured", key)
        for key in ("as.f3.center.fixed.256", "as.f4.l1.mean", None)
    ]
    joined = join(cells(*rows))
    assert joined["published_source"].tolist()[:4] == [
        "published",
        "inferred",
        "inferred",
        "digitised",
    ]
    assert pd.isna(joined["published_source"][4])
    assert pd.isna(joined["difference_pct"][1]) and joined["difference_pct"].notna().tolist() == [
        True
    ] + 4 * [False]


@pytest.mark.parametrize(
    "kind, unit, published, as_the_paper, comparable",
    [
        # a formula, and what the paper prints
        ("analytic", "", "as.t1.as_small.flops", False, True),
        ("analytic", "", "as.f3.right.fixed.256", False, False),  # a formula on both sides
        ("measured", "BLEU", "est.t1.est.ende", False, False),  # smaller nets, synthetic phrases
        ("measured", "BLEU", "est.t1.est.ende", True, True),  # the paper's size on the paper's text
        ("measured", "tokens/s", "est.t4.est.train_speed", True, False),  # of another machine
        ("measured", "×", "est.t4.est.train_speed", False, True),  # a ratio
        ("setting", "layers", "as.t1.as_small.layers", True, False),  # chosen, not found
    ],
)
def test_what_is_comparable(kind, unit, published, as_the_paper, comparable):
    cell = make_cell("r", "c", 2.0, unit, kind, published) | {"as_the_paper": as_the_paper}
    assert join(pd.DataFrame([cell]))["comparable"][0] == comparable


def test_digitised_spans():
    spans = pd.read_csv(DIGITISED)
    assert len(spans) == 96 and spans["span"].between(32, 4096).all()
