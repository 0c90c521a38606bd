"""Tables and figures of translation on a handful of rows, worked out by hand."""

import numpy as np
import pandas as pd
import pytest

from studies.explicit_sparse.figures import explicit_sparse_figure3
from studies.explicit_sparse.tables import explicit_sparse_table1, explicit_sparse_table4, explicit_sparse_table5
from tests._runs import translated
from tests.report._cells import at
from workflow.report.figures.style import plt
from workflow.report.published import join
from workflow.results.runs_table import as_frame

BROKEN = {"status": "diverged", "reason": "mean loss nan", "test_bleu_tokenised": None, "counts": None, "maps": None}


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def scored(variant: str, *values, **changes) -> pd.DataFrame:
    """Runs of seeds 1, 2, ... with these scores."""
    rows = [
        translated(variant=variant, seed=n, test_bleu_tokenised=bleu, **changes) for n, bleu in enumerate(values, 1)
    ]
    return as_frame(rows)


def three_directions() -> pd.DataFrame:
    """Softmax 24 and 25; top-k 24.3 and 25.3."""
    corpora = ("wmt14-ende", "iwslt15-envi", "iwslt14-deen")
    runs = [scored(v, 24 + d, 25 + d, paper_corpus=c) for c in corpora for v, d in (("softmax", 0.0), ("top_k", 0.3))]
    return pd.concat(runs, ignore_index=True)


def test_table_1_has_our_mean_and_the_papers_number_in_three_directions():
    joined = join(explicit_sparse_table1.build(three_directions()))
    printed = {"En-De": (29.1, 29.4), "En-Vi": (30.6, 31.1), "De-En": (35.3, 35.6)}
    for direction, (softmax, top_k) in printed.items():
        plain = at(joined, "Transformer (softmax)", direction)
        assert (plain["value"], plain["published_value"]) == (pytest.approx(24.5), softmax)
        sparse = at(joined, "Explicit Sparse Transformer (top-k)", direction)
        assert (sparse["value"], sparse["published_value"]) == (pytest.approx(24.8), top_k)
    gains = [
        at(joined, "Explicit Sparse Transformer (top-k)", f"En-Vi, gain{suffix}")["value"] for suffix in ("", ", paper")
    ]
    assert gains == pytest.approx([0.3, 0.5])
    assert pd.isna(at(joined, "Transformer (softmax)", "En-De, sacreBLEU")["published_value"])
    cited = at(joined, "ConvS2S", "En-De")
    assert cited["kind"] == "cited" and pd.isna(cited["value"]) and cited["published_value"] == 25.2


def test_table_1_has_a_second_test_where_a_text_has_one():
    counts = {"softmax": [[2, 1, 1, 1, 4, 3, 2, 1, 4, 4]] * 9, "top_k": [[4, 3, 2, 1, 4, 3, 2, 1, 4, 4]] * 9}
    second = [
        scored(variant, 24, 25, second_test_bleu=bleu, second_test_counts=counts[variant])
        for variant, bleu in (("softmax", 20.0), ("top_k", 21.5))
    ]
    cells = join(explicit_sparse_table1.build(pd.concat(second, ignore_index=True)))
    top_k = {
        column: at(cells, "Explicit Sparse Transformer (top-k)", f"De-En, second test, {column}")
        for column in ("sacreBLEU", "gain", "p")
    }
    assert top_k["sacreBLEU"]["value"] == 21.5 and top_k["gain"]["value"] == 1.5 and top_k["p"]["value"] < 0.01
    assert not explicit_sparse_table1.build(three_directions())["column"].str.contains("second test").any()


def test_table_1_uses_every_published_value_of_table_1_once():
    used = explicit_sparse_table1.build(three_directions())["published"].dropna()
    assert used.is_unique and used.str.startswith("est.t1.").sum() == 27


def timed() -> pd.DataFrame:
    """De-En: softmax 1,000 and 100 pieces / s, sparsemax 800 and 25; En-Vi, which must not count, one."""
    ablation = {"ablation": "translation_normalisers"}
    rows = [
        translated(**ablation, variant="softmax", train_tokens_per_s=1000.0, predict_tokens_per_s=100.0),
        translated(**ablation, variant="sparsemax", train_tokens_per_s=800.0, predict_tokens_per_s=25.0)
        | {"library_train_tokens_per_s": 400.0},
        translated(**ablation, variant="entmax_alpha", alpha=[[1.2, 1.4], [1.6, 1.8]]),
        translated(**ablation, variant="entmax_alpha", seed=2, alpha=[[1.3, 1.5], [1.7, 1.9]]),
        translated(**ablation, variant="entmax15", **BROKEN | {"train_tokens_per_s": None}),
    ]
    rows += [translated(**ablation, variant="softmax", paper_corpus="iwslt15-envi", train_tokens_per_s=1.0)]
    return as_frame(rows)


def test_table_4_has_ratios_to_softmax_beside_the_quotients_of_the_papers_speeds():
    cells = explicit_sparse_table4.build(timed())
    assert at(cells, "sparsemax", "training ratio")["value"] == 0.8
    assert at(cells, "sparsemax", "decoding ratio")["value"] == 0.25
    assert at(cells, "sparsemax", "training ratio, by library")["value"] == 0.4
    rows = ("sparsemax", "entmax-1.5", "entmax-alpha, learned", "top-k", "softmax")
    ratios = [[at(cells, row, f"{phase} ratio, paper")["value"] for phase in ("training", "decoding")] for row in rows]
    assert np.round(ratios, 2).tolist() == [[0.80, 0.43], [0.82, 0.70], [0.27, 0.09], [0.98, 0.94], [1, 1]]
    assert at(cells, "sparsemax", "training ratio, paper")["kind"] == "analytic"


def test_table_4_shows_what_failed_what_is_missing_and_what_the_paper_lacks():
    joined = join(explicit_sparse_table4.build(timed()))
    assert at(joined, "entmax-1.5", "training ratio")["status"] == "failed"
    assert at(joined, "entmax-1.5", "De-En")["status"] == "failed"
    assert at(joined, "top-k", "De-En")["status"] == "not run"
    assert at(joined, "softmax", "En-Vi")["published_value"] == 30.6
    assert pd.isna(at(joined, "sparsemax", "En-Vi")["published_value"])


def test_the_learned_alpha_is_the_mean_over_heads_and_layers():
    """1.5 and 1.6 by seed."""
    cell = at(explicit_sparse_table4.build(timed()), "entmax-alpha, learned", "alpha, De-En")
    assert (cell["value"], cell["n"]) == (pytest.approx(1.55), 2) and cell["points"] == pytest.approx([1.5, 1.6])
    assert at(explicit_sparse_table4.build(timed().head(0)), "entmax-alpha, learned", "alpha, De-En")["n"] == 0


def test_table_5_tells_training_alone_from_training_and_prediction():
    """Base 23 and 24 on dev; the same top-k nets decode 22 and 23 with every key, 23.5 and 24.5 with k."""
    rows = []
    for seed in (1, 2):
        rows.append(translated(seed=seed, paper_corpus="iwslt15-envi", dev_bleu_tokenised=22.0 + seed))
        scores = {"dev_bleu_tokenised": 22.5 + seed, "dev_bleu_tokenised_every_key": 21.0 + seed}
        rows.append(translated(variant="top_k", seed=seed, paper_corpus="iwslt15-envi", k=4, **scores))
    joined = join(explicit_sparse_table5.build(as_frame(rows)))
    base, alone, both = joined["row"].unique()
    assert [at(joined, row, "dev")["value"] for row in (base, alone, both)] == pytest.approx([23.5, 22.5, 24.0])
    assert [at(joined, row, "dev")["published_value"] for row in (base, alone, both)] == [27.4, 27.7, 27.8]
    assert [at(joined, row, "gain")["value"] for row in (alone, both)] == pytest.approx([-1.0, 0.5])
    assert [at(joined, row, "gain, paper")["value"] for row in (alone, both)] == pytest.approx([0.3, 0.4])
    assert (at(joined, both, "k")["value"], at(joined, both, "k")["published_source"]) == (4, "inferred")


def test_figure_3_has_softmax_at_infinity_and_of_the_papers_curve_what_it_prints():
    """k = 2: 20 and 21; softmax: 19 and a run that broke."""
    envi = {"ablation": "translation_k", "paper_corpus": "iwslt15-envi"}
    rows = [translated(**envi, variant="top_k", k=2, seed=n, dev_bleu_tokenised=19.0 + n) for n in (1, 2)]
    rows += [translated(**envi, dev_bleu_tokenised=19.0), translated(**envi, seed=2, **BROKEN)]
    points = explicit_sparse_figure3.data(as_frame(rows))
    measured = points[points["source"] == "measured"].set_index("k")
    assert (measured.at[2, "mean"], measured.at[2, "n"]) == (pytest.approx(20.5), 2)
    assert measured.at[2, "points"] == [20, 21] and np.isnan(measured.at[2, "high"])
    assert (measured.at[np.inf, "mean"], measured.at[np.inf, "n"], measured.at[np.inf, "failed"]) == (19, 1, 1)
    published = points[points["source"] == "published"]
    assert published["k"].tolist() == [4, 8, 16, 32, np.inf]
    assert published.dropna(subset=["mean"]).set_index("k")["mean"].to_dict() == {8: 27.8, np.inf: 27.4}  # its Table 5
    ours, theirs = explicit_sparse_figure3.draw(points).axes
    assert [text.get_text() for text in ours.get_xticklabels()] == ["2", "∞"]
    assert [text.get_text() for text in theirs.get_xticklabels()] == ["4", "8", "16", "32", "∞"]
