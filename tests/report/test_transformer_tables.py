"""Tables 2 and 3 of Attention Is All You Need, on runs worked out by hand."""

import pandas as pd
import pytest

from studies.aiayn.tables import aiayn_table2, aiayn_table3, aiayn_table4
from tests._runs import everything, parsed, translated
from tests.report._cells import at
from workflow.claims.published import load as printed
from workflow.report.comparison import join
from workflow.results.runs_table import as_frame

BASE = "Transformer (base model)"


def base(seed=1, **changes) -> dict:
    costs = {"macs_executed": 1e6, "tokens_per_s": 1e3, "seconds": 10.0 * seed}
    return translated("transformer", "base", seed, paper_corpus="wmt14-ende", **costs, **changes)


def test_table_2_has_our_cost_at_the_speed_that_the_run_sustained_and_the_papers():
    """6 x 10^6 MACs x 1,000 subwords / s is 6 GFLOP/s; over 10 and 20 s, 60 and 120 GFLOPs.

    The paper's: 12 h x 8 x 9.5 TFLOP/s = 43,200 s x 76 x 10^12.
    """
    cells = join(aiayn_table2.build(as_frame([base(1), base(2)])))
    assert at(cells, BASE, "sustained EN-DE")["value"] == pytest.approx(6e9)
    cost = at(cells, BASE, "training cost EN-DE")
    assert cost["value"] == pytest.approx(9e10)
    assert cost["n"] == 2
    assert pd.isna(cost["published"])
    assert at(cells, BASE, "training time EN-DE")["value"] == 15
    bleu = at(cells, BASE, "BLEU EN-DE")
    assert (bleu["value"], bleu["published_value"]) == (24.5, 27.3)  # 24 and 25
    papers = at(cells, BASE, "training cost, paper's formula")
    assert papers["value"] == pytest.approx(3.2832e18)
    assert papers["published_value"] == 3.3e18
    in_paper = [key for key in printed() if key.startswith("ai.t2.")]
    assert sorted(cells["published"].dropna()) == sorted(in_paper)


@pytest.mark.parametrize(
    "label, stated, fitted, published",
    [
        ("base", 63_045_632, 65_142_784, 65e6),  # 6 x (3,150,336 + 4,199,936) + V x 512
        ("big: N=6 d=1024 ff=4096 h=16 P_drop=0.3 300K", 214_171_648, 213_245_952, 213e6),
    ],
)
def test_parameters_at_the_papers_size_have_both_vocabularies(label, stated, fitted, published):
    cells = join(aiayn_table3.build(everything()))
    for vocabulary, parameters in (("= 37,000", stated), ("fitted", fitted)):
        cell = at(cells, label, f"#params, paper size, V {vocabulary}")
        assert (cell["value"], cell["published_value"]) == (parameters, published)


def test_table_3_has_every_row_with_our_sizes_and_the_papers_scores():
    cells = join(aiayn_table3.build(everything()))
    in_paper = {key for key in printed() if key.startswith("ai.t3.")}
    settings = {key for key in in_paper if key.startswith("ai.t3.set.")}
    assert in_paper - settings <= set(cells["published"].dropna())
    assert cells["row"].nunique() == 20
    row = cells[cells["row"] == "(B) dk=16"].set_index("column")
    ours = row["value"]
    sizes = {"N": 2, "d_model": 16, "d_ff": 32, "h": 2, "d_k": 8, "d_v": 8, "P_drop": 0.1}
    assert ours[list(sizes)].to_dict() == sizes
    scores = ["PPL (dev)", "BLEU (dev)"]
    assert ours[scores].tolist() == [12, 23.5]
    assert row["published_value"][scores].tolist() == [5.16, 25.1]
    assert ours["BLEU, gain, paper"] == -0.7  # 25.1 - 25.8


def test_rows_of_our_models_do_not_state_the_papers_sizes():
    variants = ("base", "cN8", "e", "big")
    rows = [translated("transformer_variations", name, scale="small") for name in variants]
    names = aiayn_table3.name_rows(as_frame(rows))
    # learned positions are the paper's too
    assert [name.partition(" N=")[0] for name in names] == ["(C)", "big:"]
    assert all("paper: N=" in shown for shown in names.values())
    assert aiayn_table3.name_rows(as_frame(rows).assign(scale="paper")) == {}
    layers = as_frame([parsed(layers=2), parsed(variant="top_k", layers=3)])
    assert aiayn_table4.name_rows(layers) == {"Transformer (4 layers)": "Transformer (2 layers)"}
