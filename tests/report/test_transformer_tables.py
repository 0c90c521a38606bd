"""Tables 2 and 3 of Attention Is All You Need, and its heads, on runs worked out by hand."""

import pandas as pd
import pytest

from studies.aiayn.tables import aiayn_table2, aiayn_table3, aiayn_table4
from tests._runs import everything, parsed, translated
from tests.report._cells import at
from workflow.claims.published import load as printed
from workflow.plan.questions import load_question
from workflow.report.comparison import join
from workflow.results.runs_table import as_frame


def base(seed=1, **changes):
    costs = {"macs_executed": 1e6, "tokens_per_s": 1e3, "seconds": 10.0 * seed}
    return translated("transformer", "base", seed, paper_corpus="wmt14-ende", **costs, **changes)


def test_table_2_has_our_cost_at_the_speed_that_the_run_sustained_beside_the_papers():
    """6 x 10^6 multiply-adds x 1,000 pieces / s is 6 GFLOP/s; over 10 and 20 s, 60 and 120 GFLOPs.

    The paper's: 12 h x 8 x 9.5 TFLOP/s = 43,200 s x 76 x 10^12.
    """
    cells = join(aiayn_table2.build(as_frame([base(1), base(2)])))
    label = "Transformer (base model)"
    assert at(cells, label, "sustained EN-DE")["value"] == pytest.approx(6e9)
    cost = at(cells, label, "training cost EN-DE")
    assert (cost["value"], cost["n"]) == (pytest.approx(9e10), 2) and pd.isna(cost["published"])
    assert at(cells, label, "training time EN-DE")["value"] == 15
    bleu = at(cells, label, "BLEU EN-DE")
    assert (bleu["value"], bleu["published_value"]) == (24.5, 27.3)  # 24 and 25
    cost = at(cells, label, "training cost, paper's formula")
    assert cost["value"] == pytest.approx(3.2832e18) and cost["published_value"] == 3.3e18
    assert cost["note"] == "43,200 s × 8 P100 × 9.5 TFLOP/s"
    joined_ids = cells["published"].dropna().tolist()
    assert sorted(joined_ids) == sorted(key for key in printed() if key.startswith("ai.t2."))


def test_failed_and_missing_runs_of_table_2_are_told():
    broken = {"status": "diverged", "reason": "mean loss nan", "test_bleu_tokenised": None}
    cells, alone = (
        aiayn_table2.build(as_frame([*ended, base(2, **broken)])) for ended in ([base(1)], [])
    )
    label, cost = "Transformer (base model)", "training cost EN-DE"
    assert at(cells, label, cost)["value"] == pytest.approx(6e10)
    assert "seed 2: diverged" in at(cells, label, "BLEU EN-DE")["note"]
    missing = [
        at(cells, label, "BLEU EN-FR"),
        at(cells, "Transformer (big)", cost),
        at(alone, label, cost),
    ]
    assert [cell["status"] for cell in missing] == ["not run", "not run", "failed"]


@pytest.mark.parametrize(
    "label, named, fitted, published",
    [
        ("base", 63_045_632, 65_142_784, 65e6),  # 6 x (3,150,336 + 4,199,936) + V x 512
        ("big: N=6 d=1024 ff=4096 h=16 P_drop=0.3 300K", 214_171_648, 213_245_952, 213e6),
    ],
)
def test_parameters_at_the_papers_size_are_shown_with_both_vocabularies(
    label, named, fitted, published
):
    cells = join(aiayn_table3.build(everything()))
    params = [
        at(cells, label, f"#params, paper size, V {which}") for which in ("= 37,000", "fitted")
    ]
    assert [cell["value"] for cell in params] == [named, fitted]
    assert {cell["published_value"] for cell in params} == {published}


def test_table_3_has_every_row_with_our_sizes_and_the_papers_scores():
    cells = join(aiayn_table3.build(everything()))
    joined_ids = set(cells["published"].dropna())
    trained = {
        key for key in printed() if key.startswith("ai.t3.") and not key.startswith("ai.t3.set.")
    }
    assert trained <= joined_ids and cells["row"].nunique() == 20
    row = cells[cells["row"] == "(B) dk=16"].set_index("column")
    sizes = {
        "N": 2,
        "d_model": 16,
        "d_ff": 32,
        "h": 2,
        "d_k": 8,
        "d_v": 8,
        "P_drop": 0.1,
        "eps_ls": 0.1,
    }
    sizes |= {"train steps": 10}
    assert (
        row["value"][list(sizes)].to_dict() == sizes and row["published"][list(sizes)].isna().all()
    )
    assert (row.loc["PPL (dev)", "value"], row.loc["PPL (dev)", "published_value"]) == (12, 5.16)
    assert (row.loc["BLEU (dev)", "value"], row.loc["BLEU (dev)", "published_value"]) == (
        23.5,
        25.1,
    )
    assert at(cells, "base", "d_ff")["published_value"] == 2048
    assert pd.isna(at(cells, "base", "d_ff")["difference_pct"])  # chosen, not found
    assert row.loc["BLEU, gain, paper", "value"] == -0.7  # 25.1 - 25.8
    blank = at(cells, "(A) h=1", "#params, paper size, V fitted")  # in the paper
    assert blank["published_source"] == "inferred" and pd.isna(blank["difference_pct"])


def test_rows_of_our_models_do_not_state_the_papers_sizes():
    runs = as_frame(
        [
            translated("transformer_variations", name, scale="small")
            for name in ("base", "cN8", "e", "big")
        ]
    )
    names = aiayn_table3.name_rows(runs)
    label = load_question("transformer_variations").variants["cN8"].label
    assert names.pop("(C) N=8") == f"(C) {label} (paper: N=8)"
    (big,) = names.values()  # learned positions are the paper's too
    assert big.startswith("big (paper: N=6 ")
    assert aiayn_table3.name_rows(runs.assign(scale="paper")) == {}
    layers = as_frame([parsed(layers=2), parsed(variant="top_k", layers=3)])
    assert aiayn_table4.name_rows(layers) == {"Transformer (4 layers)": "Transformer (2 layers)"}
