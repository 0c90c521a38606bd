"""Tables and figures of captioning and parsing, on runs worked out by hand."""

import numpy as np
import pandas as pd
import pytest

from studies.aiayn.tables import aiayn_table4
from studies.explicit_sparse.figures import explicit_sparse_captions
from studies.explicit_sparse.tables import explicit_sparse_table2
from tests._runs import everything, parsed
from tests.report._cells import at
from workflow.report.comparison import join
from workflow.report.tables.paired import cider, f1
from workflow.results.runs_table import as_frame

OURS = "Explicit Sparse Transformer"


def test_parsers_are_compared_with_softmax_and_the_papers():
    cells = join(aiayn_table4.build(everything()))
    trained = at(cells, "Transformer (4 layers)", "WSJ only")
    assert (trained["value"], trained["published_value"], trained["n"]) == (76.5, 91.3, 2)
    assert at(cells, "Dyer et al. 2016", "generative")["published_value"] == 93.3
    assert at(cells, "top-k", "gain")["value"] == 0
    # 2 of 4 brackets, and 4 in place of 3
    assert "seed 1: -25.00 F1" in at(cells, "top-k", "p (paired bootstrap)")["note"]
    shallow = as_frame([parsed(layers=2), parsed(variant="top_k", layers=3)])
    assert aiayn_table4.name_rows(shallow) == {"Transformer (4 layers)": "Transformer (2 layers)"}


def test_captioners_are_compared_with_softmax_and_the_papers():
    cells = join(explicit_sparse_table2.build(everything()))
    trained = at(cells, OURS, "CIDEr")
    assert (trained["value"], trained["published_value"]) == (106.5, 113.8)
    assert at(cells, OURS, "CIDEr, gain")["value"] == pytest.approx(5)
    nltk = at(cells, OURS, "METEOR (nltk)")
    assert nltk["value"] == 40
    assert pd.isna(nltk["published"])
    # there was no Java program
    assert at(cells, OURS, "METEOR")["status"] == "not run"
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
