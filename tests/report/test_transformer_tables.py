"""Tables and figures of Attention Is All You Need, by hand, and the layers of its Table 1, measured at tiny sizes."""

import json

import pandas as pd
import pytest
import torch

from tests._runs import everything, layer, layers, translated
from tests.report._cells import at
from workflow.config.errors import ConfigError
from workflow.config.files import ROOT
from workflow.config.strict import read_yaml
from workflow.costs.layer_kinds import LAYERS, REACH
from workflow.papers.published import join
from workflow.papers.published import load as printed
from workflow.plan.scales import read_measure
from workflow.plan.targets import Targets
from workflow.report.figures import aiayn_attention, aiayn_table1_times
from workflow.report.tables import aiayn_table1, aiayn_table2, aiayn_table3
from workflow.report.tables._layers import exponent
from workflow.results.rows import write_rows
from workflow.results.runs_table import as_frame, read_frames
from workflow.scripts import layers as layers_script
from workflow.scripts import table
from workflow.scripts.summary import broken

HOW = {"passes": 2, "seconds": 0.001, "memory_mb": 256, "layer_width": 8, "layer_lengths": [16, 8]}


def base(seed=1, **changes):
    costs = {"macs_executed": 1e6, "tokens_per_s": 1e3, "seconds": 10.0 * seed}
    return translated("transformer", "base", seed, paper_corpus="wmt14-ende", **costs, **changes)


@pytest.mark.parametrize("power", [0, 1, 2, 2.5])
def test_the_exponent_of_an_exact_power_law(power):
    n = pd.Series([64, 128, 300, 1024])
    assert exponent(n, 3 * n.astype(float) ** power) == pytest.approx(power)


def test_an_exponent_needs_two_values_above_zero():
    n = pd.Series([64, 128, 256])
    assert exponent(n, pd.Series([0.0, 5.0, None])) is None
    assert exponent(n, pd.Series([0.0, 5.0, 10.0])) == pytest.approx(1)


def test_table_1_sets_the_fitted_exponent_beside_the_formulas():
    """Products of self-attention at d = 64: 4 n d^2 + 2 n^2 d is 1,572,864 at n = 64 and 8 / 3 of it at n = 128."""
    cells = join(aiayn_table1.build(layers().query("n < 256")))
    slope = at(cells, "Self-Attention", "exponent of n, time")
    assert slope["value"] == pytest.approx(2)
    assert slope["note"] == "medians of 9 rounds or more; middle halves within 10% of them"
    assert at(cells, "Self-Attention", "exponent of n, formula")["value"] == 2
    assert at(cells, "Self-Attention", "exponent of n, with projections")["value"] == pytest.approx(1.415037)
    assert at(cells, "Self-Attention", "exponent of n, memory")["value"] == pytest.approx(1)
    assert at(cells, "Recurrent", "exponent of n, time")["value"] == pytest.approx(1)
    time = at(cells, "Self-Attention", "time, n = 128")
    assert (time["value"], time["unit"], time["kind"]) == (pytest.approx(163.84), "ms", "measured")


def test_a_length_that_did_not_fit_is_failed_and_left_out_of_the_fit():
    cells = aiayn_table1.build(layers())
    cell = at(cells, "Self-Attention", "time, n = 256")
    assert (cell["status"], cell["note"]) == ("failed", "oom: no room") and pd.isna(cell["value"])
    fit = at(cells, "Self-Attention", "exponent of n, time")
    assert fit["value"] == pytest.approx(2) and fit["note"].endswith("of them; n = 256 left out: oom: no room")
    alone = layers().query("layer == 'self' and n > 64")
    assert at(aiayn_table1.build(alone), "Self-Attention", "exponent of n, time")["status"] == "failed"


def test_the_formulas_of_table_1_are_the_papers_and_stand_without_a_measurement():
    cells = join(aiayn_table1.build(layers().head(0)))
    printed_cells = cells[cells["published"].notna()]
    assert set(printed_cells["published"]) == {key for key in printed() if key.startswith("ai.t1.")}
    assert (printed_cells["value"] == printed_cells["published_value"]).all()
    assert at(cells, "Recurrent", "exponent of n, time")["status"] == "not run"


def test_the_times_are_drawn_from_what_could_be_timed():
    times = aiayn_table1_times.data(layers())
    assert times.groupby("layer")["n"].apply(list).to_dict() == {"rnn": [64, 128, 256], "self": [64, 128]}
    names = [text.get_text() for text in aiayn_table1_times.draw(times).axes[0].get_legend().get_texts()]
    assert names == ["Self-Attention, slope 2.00", "Recurrent, slope 1.00"]


def test_our_cost_is_time_at_the_speed_that_the_run_sustained():
    """6 x 10^6 multiply-adds x 1,000 pieces / s is 6 GFLOP/s; over 10 and 20 s, 60 and 120 GFLOPs."""
    cells = aiayn_table2.build(as_frame([base(1), base(2)]))
    label = "Transformer (base model)"
    assert at(cells, label, "sustained EN-DE")["value"] == pytest.approx(6e9)
    cost = at(cells, label, "training cost EN-DE")
    assert (cost["value"], cost["n"], cost["published"]) == (pytest.approx(9e10), 2, None)
    assert at(cells, label, "training time EN-DE")["value"] == 15


def test_table_2_sets_bleu_and_the_papers_cost_beside_the_papers():
    """12 h x 8 x 9.5 TFLOP/s = 43,200 s x 76 x 10^12."""
    cells = join(aiayn_table2.build(as_frame([base(1), base(2)])))
    label = "Transformer (base model)"
    bleu = at(cells, label, "BLEU EN-DE")
    assert (bleu["value"], bleu["published_value"]) == (24.5, 27.3)  # 24 and 25
    cost = at(cells, label, "training cost, paper's arithmetic")
    assert cost["value"] == pytest.approx(3.2832e18) and cost["published_value"] == 3.3e18
    assert cost["note"] == "43,200 s x 8 P100 x 9.5 TFLOP/s"
    joined_ids = cells["published"].dropna().tolist()
    assert sorted(joined_ids) == sorted(key for key in printed() if key.startswith("ai.t2."))


def test_failed_and_missing_runs_of_table_2_are_told():
    broken = {"status": "diverged", "reason": "mean loss nan", "test_bleu_tokenised": None}
    cells = aiayn_table2.build(as_frame([base(1), base(2, **broken)]))
    label = "Transformer (base model)"
    assert at(cells, label, "training cost EN-DE")["value"] == pytest.approx(6e10)
    assert "seed 2: diverged" in at(cells, label, "BLEU EN-DE")["note"]
    assert at(cells, label, "BLEU EN-FR")["status"] == "not run"
    assert at(cells, "Transformer (big)", "training cost EN-DE")["status"] == "not run"
    alone = aiayn_table2.build(as_frame([base(2, **broken)]))
    assert at(alone, label, "training cost EN-DE")["status"] == "failed"


@pytest.mark.parametrize(
    "label, named, fitted, published",
    [
        ("base", 63_045_632, 65_142_784, 65e6),  # 6 x (3,150,336 + 4,199,936) + V x 512
        ("big: N=6 d=1024 ff=4096 h=16 P_drop=0.3 300K", 214_171_648, 213_245_952, 213e6),
    ],
)
def test_parameters_at_the_papers_size_are_shown_with_both_vocabularies(label, named, fitted, published):
    cells = join(aiayn_table3.build(everything()))
    params = [at(cells, label, f"#params, paper size, V {which}") for which in ("= 37,000", "fitted")]
    assert [cell["value"] for cell in params] == [named, fitted]
    assert {cell["published_value"] for cell in params} == {published}


def test_table_3_has_every_row_with_our_sizes_and_the_papers_scores():
    cells = join(aiayn_table3.build(everything()))
    joined_ids = set(cells["published"].dropna())
    trained = {key for key in printed() if key.startswith("ai.t3.") and not key.startswith("ai.t3.set.")}
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
        "train steps": 10,
    }
    assert row["value"][list(sizes)].to_dict() == sizes and row["published"][list(sizes)].isna().all()
    assert (row.loc["PPL (dev)", "value"], row.loc["PPL (dev)", "published_value"]) == (12, 5.16)
    assert (row.loc["BLEU (dev)", "value"], row.loc["BLEU (dev)", "published_value"]) == (23.5, 25.1)
    assert at(cells, "base", "d_ff")["published_value"] == 2048
    assert pd.isna(at(cells, "base", "d_ff")["difference_pct"])  # chosen, not found
    assert row.loc["BLEU, gain, paper", "value"] == -0.7  # 25.1 - 25.8


def test_a_count_that_the_paper_leaves_blank_is_not_called_published():
    cells = join(aiayn_table3.build(everything()))
    cell = at(cells, "(A) h=1", "#params, paper size, V fitted")
    assert cell["published_source"] == "inferred" and pd.isna(cell["difference_pct"])


def test_the_heads_shown_are_of_the_last_layer_and_of_a_seed_that_ended_well():
    runs = as_frame([base(1, status="diverged", reason="x"), base(2), base(3)])
    weights = aiayn_attention.data(runs)
    assert aiayn_attention.used(runs)["seed"].tolist() == [2]
    assert set(weights["layer"]) == {3} and weights["head"].nunique() == 2
    head = weights[weights["head"] == 1].pivot(index="query_piece", columns="key_piece", values="weight")
    assert head.loc["▁zwei", "▁zwei"] == 1 and head.loc["▁zwei", "<eos>"] == 0
    assert not len(aiayn_attention.data(as_frame([base(1) | {"maps": {}}])))


@pytest.mark.parametrize(
    "name, first, last", [("self", 0, 99), ("rnn", 0, 50), ("conv", 49, 51), ("local", 51 - REACH, 50)]
)
def test_what_place_50_of_100_depends_on(name, first, last):
    torch.manual_seed(0)
    x = torch.randn(1, 100, 8, requires_grad=True, dtype=torch.float64)
    y = LAYERS[name](8).double()(x)
    assert y.shape == x.shape
    y[0, 50].sum().backward()
    seen = x.grad[0].abs().sum(-1).nonzero().flatten().tolist()
    assert seen == list(range(first, last + 1))


def test_layers_are_weighed_timed_and_reach_the_table(tmp_path):
    measured = tmp_path / "layers.json"
    layers_script.main([str(measured), "--measure", json.dumps(HOW), "--device", "cpu"])
    frame = read_frames([measured]).layers
    assert frame.groupby("layer")["n"].apply(list).to_dict() == {name: [8, 16] for name in LAYERS}
    assert (frame["status"] == "ok").all() and (frame["ms"] > 0).all() and (frame["rounds"] >= 6).all()
    assert frame["bytes"].notna().all() and set(frame["d"]) == {8}
    table.main(["aiayn_table1", str(tmp_path / "t.json"), str(measured)])
    origin = json.loads((tmp_path / "t.json").read_text())["provenance"]
    assert origin.startswith("cpu: ") and "d = 8; one sequence, one thread; medians of" in origin
    tidy = pd.read_csv(tmp_path / "t.csv").set_index(["row", "column"])["measured at"].fillna("")
    assert tidy["Recurrent", "exponent of n, time"] == origin and tidy["Recurrent", "sequential operations"] == ""


def test_a_length_beyond_the_budget_is_oom_and_is_not_timed():
    measure = read_measure(json.dumps(HOW | {"memory_mb": 1, "layer_lengths": [8, 2048]}))
    rows = [row for row in layers_script.weighed(measure, "cpu") if row["layer"] == "self"]
    layers_script.time_all(rows, measure, torch.device("cpu"))
    assert (rows[1]["status"], rows[1]["bytes"], rows[1]["ms"]) == ("oom", None, None)


def test_one_length_gives_no_exponent_and_is_refused():
    with pytest.raises(ConfigError, match="layer_lengths"):
        read_measure(json.dumps(HOW | {"layer_lengths": [64]}))


def test_only_what_reads_layers_waits_for_them():
    config = read_yaml(ROOT / "config" / "config.yaml") | {
        "scale": "smoke",
        "papers": ["aiayn"],
        "tasks": ["translation"],
    }
    targets = Targets.of(config)
    files = {name: targets.files_read(kind, name) for kind in ("tables", "figures") for name in targets.artefacts(kind)}
    waiting = {name for name, paths in files.items() if f"{targets.results}/layers.json" in paths}
    assert waiting == {"aiayn_table1", "aiayn_table1_times"} and len(files) > len(waiting)


def test_the_summary_names_layers_that_failed(tmp_path):
    (tmp_path / "plan.json").write_text("[]")
    (tmp_path / "layers.json").write_text(write_rows("layers", [layer("self", 8, 1.0), layer("self", 16, None, "oom")]))
    assert broken(tmp_path, tmp_path / "runs") == ["layers: self, n = 16: oom: no room"]
