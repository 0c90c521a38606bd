"""Figures: the numbers behind them, and that each can be drawn from good, failed and missing runs."""

from importlib import import_module

import pytest

from tests._runs import everything, failed
from workflow.figures import (
    adaptive_span_figure1,
    adaptive_span_figure2,
    adaptive_span_figure3_left,
    top_k_adaptive_span_curves,
)
from workflow.figures._style import plt
from workflow.scripts import figure as script


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


@pytest.mark.parametrize("name", script.names())
@pytest.mark.parametrize(
    "runs",
    [everything(), everything(failed), everything().head(0), everything().query("seed == 1")],
    ids=["good", "failed", "none", "one"],
)
def test_every_figure_can_be_drawn(name, runs):
    builder = import_module(f"workflow.figures.{name}")
    figure = builder.draw(builder.data(runs))
    figure.canvas.draw()
    assert figure.axes and builder.TITLE and builder.CAPTION


def test_the_two_heads_are_the_nearest_and_the_farthest():
    """Mean distances of the heads: 1.1, 1.5, 1.8, 1.4."""
    heads = adaptive_span_figure1.data(everything())["head"].unique()
    assert list(heads) == ["head A: nearest (layer 1, head 1)", "head B: farthest (layer 2, head 1)"]


def test_the_mask_falls_from_one_to_zero_over_the_ramp():
    m = adaptive_span_figure2.data(everything()).set_index("x")["m"]
    assert m[65] == 1 and m[81] == 0.5 and m[97] == 0


def test_dev_bpc_by_limit_is_the_mean_over_seeds():
    made = adaptive_span_figure3_left.data(everything())
    assert made["mean"].tolist() == pytest.approx([2.15] * 4) and made["n"].tolist() == [2] * 4


def test_curves_stand_beside_the_released_logs():
    made = top_k_adaptive_span_curves.data(everything())
    assert set(made["source"]) == {"measured", "published"}
    assert set(made[made["source"] == "published"]["k"]) == {0, 8, 32}


def test_the_same_data_give_the_same_bytes(tmp_path):
    builder = adaptive_span_figure3_left
    for name in ("a", "b"):
        script.save(builder.draw(builder.data(everything())), str(tmp_path / name), builder.TITLE, "origin")
    for ending in ("svg", "pdf", "png"):
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()
