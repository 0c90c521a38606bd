"""The layers of Attention Is All You Need, Table 1: by hand, and measured at tiny sizes."""

import json
import re

import pandas as pd
import pytest
import torch

from models.kernels.compiled import build
from studies.aiayn.figures import aiayn_table1_times
from studies.aiayn.tables import aiayn_table1
from tests import _site
from tests._layers import layer, layers
from tests._runs import run
from tests.report._cells import at
from workflow.claims.published import load as printed
from workflow.config.errors import ConfigError
from workflow.costs.layer_kinds import LAYERS, REACH
from workflow.plan.scales import read_measure
from workflow.report.comparison import join
from workflow.report.table_files import write_table
from workflow.results.layers import exponent
from workflow.results.precomputed import NOT_MEASURED
from workflow.results.record import write_text
from workflow.results.rows import write_rows
from workflow.results.runs_table import read_frames
from workflow.scripts import layers as layers_script
from workflow.scripts.summary import failure_lines

HOW = {"passes": 2, "seconds": 0.001, "memory_mb": 256, "layer_width": 8, "layer_lengths": [16, 8]}


@pytest.mark.parametrize("power", [0, 1, 2, 2.5])
def test_the_exponent_of_an_exact_power_law(power):
    n = pd.Series([64, 128, 300, 1024])
    assert exponent(n, 3 * n.astype(float) ** power) == pytest.approx(power)
    few, two = pd.Series([0.0, 5.0, None, None]), pd.Series([0.0, 5.0, None, 40.0])
    # it needs two values above zero
    assert exponent(n, few) is None and exponent(n, two) == pytest.approx(1)
    assert exponent(pd.Series([64, 64]), [1.0, 2.0]) is None  # and two lengths


def test_table_1_sets_the_fitted_exponent_beside_the_formulas():
    """Products of self-attention at d = 64: 4 n d^2 + 2 n^2 d is 1,572,864 at n = 64 and 8 / 3 of
    it at n = 128.
    """
    cells = join(aiayn_table1.build(layers().query("n < 256")))
    fitted = {"time": 2, "formula": 2, "with projections": 1.415037, "memory": 1}
    slopes = {name: at(cells, "Self-Attention", f"exponent of n, {name}") for name in fitted}
    assert {name: slope["value"] for name, slope in slopes.items()} == pytest.approx(fitted)
    assert slopes["time"]["note"] == "" and at(cells, "Recurrent", "exponent of n, time")[
        "value"
    ] == pytest.approx(1)
    time = at(cells, "Self-Attention", "time, n = 128")
    assert (time["value"], time["unit"], time["kind"]) == (pytest.approx(163.84), "ms", "measured")


def test_a_length_that_did_not_fit_is_failed_and_left_out_of_the_fit():
    cells = aiayn_table1.build(layers())
    cell, fit = (
        at(cells, "Self-Attention", column) for column in ("time, n = 256", "exponent of n, time")
    )
    assert (cell["status"], cell["note"]) == ("failed", "oom: no room") and pd.isna(cell["value"])
    assert fit["value"] == pytest.approx(2) and fit["note"] == "n = 256 excluded: oom: no room"
    alone = layers().query("layer == 'self' and n > 64")
    assert (
        at(aiayn_table1.build(alone), "Self-Attention", "exponent of n, time")["status"] == "failed"
    )


def test_the_formulas_of_table_1_are_the_papers_and_stand_without_a_measurement():
    cells = join(aiayn_table1.build(layers().head(0)))
    printed_cells = cells[cells["published"].notna()]
    assert set(printed_cells["published"]) == {key for key in printed() if key.startswith("ai.t1.")}
    assert (printed_cells["value"] == printed_cells["published_value"]).all()
    assert at(cells, "Recurrent", "exponent of n, time")["status"] == "not run"


def test_a_layer_that_nobody_measured_has_not_failed():
    nobody = layers().assign(status="error", reason=NOT_MEASURED, ms=None, turns=None, bytes=None)
    cells = aiayn_table1.build(nobody)
    assert set(cells.loc[cells["kind"] == "measured", "status"]) == {"not run"}
    columns = ("time, n = 128", "exponent of n, time", "exponent of n, memory")
    assert {at(cells, "Self-Attention", column)["note"] for column in columns} == {NOT_MEASURED}


def test_the_times_are_drawn_from_what_could_be_timed_with_the_interval_of_their_turns():
    """n ms in the first turn, a tenth more or less in the others: each turn is a line of slope
    1.
    """
    times = aiayn_table1_times.data(layers())
    assert times.groupby("layer")["n"].apply(list).to_dict() == {
        "rnn": [64, 128, 256],
        "self": [64, 128],
    }
    names = [text.get_text() for text in aiayn_table1_times.draw(times).legends[0].get_texts()]
    assert names == ["Self-Attention, slope 2.00", "Recurrent, slope 1.00"]
    turned = layers(
        *(
            layer("rnn", n, float(n), turns=[n * share for share in (1.0, 1.1, 0.9)])
            for n in (64, 128)
        )
    )
    cells = aiayn_table1.build(turned)
    time, slope = (
        at(cells, "Recurrent", column) for column in ("time, n = 128", "exponent of n, time")
    )
    assert time["value"] == pytest.approx(128) and time["high"] - 128 == pytest.approx(
        4.3027 * 12.8 / 3**0.5, rel=1e-4
    )
    assert slope["n"] == 3 and slope["value"] == pytest.approx(1)
    assert aiayn_table1_times.data(turned).set_index("n").loc[128, "high"] == pytest.approx(
        time["high"]
    )


@pytest.mark.parametrize(
    "name, first, last",
    [("self", 0, 99), ("rnn", 0, 50), ("conv", 49, 51), ("local", 51 - REACH, 50)],
)
def test_what_place_50_of_100_depends_on(name, first, last):
    torch.manual_seed(0)
    x = torch.randn(1, 100, 8, requires_grad=True, dtype=torch.float64)
    y = LAYERS[name](8).double()(x)
    y[0, 50].sum().backward()
    seen = x.grad[0].abs().sum(-1).nonzero().flatten().tolist()
    assert y.shape == x.shape and seen == [*range(first, last + 1)]


def test_layers_are_weighed_timed_and_reach_the_table(tmp_path):
    measured = tmp_path / "layers.json"
    layers_script.main([str(measured), "--measure", json.dumps(HOW), "--device", "cpu"])
    frame = read_frames([measured]).layers
    assert frame.groupby("layer")["n"].apply(list).to_dict() == {name: [8, 16] for name in LAYERS}
    assert (
        (frame["status"] == "ok").all() and (frame["ms"] > 0).all() and (frame["rounds"] >= 6).all()
    )
    assert frame["bytes"].notna().all() and set(frame["d"]) == {8}
    write_table(tmp_path / "t.json", "aiayn_table1", read_frames([measured]))
    origin = json.loads((tmp_path / "t.json").read_text())["provenance"]
    assert re.match("cpu: .*d = 8; one sequence, one thread; .* rounds$", origin)
    tidy = pd.read_csv(tmp_path / "t.csv").set_index(["row", "column"])["measured at"].fillna("")
    assert (
        tidy["Recurrent", "exponent of n, time"] == origin
        and tidy["Recurrent", "sequential operations"] == ""
    )


def test_a_length_beyond_the_budget_is_oom_and_is_not_timed():
    # 256 MB of scores in one piece: more than malloc ever serves from what a process has freed
    # before
    measure = read_measure(json.dumps(HOW | {"memory_mb": 1, "layer_lengths": [8, 8192]}))
    with build.without():  # the compiled code keeps no scores, and would fit
        rows = [row for row in layers_script.unmeasured(measure) if row["layer"] == "self"]
        layers_script.weigh_all(rows, measure, "cpu")
    layers_script.time_all(rows, measure, torch.device("cpu"))
    assert (rows[1]["status"], rows[1]["bytes"], rows[1]["ms"]) == ("oom", None, None)
    with pytest.raises(ConfigError, match="layer_lengths"):
        read_measure(json.dumps(HOW | {"layer_lengths": [64]}))  # one gives no exponent


def test_the_summary_names_layers_that_failed(tmp_path):
    scale = tmp_path / "results" / _site.SCALE
    write_text(scale / "plan.json", json.dumps([_site.planned(run())]))
    write_text(
        scale / "layers.json",
        write_rows("layers", [layer("self", 8, 1.0), layer("self", 16, None, "oom")]),
    )
    assert failure_lines(_site.site_of(tmp_path)) == ["layers: self, n = 16: oom: no room"]
