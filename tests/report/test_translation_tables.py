"""Tables and figures of translation on a handful of rows, worked out by hand."""

import pandas as pd
import pytest

from studies.aiayn.tables import aiayn_table2
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

TOP_K = "Explicit Sparse Transformer (top-k)"
BASE = "Transformer (base model)"
# matching and all n-grams, lengths: worse, better
WORSE = [2, 1, 1, 1, 4, 3, 2, 1, 4, 4]
BETTER = [4, 3, 2, 1, 4, 3, 2, 1, 4, 4]


def cells_of(table, rows: list[dict]) -> pd.DataFrame:
    """Build a table from these runs."""
    runs = as_frame(rows)
    return join(table.build(runs))


def test_table_1_has_our_mean_the_papers_number_the_gain_and_a_second_test():
    """Softmax 24 and 25; top-k 24.3 and 25.3."""
    rows = []
    for seed in (1, 2):
        softmax = translated(
            variant="softmax",
            seed=seed,
            test_bleu_tokenised=23.0 + seed,
            second_test_bleu=20.0,
            second_test_counts=[WORSE] * 9,
        )
        top_k = translated(
            variant="top_k",
            seed=seed,
            test_bleu_tokenised=23.3 + seed,
            second_test_bleu=21.5,
            second_test_counts=[BETTER] * 9,
        )
        rows += [softmax, top_k]
    cells = cells_of(explicit_sparse_table1, rows)
    ours = at(cells, TOP_K, "De-En")
    assert ours["value"] == pytest.approx(24.8)
    assert ours["published_value"] == 35.6
    gain = at(cells, TOP_K, "De-En, gain")
    assert gain["value"] == pytest.approx(0.3)
    papers = at(cells, TOP_K, "De-En, gain, paper")
    assert papers["value"] == pytest.approx(35.6 - 35.3)
    second = at(cells, TOP_K, "De-En, second test, gain")
    assert second["value"] == 1.5
    p = at(cells, TOP_K, "De-En, second test, p")
    assert p["value"] < 0.01


def test_columns_name_the_languages_that_were_translated():
    """The other corpus was not read."""
    made = translated(paper_corpus="iwslt15-envi", corpus="pairs:my.sv,my.fi")
    runs = as_frame([made])
    titles = pd.Series(["En-Vi, gain", "De-En, gain"])
    named = name_directions(titles, explicit_sparse_table1.DIRECTIONS, runs)
    assert named.tolist() == ["my.sv and my.fi (paper: En-Vi), gain", "De-En, gain"]


def test_table_4_has_ratios_to_softmax_and_those_of_the_papers_speeds():
    """De-En: softmax 1,000 and 100 subwords / s, sparsemax 800 and 25; En-Vi must not count."""
    sparsemax = {
        "variant": "sparsemax",
        "train_tokens_per_s": 800.0,
        "predict_tokens_per_s": 25.0,
        "library_train_tokens_per_s": 400.0,
    }
    rows = [
        {"variant": "softmax", "train_tokens_per_s": 1000.0, "predict_tokens_per_s": 100.0},
        {"variant": "softmax", "paper_corpus": "iwslt15-envi", "train_tokens_per_s": 1.0},
        sparsemax,
        {"variant": "entmax_alpha", "alpha": [[1.2, 1.4], [1.6, 1.8]]},
        {"variant": "entmax_alpha", "seed": 2, "alpha": [[1.3, 1.5], [1.7, 1.9]]},
        {"variant": "entmax15", "train_tokens_per_s": None, **BROKEN},
    ]
    made = [translated("translation_normalisers", **row) for row in rows]
    cells = cells_of(explicit_sparse_table4, made)
    by_cell = cells.set_index(["row", "column"])
    found = by_cell.loc["sparsemax", "value"]
    assert found["training ratio"] == pytest.approx(0.8)
    assert found["decoding ratio"] == pytest.approx(0.25)
    assert found["training ratio, with library"] == pytest.approx(0.4)
    assert found["decoding ratio, paper"] == pytest.approx(0.43, abs=5e-3)
    broken = at(cells, "entmax-1.5", "training ratio")
    assert broken["status"] == "failed"
    absent = at(cells, "top-k", "De-En")
    assert absent["status"] == "not run"
    # the learned alpha is the mean over heads and layers
    alpha = at(cells, "entmax-alpha, learned", "alpha, De-En")
    assert alpha["points"] == pytest.approx([1.5, 1.6])


def test_table_5_compares_top_k_in_training_alone_with_both():
    """Base 23 and 24 on dev; top-k decodes 22 and 23 with all keys, 23.5 and 24.5 with k."""
    rows = []
    for seed in (1, 2):
        base = translated(
            seed=seed,
            paper_corpus="iwslt15-envi",
            dev_bleu_tokenised=22.0 + seed,
        )
        top_k = translated(
            variant="top_k",
            k=4,
            seed=seed,
            paper_corpus="iwslt15-envi",
            dev_bleu_tokenised=22.5 + seed,
            dev_bleu_tokenised_every_key=21.0 + seed,
        )
        rows += [base, top_k]
    cells = cells_of(explicit_sparse_table5, rows)
    dev = cells[cells["column"] == "dev"]
    assert dev["value"].tolist() == pytest.approx([23.5, 22.5, 24.0])
    assert dev["published_value"].tolist() == [27.4, 27.7, 27.8]
    gains = cells[cells["column"] == "gain"]["value"]
    assert gains.tolist() == pytest.approx([-1.0, 0.5])


def test_aiayn_table_2_has_our_cost_at_the_speed_that_the_run_sustained_and_the_papers():
    """6 x 10^6 MACs x 1,000 subwords / s is 6 GFLOP/s; over 10 and 20 s, 60 and 120 GFLOPs.

    The paper's: 12 h x 8 x 9.5 TFLOP/s = 43,200 s x 76 x 10^12.
    """
    rows = []
    for seed in (1, 2):
        made = translated(
            "transformer",
            "base",
            seed,
            paper_corpus="wmt14-ende",
            macs_executed=1e6,
            tokens_per_s=1e3,
            seconds=10.0 * seed,
        )
        rows.append(made)
    cells = cells_of(aiayn_table2, rows)
    sustained = at(cells, BASE, "sustained EN-DE")
    assert sustained["value"] == pytest.approx(6e9)
    cost = at(cells, BASE, "training cost EN-DE")
    assert cost["value"] == pytest.approx(9e10)
    bleu = at(cells, BASE, "BLEU EN-DE")
    # the mean of 24 and 25
    assert bleu["value"] == 24.5
    assert bleu["published_value"] == 27.3
    papers = at(cells, BASE, "training cost, paper's formula")
    assert papers["value"] == pytest.approx(3.2832e18)
    assert papers["published_value"] == 3.3e18
