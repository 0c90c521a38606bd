"""Tables and figure of captioning and parsing, on runs worked out by hand."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from studies.aiayn.tables import aiayn_table4
from studies.explicit_sparse.figures import explicit_sparse_captions
from studies.explicit_sparse.tables import explicit_sparse_table2
from tests._runs import LOOK, described, everything, failed, parsed
from tests.report._cells import at
from workflow.report.comparison import join
from workflow.report.tables.paired import cider, f1
from workflow.results.runs_table import as_frame


def test_parsers_stand_beside_the_papers():
    cells, ours = join(aiayn_table4.build(everything())), "Transformer (4 layers)"
    trained, semi = at(cells, ours, "WSJ only"), at(cells, ours, "semi-supervised")
    assert (trained["value"], trained["published_value"], trained["kind"], trained["n"]) == (
        76.5,
        91.3,
        "measured",
        2,
    )
    assert (semi["published_value"], semi["kind"]) == (92.7, "cited")
    assert at(cells, "Dyer et al. 2016", "generative")["published_value"] == 93.3
    assert at(cells, "top-k", "gain")["value"] == 0 and at(cells, "top-k", "gain")["unit"] == "F1"
    note = at(cells, "top-k", "p (paired bootstrap)")["note"]
    assert "seed 1: -25.00 F1, p = " in note  # 2 of 4 and 4 in place of 3
    assert at(cells, "adaptive span in the encoder", "repaired")["value"] == 5
    printed = {f"ai.t4.{key}" for key in (*aiayn_table4.PRINTED, "tr_wsj", "tr_semi")}
    assert {key for key in cells["published"].dropna() if key.startswith("ai.t4.")} == printed


def test_captioners_stand_beside_the_papers():
    cells = join(explicit_sparse_table2.build(everything()))
    label = "Explicit Sparse Transformer"
    trained = at(cells, label, "CIDEr")
    assert (trained["value"], trained["published_value"], trained["kind"]) == (
        106.5,
        113.8,
        "measured",
    )
    assert at(cells, label, "CIDEr, gain")["value"] == pytest.approx(5)
    assert at(cells, label, "METEOR (nltk)")["value"] == 40 and pd.isna(
        at(cells, label, "METEOR (nltk)")["published"]
    )
    assert at(cells, label, "METEOR")["status"] == "not run"  # the Java program was not there
    assert at(cells, "SAT", "CIDEr")["kind"] == "cited"
    assert at(cells, label, "CIDEr, p (paired bootstrap)")["status"] == "ok"


def test_what_failed_is_told():
    broken = {"status": "diverged", "reason": "mean loss nan", "test_f1": None, "counts": None}
    cells = aiayn_table4.build(as_frame([parsed(), parsed(variant="top_k", **broken)]))
    assert (at(cells, "top-k", "WSJ only")["status"], at(cells, "top-k", "gain")["status"]) == (
        "failed",
        "failed",
    )
    cells = explicit_sparse_table2.build(as_frame([failed(), described()]))
    assert at(cells, "Explicit Sparse Transformer", "CIDEr")["status"] == "not run"


def test_scores_of_summed_counts():
    assert f1(np.array([3, 4, 4, 6, 6, 1, 2])) == 75 and f1(np.zeros(7, int)) == 0
    assert cider(np.array([200.0, 2.0])) == 100


def test_a_caption_is_marked_where_the_nearest_reference_has_other_words():
    """The second is true, and stands in no reference: the marks say what differs, not what is
    wrong.
    """
    right = "a purple ring in the middle / the ring in the middle is large and purple / two things"
    shown = [
        ["scene 8", "a dog", "a cat"],
        ["scene 9", right, "the ring in the top right is large and purple"],
    ]
    look = LOOK | {
        "pieces": [f"▁{word}" for word in shown[1][2].split()],
        "weights": [[1.0, 0, 0, 0]] * 10,
    }
    rows = [
        described(variant=variant, looks=[look], shown=shown) for variant in ("softmax", "top_k")
    ]
    lines = explicit_sparse_captions.data(as_frame(rows))
    assert set(lines["reference"]) == {"the ring in the middle is large and purple"}
    mark, marked = explicit_sparse_captions.mark, "the ring in the [top right] is large and purple"
    assert mark(lines["caption"].iloc[0], lines["reference"].iloc[0]) == marked
    assert mark("a ring", "a ring") == "a ring" and mark("a ring", "a red ring") == "a [...] ring"
    drawn = " ".join(
        " ".join(text.get_text().split())
        for text in explicit_sparse_captions.draw(lines).findobj(Text)
    )
    assert "reference: the ring in the" in drawn and "[top" in drawn


def test_the_figure_shows_pictures_and_the_sharpest_pieces():
    lines = explicit_sparse_captions.data(everything())
    pixels, weights = lines[lines["weight"].isna()], lines[lines["weight"].notna()]
    assert list(lines["variant"].unique()) == ["softmax", "top-k"] and set(lines["caption"]) == {
        "a red ring"
    }
    colours = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255] * 3]
    assert pixels[["red", "green", "blue"]].to_numpy()[:4].tolist() == colours
    assert len(pixels) == 2 * 4 and len(weights) == 2 * 3 * 4
    assert weights["weight"].head(4).tolist() == LOOK["weights"][0]
    assert len(explicit_sparse_captions.draw(lines).axes) == 2 * 4
    looks = [LOOK | {"pieces": [], "weights": []}]
    silent = as_frame([described(variant=variant, looks=looks) for variant in ("softmax", "top_k")])
    assert not len(explicit_sparse_captions.data(silent))
