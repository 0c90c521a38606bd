"""The layers of Attention Is All You Need, Table 1: by hand, and measured at tiny sizes."""

import json

import pandas as pd
import pytest
import torch

from models.kernels.compiled import build
from studies.aiayn.tables import aiayn_table1
from tests._layers import layer, layers
from tests.report._cells import at
from workflow.costs.layer_kinds import LAYERS, REACH
from workflow.report.comparison import join
from workflow.report.table_files import write_table
from workflow.results.layers import exponent
from workflow.results.precomputed import NOT_MEASURED
from workflow.results.runs_table import read_frames
from workflow.scripts import layers as layers_script
from workflow.settings.scales import read_measure

HOW = {
    "passes": 2,
    "seconds": 0.001,
    "memory_mb": 256,
    "layer_width": 8,
    "layer_lengths": [16, 8],
}
EXPONENT = ("Self-Attention", "exponent of n, time")


@pytest.mark.parametrize("power", [0, 1, 2.5])
def test_the_exponent_of_an_exact_power_law(power):
    n = pd.Series([64, 128, 300, 1024])
    values = 3 * n.astype(float) ** power
    assert exponent(n, values) == pytest.approx(power)


@pytest.mark.parametrize(
    "n, values",
    [
        ([64, 128, 256], [0.0, 5.0, float("nan")]),
        ([64, 64], [1.0, 2.0]),
    ],
)
def test_an_exponent_needs_two_values_above_zero_at_two_lengths(n, values):
    assert exponent(pd.Series(n), pd.Series(values)) is None


def test_table_1_has_the_fitted_exponents_next_to_the_formulas():
    """At d = 64, 4 n d^2 + 2 n^2 d is 1,572,864 at n = 64, and 8 / 3 of it at n = 128."""
    short = layers().query("n < 256")
    table = aiayn_table1.build(short)
    cells = join(table)
    fitted = {
        "time": 2,
        "formula": 2,
        "with projections": 1.415037,
        "memory": 1,
    }
    for name, value in fitted.items():
        slope = at(cells, "Self-Attention", f"exponent of n, {name}")
        assert slope["value"] == pytest.approx(value)
    formulas = cells.query("published.notna()")
    assert list(formulas["value"]) == list(formulas["published_value"])


def test_a_length_that_did_not_fit_is_failed_and_left_out_of_the_fit():
    cells = aiayn_table1.build(layers())
    cell = at(cells, "Self-Attention", "time, n = 256")
    assert cell["status"] == "failed"
    assert "oom" in cell["note"]
    fit = at(cells, *EXPONENT)
    assert fit["value"] == pytest.approx(2)
    one_length = layers().query("layer == 'self' and n > 64")
    alone = aiayn_table1.build(one_length)
    fit = at(alone, *EXPONENT)
    assert fit["status"] == "failed"
    nobody = layers().assign(
        status="error",
        reason=NOT_MEASURED,
        ms=None,
        turns=None,
        bytes=None,
    )
    unmeasured = aiayn_table1.build(nobody)
    fit = at(unmeasured, *EXPONENT)
    assert fit["status"] == "not run"


def test_times_have_the_interval_of_their_rounds():
    """n ms in the first round, a tenth more or less in the others: each round has slope 1."""
    rows = []
    for n in (64, 128):
        turns = [n * share for share in (1.0, 1.1, 0.9)]
        row = layer("rnn", n, float(n), turns=turns)
        rows.append(row)
    frame = layers(*rows)
    cells = aiayn_table1.build(frame)
    time = at(cells, "Recurrent", "time, n = 128")
    half = 4.3027 * 12.8 / 3**0.5
    assert time["high"] == pytest.approx(128 + half, rel=1e-4)
    slope = at(cells, "Recurrent", "exponent of n, time")
    assert slope["n"] == 3
    assert slope["value"] == pytest.approx(1)


@pytest.mark.parametrize(
    "name, first, last",
    [
        ("self", 0, 99),
        ("rnn", 0, 50),
        ("conv", 49, 51),
        ("local", 51 - REACH, 50),
    ],
)
def test_what_place_50_of_100_depends_on(name, first, last):
    torch.manual_seed(0)
    x = torch.randn(1, 100, 8, requires_grad=True, dtype=torch.float64)
    measured = LAYERS[name](8).double()
    y = measured(x)
    place = y[0, 50]
    place.sum().backward()
    (gradients,) = x.grad.abs().sum(-1)
    read = gradients.nonzero().flatten()
    assert read.tolist() == [*range(first, last + 1)]


def test_layers_are_measured_and_reach_the_table(tmp_path):
    measured = tmp_path / "layers.json"
    layers_script.main([str(measured), "--measure", json.dumps(HOW), "--device", "cpu"])
    frames = read_frames([measured])
    rows = frames.layers
    lengths = {}
    for name, of_layer in rows.groupby("layer"):
        lengths[name] = list(of_layer["n"])
    assert lengths == dict.fromkeys(LAYERS, [8, 16])
    assert set(rows["status"]) == {"ok"}
    assert (rows["ms"] > 0).all()
    assert rows["bytes"].notna().all()
    write_table(tmp_path / "t.json", "aiayn_table1", frames)
    lines = pd.read_csv(tmp_path / "t.csv")
    line = at(lines, "Recurrent", "exponent of n, time")
    assert "d = 8" in line["measured at"]


def test_a_length_beyond_the_budget_is_oom_and_is_not_timed():
    # 256 MB of scores in one piece, more than malloc serves from what a process has freed before
    small_budget = HOW | {"memory_mb": 1, "layer_lengths": [8, 8192]}
    measure = read_measure(json.dumps(small_budget))
    # the compiled code keeps no scores, and would fit
    with build.without():
        unmeasured = layers_script.unmeasured(measure)
        rows = [row for row in unmeasured if row["layer"] == "self"]
        layers_script.weigh_all(rows, measure, "cpu")
    cpu = torch.device("cpu")
    layers_script.time_all(rows, measure, cpu)
    last = rows[1]
    assert last["status"] == "oom"
    assert last["bytes"] is None
    assert last["ms"] is None
