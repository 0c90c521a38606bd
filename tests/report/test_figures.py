"""Figures: the numbers behind them, and that each can be drawn from good, failed and missing
runs.
"""

import matplotlib
import pytest

from studies.adaptive_span.figures import (
    adaptive_span_figure1,
    adaptive_span_figure2,
    adaptive_span_figure3_center,
    adaptive_span_figure3_left,
    adaptive_span_figure4,
    adaptive_span_figure5,
)
from tests._layers import layers
from tests._runs import all_frames, everything, failed, run, unscored, write_inputs
from workflow.config.studies import study_files
from workflow.report.builders import builder_inputs, load_builder
from workflow.report.figure_files import write_figure
from workflow.report.figures.style import STILL
from workflow.results.runs_table import Frames, as_frame, read_frames

FRAMES = {
    "good": all_frames(),
    "failed": all_frames(failed),
    "none": Frames(everything().head(0), layers().head(0)),
}
FRAMES |= {"unscored": all_frames(unscored)}
FRAMES |= {"one": Frames(everything().query("seed == 1"), layers())}


@pytest.mark.parametrize("name", study_files("figures"))
@pytest.mark.parametrize("frames", FRAMES.values(), ids=FRAMES)
@pytest.mark.slow
def test_every_figure_can_be_drawn(name, frames):
    builder = load_builder("figures", name)
    figure = builder.draw(builder.data(*builder_inputs("figures", name, frames)))
    figure.draw_without_rendering()
    assert figure.axes and builder.TITLE and builder.CAPTION


def test_the_two_heads_are_the_nearest_and_the_farthest():
    """Mean distances of the heads: 1.1, 1.5, 1.8, 1.4."""
    heads = adaptive_span_figure1.data(everything())["head"].unique()
    assert list(heads) == [
        "head A: nearest (layer 1, head 1)",
        "head B: farthest (layer 2, head 1)",
    ]


def test_the_mask_falls_from_one_to_zero_over_the_ramp():
    m = adaptive_span_figure2.data().set_index("x")["m"]
    assert m[65] == 1 and m[81] == 0.5 and m[97] == 0
    lines = adaptive_span_figure2.draw(adaptive_span_figure2.data()).axes[0].lines[1:]
    assert [line.get_xdata()[0] for line in lines] == [65, 97]  # they mark the ends of the ramp


def test_dev_bpc_by_limit_is_the_mean_over_seeds():
    points = adaptive_span_figure3_left.data(everything())
    points = points[points["text"] == "Python sources in 27 letters, not text8"]
    assert points["mean"].tolist() == pytest.approx([2.15] * 4) and points["n"].tolist() == [2] * 4


def test_published_points_stand_apart_with_their_ids_and_three_panels_share_one_legend():
    points = adaptive_span_figure3_center.data(everything())
    published = points[
        (points["text"] == "the paper's model") & (points["variant"] == "adaptive")
    ].set_index("S")
    assert published["mean"].to_dict() == {1024: 123, 4096: 182, 8192: 314}
    assert published["published"][8192] == "as.txt.avgspan"
    figure = adaptive_span_figure3_center.draw(points)
    (legend,) = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names == [
        "fixed span",
        "adaptive span",
        "fixed span (by formula)",
        "adaptive span (the paper)",
    ]
    assert not any(axes.get_legend() for axes in figure.axes)


def test_spans_that_have_hardly_moved_are_drawn_hollow_named_or_left_out():
    """They stay at 9 after a start at 8 with S = 64, and reach 40 with S = 128."""
    spans = {64: {"mean_span": 9.0, "start_span": 8.0}, 128: {"mean_span": 40.0, "start_span": 8.0}}
    rows = [run(variant=name, S=S, **spans[S]) for name in ("fixed", "adaptive") for S in spans]
    points = adaptive_span_figure3_left.data(as_frame(rows))
    marked = points[points["unmoved"].astype(bool)]
    assert marked[["variant", "S"]].to_numpy().tolist() == [["adaptive", 64]]
    lines = adaptive_span_figure3_left.draw(points).axes[0].lines
    (hollow,) = [line for line in lines if line.get_markerfacecolor() == "white"]
    assert hollow.get_xdata().tolist() == [64]
    for S, suffix in ((64, STILL), (128, "S = 128")):
        heads = adaptive_span_figure4.data(
            as_frame([run("head_spans", "adaptive", S=S, **spans[S])])
        )
        assert (
            adaptive_span_figure4.draw(heads)
            .axes[0]
            .get_title()
            .replace("\n", " ")
            .endswith(suffix)
        )
        fragment = adaptive_span_figure5.data(
            as_frame([run("dynamic_span", "dynamic", S=S, **spans[S])])
        )
        assert bool(len(fragment)) == (S == 128)


def test_words_start_after_a_blank():
    fragment = {"text": list("a bc") + ["<eos>", "d"], "span": [1.0] * 6}
    rows = [run("dynamic_span", "dynamic", fragment=fragment)]
    assert adaptive_span_figure5.data(as_frame(rows))["starts"].tolist() == [
        False,
        False,
        True,
        False,
        False,
        True,
    ]


@pytest.mark.slow
def test_the_same_data_give_the_same_bytes(tmp_path):
    frames = read_frames(write_inputs(tmp_path / "inputs"))
    for name in ("a", "b"):
        write_figure(tmp_path / f"{name}.svg", "adaptive_span_figure3_left", frames)
    for ending in ("svg", "pdf", "png"):
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()


@pytest.mark.slow
def test_a_matplotlibrc_of_the_users_changes_no_byte_of_a_figure(tmp_path, monkeypatch):
    """Neither one that matplotlib has read at its import, nor what another library sets."""
    rows = all_frames()
    write_figure(tmp_path / "plain.svg", "adaptive_span_figure3_left", rows)
    theirs = {
        "text.usetex": True,
        "savefig.facecolor": "black",
        "figure.dpi": 47,
        "font.family": ["serif"],
    }
    theirs |= {
        "svg.fonttype": "path",
        "axes.grid": False,
        "savefig.bbox": "tight",
        "image.cmap": "hot",
    }
    for key, value in theirs.items():
        monkeypatch.setitem(matplotlib.rcParams, key, value)
    write_figure(tmp_path / "theirs.svg", "adaptive_span_figure3_left", rows)
    for ending in ("svg", "pdf", "png"):
        assert (tmp_path / f"plain.{ending}").read_bytes() == (
            tmp_path / f"theirs.{ending}"
        ).read_bytes()
