"""Tables and figures of translation on a handful of rows, worked out by hand."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from studies.aiayn.tables import aiayn_table2
from studies.explicit_sparse.figures import explicit_sparse_figure3
from studies.explicit_sparse.tables import (
    explicit_sparse_table1,
    explicit_sparse_table4,
    explicit_sparse_table5,
)
from tests._runs import BROKEN, translated
from tests.report._cells import at
from workflow.report.comparison import join
from workflow.results.datasets import name_directions
from workflow.results.runs_table import as_frame

SOFTMAX = "Transformer (softmax)"
TOP_K = "Explicit Sparse Transformer (top-k)"
# matching and all n-grams, lengths: worse, better
WORSE = [2, 1, 1, 1, 4, 3, 2, 1, 4, 4]
BETTER = [4, 3, 2, 1, 4, 3, 2, 1, 4, 4]


def three_directions() -> pd.DataFrame:
    """Softmax 24 and 25; top-k 24.3 and 25.3."""
    rows = []
    for corpus, (variant, first), seed in product(
        ("wmt14-ende", "iwslt15-envi", "iwslt14-deen"),
        (("softmax", 24.0), ("top_k", 24.3)),
        (1, 2),
    ):
        bleu = first + seed - 1
        scores = {"paper_corpus": corpus, "test_bleu_tokenised": bleu}
        rows.append(translated(variant=variant, seed=seed, **scores))
    return as_frame(rows)


@pytest.mark.parametrize(
    "direction, softmax, top_k",
    [("En-De", 29.1, 29.4), ("En-Vi", 30.6, 31.1), ("De-En", 35.3, 35.6)],
)
def test_table_1_has_our_mean_and_the_papers_number(direction, softmax, top_k):
    cells = join(explicit_sparse_table1.build(three_directions()))
    ours = at(cells, SOFTMAX, direction)
    assert ours["value"] == pytest.approx(24.5)
    assert ours["published_value"] == softmax
    ours = at(cells, TOP_K, direction)
    assert ours["value"] == pytest.approx(24.8)
    assert ours["published_value"] == top_k
    assert at(cells, TOP_K, f"{direction}, gain")["value"] == pytest.approx(0.3)
    printed = at(cells, TOP_K, f"{direction}, gain, paper")["value"]
    assert printed == pytest.approx(top_k - softmax)


def test_table_1_has_a_second_test_where_a_dataset_has_one():
    rows = []
    for variant, bleu, counts in (("softmax", 20.0, WORSE), ("top_k", 21.5, BETTER)):
        second = {"second_test_bleu": bleu, "second_test_counts": [counts] * 9}
        rows += [translated(variant=variant, seed=seed, **second) for seed in (1, 2)]
    cells = join(explicit_sparse_table1.build(as_frame(rows)))
    assert at(cells, TOP_K, "De-En, second test, sacreBLEU")["value"] == 21.5
    assert at(cells, TOP_K, "De-En, second test, gain")["value"] == 1.5
    assert at(cells, TOP_K, "De-En, second test, p")["value"] < 0.01


@pytest.mark.parametrize(
    "table, read, title, shown",
    [
        ("est", {"iwslt14-deen": "phrases-ende"}, "De-En, gain", "En-De (paper: De-En), gain"),
        ("est", {"iwslt15-envi": "multi30k-enfr"}, "En-Vi, gain", "En-Fr (paper: En-Vi), gain"),
        ("aiayn", {"wmt14-ende": "multi30k-ende"}, "BLEU EN-FR", "BLEU EN-FR"),  # not read
        (
            "aiayn",
            {"wmt14-enfr": "pairs:my.sv,my.fi"},
            "BLEU EN-FR",
            "BLEU my.sv and my.fi (paper: EN-FR)",
        ),
    ],
)
def test_columns_name_the_languages_that_were_translated(table, read, title, shown):
    """English to French replaces Vietnamese, and English to German German to English."""
    module = {"est": explicit_sparse_table1, "aiayn": aiayn_table2}[table]
    runs = as_frame([translated(paper_corpus=key, corpus=corpus) for key, corpus in read.items()])
    assert name_directions(pd.Series([title]), module.DIRECTIONS, runs).tolist() == [shown]


def timed() -> pd.DataFrame:
    """De-En: softmax 1,000 and 100 subwords / s, sparsemax 800 and 25; En-Vi must not count."""
    rows = [
        {"variant": "softmax", "train_tokens_per_s": 1000.0, "predict_tokens_per_s": 100.0},
        {
            "variant": "sparsemax",
            "train_tokens_per_s": 800.0,
            "predict_tokens_per_s": 25.0,
            "library_train_tokens_per_s": 400.0,
        },
        {"variant": "entmax_alpha", "alpha": [[1.2, 1.4], [1.6, 1.8]]},
        {"variant": "entmax_alpha", "seed": 2, "alpha": [[1.3, 1.5], [1.7, 1.9]]},
        {"variant": "entmax15", "train_tokens_per_s": None, **BROKEN},
        {"variant": "softmax", "paper_corpus": "iwslt15-envi", "train_tokens_per_s": 1.0},
    ]
    return as_frame([translated("translation_normalisers", **row) for row in rows])


def test_table_4_has_ratios_to_softmax_and_those_of_the_papers_speeds():
    cells = join(explicit_sparse_table4.build(timed()))
    for column, value in (
        ("training ratio", 0.8),
        ("decoding ratio", 0.25),
        ("training ratio, with library", 0.4),
        ("training ratio, paper", 0.8),
        ("decoding ratio, paper", 0.43),
    ):
        assert at(cells, "sparsemax", column)["value"] == pytest.approx(value, abs=5e-3)
    assert at(cells, "entmax-1.5", "training ratio")["status"] == "failed"
    assert at(cells, "top-k", "De-En")["status"] == "not run"
    assert at(cells, "softmax", "En-Vi")["published_value"] == 30.6


def test_the_learned_alpha_is_the_mean_over_heads_and_layers():
    """1.5 and 1.6 by seed."""
    cells = explicit_sparse_table4.build(timed())
    alpha = at(cells, "entmax-alpha, learned", "alpha, De-En")
    assert alpha["value"] == pytest.approx(1.55)
    assert alpha["n"] == 2
    assert alpha["points"] == pytest.approx([1.5, 1.6])


def test_table_5_compares_top_k_in_training_alone_with_both():
    """Base 23 and 24 on dev; top-k decodes 22 and 23 with all keys, 23.5 and 24.5 with k."""
    rows = []
    for seed in (1, 2):
        envi = {"seed": seed, "paper_corpus": "iwslt15-envi"}
        scores = {"dev_bleu_tokenised": 22.5 + seed, "dev_bleu_tokenised_every_key": 21.0 + seed}
        rows.append(translated(**envi, dev_bleu_tokenised=22.0 + seed))
        rows.append(translated(**envi, variant="top_k", k=4, **scores))
    cells = join(explicit_sparse_table5.build(as_frame(rows)))
    dev = cells[cells["column"] == "dev"]
    assert dev["value"].tolist() == pytest.approx([23.5, 22.5, 24.0])
    assert dev["published_value"].tolist() == [27.4, 27.7, 27.8]
    gains = cells[cells["column"] == "gain"]["value"]
    assert gains.tolist() == pytest.approx([-1.0, 0.5])
    printed = cells[cells["column"] == "gain, paper"]["value"]
    assert printed.tolist() == pytest.approx([0.3, 0.4])


def test_figure_3_has_softmax_at_infinity_and_of_the_papers_curve_what_it_prints():
    """k = 2: 20 and 21; softmax: 19 and a run that broke."""
    envi = {"question": "translation_k", "paper_corpus": "iwslt15-envi"}
    rows = [
        translated(**envi, variant="top_k", k=2, seed=1, dev_bleu_tokenised=20.0),
        translated(**envi, variant="top_k", k=2, seed=2, dev_bleu_tokenised=21.0),
        translated(**envi, dev_bleu_tokenised=19.0),
        translated(**envi, seed=2, **BROKEN),
    ]
    points = explicit_sparse_figure3.data(as_frame(rows))
    measured = points[points["source"] == "measured"].set_index("k")
    assert measured["mean"].to_dict() == {2: 20.5, np.inf: 19}
    assert measured["n"].to_dict() == {2: 2, np.inf: 1}
    assert measured.loc[np.inf, "failed"] == 1
    published = points[points["source"] == "published"]
    assert published["k"].tolist() == [4, 8, 16, 32, np.inf]
    printed = published.dropna(subset=["mean"]).set_index("k")["mean"]
    assert printed.to_dict() == {8: 27.8, np.inf: 27.4}  # its Table 5
