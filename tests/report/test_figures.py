"""The numbers behind figures, and that their files do not depend on a user's settings."""

import matplotlib
import pytest

from studies.adaptive_span.figures import (
    adaptive_span_figure1,
    adaptive_span_figure3_center,
    adaptive_span_figure3_left,
    adaptive_span_figure4,
    adaptive_span_figure5,
)
from tests._runs import all_frames, everything, run
from workflow.report.figure_files import write_figure
from workflow.report.figures.style import STILL
from workflow.results.runs_table import as_frame

MOVED = {"mean_span": 40.0, "start_span": 8.0}
UNMOVED = {"mean_span": 9.0, "start_span": 8.0}


def test_the_two_heads_are_the_nearest_and_the_farthest():
    """Mean distances of the heads: 1.1, 1.5, 1.8, 1.4."""
    nearest, farthest = adaptive_span_figure1.data(everything())["head"].unique()
    assert "layer 1, head 1" in nearest
    assert "layer 2, head 1" in farthest


def test_points_are_means_over_seeds_or_published_ones_with_their_ids():
    points = adaptive_span_figure3_center.data(everything())
    published = points.query("variant == 'adaptive' and published.notna()").set_index("S")
    assert published["mean"].to_dict() == {1024: 123, 4096: 182, 8192: 314}
    assert published["published"][8192] == "as.txt.avgspan"
    ours = adaptive_span_figure3_left.data(everything()).query("published.isna()")
    assert ours["mean"].tolist() == pytest.approx([2.15] * len(ours))


def test_a_mean_over_spans_that_hardly_moved_is_drawn_hollow():
    rows = []
    for S, spans in {64: UNMOVED, 128: MOVED}.items():
        rows += [run(variant=name, S=S, **spans) for name in ("fixed", "adaptive")]
    points = adaptive_span_figure3_left.data(as_frame(rows))
    lines = adaptive_span_figure3_left.draw(points).axes[0].lines
    (hollow,) = [line for line in lines if line.get_markerfacecolor() == "white"]
    assert hollow.get_xdata().tolist() == [64]


@pytest.mark.parametrize("S, spans, moved", [(64, UNMOVED, False), (128, MOVED, True)])
def test_heads_that_hardly_moved_are_named_and_a_passage_of_them_left_out(S, spans, moved):
    heads = adaptive_span_figure4.data(as_frame([run("head_spans", "adaptive", S=S, **spans)]))
    title = adaptive_span_figure4.draw(heads).axes[0].get_title().replace("\n", " ")
    assert (STILL in title) != moved
    passage = as_frame([run("dynamic_span", "dynamic", S=S, **spans)])
    assert (len(adaptive_span_figure5.data(passage)) > 0) == moved


@pytest.mark.slow
def test_the_same_data_give_the_same_bytes_whatever_a_matplotlibrc_says(tmp_path, monkeypatch):
    """Neither one that matplotlib has read at its import, nor what another library sets."""
    frames = all_frames()
    write_figure(tmp_path / "plain.svg", "adaptive_span_figure3_left", frames)
    for key, value in {
        "text.usetex": True,
        "savefig.facecolor": "black",
        "figure.dpi": 47,
        "font.family": ["serif"],
        "svg.fonttype": "path",
        "savefig.bbox": "tight",
    }.items():
        monkeypatch.setitem(matplotlib.rcParams, key, value)
    write_figure(tmp_path / "theirs.svg", "adaptive_span_figure3_left", frames)
    for ending in ("svg", "pdf", "png"):
        plain = (tmp_path / f"plain.{ending}").read_bytes()
        assert plain == (tmp_path / f"theirs.{ending}").read_bytes()
