"""Figures: the numbers behind them, and that each can be drawn from good, failed and missing runs."""

import pytest

from tests._layers import layers
from tests._runs import all_frames, everything, failed, write_inputs
from workflow.plan.ablations import builder_names
from workflow.report.builders import builder_inputs, load_builder
from workflow.report.figures import (
    adaptive_span_figure1,
    adaptive_span_figure2,
    adaptive_span_figure3_center,
    adaptive_span_figure3_left,
    quality_against_cost,
    span_by_k_grid,
    top_k_adaptive_span_curves,
)
from workflow.report.figures._style import plt
from workflow.results.runs_table import Frames
from workflow.scripts import figure as script


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


@pytest.mark.parametrize("name", builder_names("figures"))
@pytest.mark.parametrize(
    "frames",
    [
        all_frames(),
        all_frames(failed),
        Frames(everything().head(0), layers().head(0)),
        Frames(everything().query("seed == 1"), layers()),
    ],
    ids=["good", "failed", "none", "one"],
)
@pytest.mark.slow
def test_every_figure_can_be_drawn(name, frames):
    builder = load_builder("figures", name)
    figure = builder.draw(builder.data(*builder_inputs("figures", name, frames)))
    figure.canvas.draw()
    assert figure.axes and builder.TITLE and builder.CAPTION


def test_the_two_heads_are_the_nearest_and_the_farthest():
    """Mean distances of the heads: 1.1, 1.5, 1.8, 1.4."""
    heads = adaptive_span_figure1.data(everything())["head"].unique()
    assert list(heads) == ["head A: nearest (layer 1, head 1)", "head B: farthest (layer 2, head 1)"]


def test_the_mask_falls_from_one_to_zero_over_the_ramp():
    m = adaptive_span_figure2.data().set_index("x")["m"]
    assert m[65] == 1 and m[81] == 0.5 and m[97] == 0


def test_dev_bpc_by_limit_is_the_mean_over_seeds():
    points = adaptive_span_figure3_left.data(everything())
    points = points[points["text"] == "words for text8"]
    assert points["mean"].tolist() == pytest.approx([2.15] * 4) and points["n"].tolist() == [2] * 4


def test_a_speed_measured_once_per_configuration_has_no_interval():
    grid = span_by_k_grid.data(everything()).set_index("quantity")
    speed, quality = grid.loc["train_tokens_per_s"], grid.loc["dev_bpc"]
    assert (speed["mean"] == 1000).all() and (speed["n"] == 1).all() and speed[["low", "high"]].isna().all(axis=None)
    assert (quality["n"] == 2).all() and quality[["low", "high"]].notna().all(axis=None)


def test_published_points_stand_apart_with_their_ids():
    points = adaptive_span_figure3_center.data(everything())
    published = points[(points["text"] == "the paper's model") & (points["variant"] == "adaptive")].set_index("S")
    assert published["mean"].to_dict() == {1024: 123, 4096: 182, 8192: 314}
    assert published["published"][8192] == "as.txt.avgspan"


def test_what_the_formula_gives_is_not_called_the_papers():
    figure = adaptive_span_figure3_center.draw(adaptive_span_figure3_center.data(everything()))
    names = [text.get_text() for text in figure.axes[1].get_legend().get_texts()]
    assert names == ["fixed span (by formula)", "adaptive span"]


@pytest.mark.parametrize("places", [[], [0.5], [0.5, 0.5, 0.9], [0.0] * 9, [1.0] * 9, [0.0, 0.3, 0.31, 0.32, 1.0]])
def test_names_of_points_keep_their_distance_and_stay_inside(places):
    gap = 0.111
    moved = quality_against_cost._spread_out(places, gap)
    assert len(moved) == len(places) and all(-1e-6 <= place <= 1 + 1e-6 for place in moved)
    assert all(b - a >= gap - 1e-5 for a, b in zip(moved, moved[1:], strict=False))


def test_names_that_touch_move_alike_and_the_others_stay():
    assert quality_against_cost._spread_out([0.5, 0.5, 0.9], 0.2) == pytest.approx([0.4, 0.6, 0.9])


def test_the_origin_at_the_foot_is_that_of_the_runs_shown():
    """Figure 1 shows one run of two seeds."""
    assert adaptive_span_figure1.used(everything())["seed"].tolist() == [1]


@pytest.mark.slow
@pytest.mark.parametrize("name", builder_names("figures"))
def test_no_tick_label_lies_on_another(name):
    """Drawn at their size."""
    builder = load_builder("figures", name)
    figure = builder.draw(builder.data(*builder_inputs("figures", name, all_frames())))
    figure.canvas.draw()
    for panel in figure.axes:
        for axis in (panel.xaxis, panel.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
            labels = [tick.label1 for tick in ticks if tick.label1.get_text() and tick.label1.get_visible()]
            boxes = [label.get_window_extent() for label in labels]
            assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i]), (name, axis)


def test_curves_stand_beside_the_released_logs():
    curves = top_k_adaptive_span_curves.data(everything())
    assert set(curves["source"]) == {"measured", "published"}
    assert set(curves[curves["source"] == "published"]["k"]) == {0, 8, 32}


@pytest.mark.slow
def test_the_same_data_give_the_same_bytes(tmp_path):
    files = write_inputs(tmp_path / "inputs")
    for name in ("a", "b"):
        script.main(["adaptive_span_figure3_left", str(tmp_path / f"{name}.svg"), *files])
    for ending in ("svg", "pdf", "png"):
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()
