"""Tables and figure of captioning and parsing, on runs worked out by hand."""

import numpy as np
import pandas as pd
import pytest

from studies.aiayn.tables import aiayn_table4
from studies.explicit_sparse.figures import explicit_sparse_captions
from studies.explicit_sparse.tables import explicit_sparse_table2
from tests._runs import LOOK, described, everything
from tests.report._cells import at
from workflow.report.comparison import join
from workflow.report.tables.paired import cider, f1
from workflow.results.runs_table import as_frame

OURS = "Explicit Sparse Transformer"
VARIANTS = ("softmax", "top_k")


def test_parsers_are_compared_with_softmax_and_the_papers():
    cells = join(aiayn_table4.build(everything()))
    trained = at(cells, "Transformer (4 layers)", "WSJ only")
    assert trained["value"] == 76.5
    assert trained["published_value"] == 91.3
    assert trained["n"] == 2
    assert at(cells, "Dyer et al. 2016", "generative")["published_value"] == 93.3
    assert at(cells, "top-k", "gain")["value"] == 0
    # 2 of 4 brackets, and 4 in place of 3
    assert "seed 1: -25.00 F1" in at(cells, "top-k", "p (paired bootstrap)")["note"]
    assert at(cells, "adaptive span in the encoder", "repaired")["value"] == 5
    printed = {f"ai.t4.{key}" for key in (*aiayn_table4.PRINTED, "tr_wsj", "tr_semi")}
    assert set(cells["published"].dropna()) == printed


def test_captioners_are_compared_with_softmax_and_the_papers():
    cells = join(explicit_sparse_table2.build(everything()))
    trained = at(cells, OURS, "CIDEr")
    assert (trained["value"], trained["published_value"]) == (106.5, 113.8)
    assert at(cells, OURS, "CIDEr, gain")["value"] == pytest.approx(5)
    nltk = at(cells, OURS, "METEOR (nltk)")
    assert nltk["value"] == 40
    assert pd.isna(nltk["published"])
    assert at(cells, OURS, "METEOR")["status"] == "not run"  # there was no Java program
    assert at(cells, "SAT", "CIDEr")["kind"] == "cited"


def test_scores_of_summed_counts():
    assert f1(np.array([3, 4, 4, 6, 6, 1, 2])) == 75
    assert f1(np.zeros(7, int)) == 0
    assert cider(np.array([200.0, 2.0])) == 100


@pytest.mark.parametrize(
    "caption, reference, marked",
    [
        ("the ring in the top right", "the ring in the middle", "the ring in the [top right]"),
        ("a ring", "a red ring", "a [...] ring"),
        ("a ring", None, "a ring"),
    ],
)
def test_a_caption_is_marked_where_its_reference_has_other_words(caption, reference, marked):
    assert explicit_sparse_captions.mark(caption, reference) == marked


def test_the_nearest_reference_is_drawn_below_the_image():
    nearest = "the ring in the middle is large and purple"
    references = f"a purple ring in the middle / {nearest} / two things"
    caption = "the ring in the top right is large and purple"
    shown = [["scene 8", "a dog", "a cat"], ["scene 9", references, caption]]
    pieces = [f"▁{word}" for word in caption.split()]
    look = LOOK | {"pieces": pieces, "weights": [[1.0, 0, 0, 0]] * len(pieces)}
    rows = [described(variant=variant, looks=[look], shown=shown) for variant in VARIANTS]
    lines = explicit_sparse_captions.data(as_frame(rows))
    assert set(lines["reference"]) == {nearest}


def test_the_figure_shows_images_and_the_sharpest_subwords():
    lines = explicit_sparse_captions.data(everything())
    pixels = lines[lines["weight"].isna()]
    weights = lines[lines["weight"].notna()]
    colours = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255] * 3]
    assert pixels[["red", "green", "blue"]].to_numpy()[:4].tolist() == colours
    assert len(pixels) == 2 * 4
    assert len(weights) == 2 * 3 * 4
    assert weights["weight"].head(4).tolist() == LOOK["weights"][0]
    assert len(explicit_sparse_captions.draw(lines).axes) == 2 * 4
