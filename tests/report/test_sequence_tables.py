"""Tables and figure of captioning and parsing, on runs worked out by hand."""

import pandas as pd
import pytest
from matplotlib.text import Text

from studies.aiayn.tables import aiayn_table4
from studies.explicit_sparse.figures import explicit_sparse_captions
from studies.explicit_sparse.tables import explicit_sparse_table2
from tests._runs import LOOK, described, everything, failed, parsed
from tests.report._cells import at
from workflow.report.figures.style import plt
from workflow.report.published import join
from workflow.report.tables.paired import cider, f1
from workflow.results.runs_table import as_frame


def test_parsers_stand_beside_the_studies():
    cells = join(aiayn_table4.build(everything()))
    trained = at(cells, "Transformer (4 layers)", "WSJ only")
    assert (trained["value"], trained["published_value"], trained["kind"], trained["n"]) == (76.5, 91.3, "measured", 2)
    semi = at(cells, "Transformer (4 layers)", "semi-supervised")
    assert (semi["published_value"], semi["kind"]) == (92.7, "cited")
    assert at(cells, "Dyer et al. 2016", "generative")["published_value"] == 93.3
    assert at(cells, "top-k", "gain")["value"] == 0 and at(cells, "top-k", "gain")["unit"] == "F1"
    chance = at(cells, "top-k", "p (paired bootstrap)")
    assert "seed 1: -25.00 F1, p = " in chance["note"]  # 2 of 4 and 4 in place of 3
    assert at(cells, "adaptive span in the encoder", "repaired")["value"] == 5
    assert {key for key in cells["published"].dropna() if key.startswith("ai.t4.")} == {
        f"ai.t4.{key}" for key in (*aiayn_table4.PRINTED, "tr_wsj", "tr_semi")
    }


def test_captioners_stand_beside_the_studies():
    cells = join(explicit_sparse_table2.build(everything()))
    label = "Explicit Sparse Transformer"
    trained = at(cells, label, "CIDEr")
    assert (trained["value"], trained["published_value"], trained["kind"]) == (106.5, 113.8, "measured")
    assert at(cells, label, "CIDEr, gain")["value"] == pytest.approx(5)
    assert at(cells, label, "METEOR (nltk)")["value"] == 40 and pd.isna(at(cells, label, "METEOR (nltk)")["published"])
    assert at(cells, label, "METEOR")["status"] == "not run"  # the Java program was not there
    assert at(cells, "SAT", "CIDEr")["kind"] == "cited"
    assert at(cells, label, "CIDEr, p (paired bootstrap)")["status"] == "ok"


def test_what_failed_is_told():
    runs = as_frame(
        [parsed(), parsed(variant="top_k", status="diverged", reason="mean loss nan", test_f1=None, counts=None)]
    )
    cells = aiayn_table4.build(runs)
    assert (at(cells, "top-k", "WSJ only")["status"], at(cells, "top-k", "gain")["status"]) == ("failed", "failed")
    cells = explicit_sparse_table2.build(as_frame([failed(), described()]))
    assert at(cells, "Explicit Sparse Transformer", "CIDEr")["status"] == "not run"


def test_scores_of_summed_counts():
    import numpy as np

    assert f1(np.array([3, 4, 4, 6, 6, 1, 2])) == 75 and f1(np.zeros(7, int)) == 0
    assert cider(np.array([200.0, 2.0])) == 100


def test_a_caption_is_marked_where_the_nearest_reference_has_other_words():
    """The second is true, and stands in no reference: the marks say what differs, not what is wrong."""
    right = "a purple ring in the middle / the ring in the middle is large and purple / two things"
    shown = [["scene 8", "a dog", "a cat"], ["scene 9", right, "the ring in the top right is large and purple"]]
    look = LOOK | {"pieces": [f"▁{word}" for word in shown[1][2].split()], "weights": [[1.0, 0, 0, 0]] * 10}
    rows = [described(variant=variant, looks=[look], shown=shown) for variant in ("softmax", "top_k")]
    lines = explicit_sparse_captions.data(as_frame(rows))
    assert set(lines["reference"]) == {"the ring in the middle is large and purple"}
    mark = explicit_sparse_captions.mark
    assert mark(lines["caption"].iloc[0], lines["reference"].iloc[0]) == (
        "the ring in the [top right] is large and purple"
    )
    assert mark("a ring", "a ring") == "a ring" and mark("a ring", "a red ring") == "a [...] ring"
    drawn = " ".join(text.get_text() for text in explicit_sparse_captions.draw(lines).findobj(Text))
    assert "reference: the ring in the" in drawn and "[top" in drawn
    plt.close("all")


def test_the_figure_shows_pictures_and_the_sharpest_pieces():
    lines = explicit_sparse_captions.data(everything())
    pixels, weights = lines[lines["weight"].isna()], lines[lines["weight"].notna()]
    assert list(lines["variant"].unique()) == ["softmax", "top-k"] and set(lines["caption"]) == {"a red ring"}
    assert pixels[["red", "green", "blue"]].to_numpy()[:4].tolist() == [
        [255, 0, 0],
        [0, 255, 0],
        [0, 0, 255],
        [255] * 3,
    ]
    assert len(pixels) == 2 * 4 and len(weights) == 2 * 3 * 4
    assert weights["weight"].head(4).tolist() == LOOK["weights"][0]
    figure = explicit_sparse_captions.draw(lines)
    assert len(figure.axes) == 2 * 4
    assert explicit_sparse_captions.draw(explicit_sparse_captions.data(everything(failed))) is not None
    silent = [
        described(variant=variant, looks=[{**LOOK, "pieces": [], "weights": []}]) for variant in ("softmax", "top_k")
    ]
    assert not len(explicit_sparse_captions.data(as_frame(silent)))
