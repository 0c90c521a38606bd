"""The layers of Attention Is All You Need, Table 1: by hand, and measured at tiny sizes."""

import json

import pandas as pd
import pytest
import torch

from models.kernels.compiled import build
from studies.aiayn.figures import aiayn_table1_times
from studies.aiayn.tables import aiayn_table1
from tests._layers import layer, layers
from tests.report._cells import at
from workflow.claims.published import load as printed
from workflow.config.errors import ConfigError
from workflow.costs.layer_kinds import LAYERS, REACH
from workflow.report.comparison import join
from workflow.report.table_files import read_table, write_table
from workflow.results.layers import exponent
from workflow.results.precomputed import NOT_MEASURED
from workflow.results.runs_table import read_frames
from workflow.scripts import layers as layers_script
from workflow.settings.scales import read_measure

HOW = {"passes": 2, "seconds": 0.001, "memory_mb": 256, "layer_width": 8, "layer_lengths": [16, 8]}
TIME_256 = ("Self-Attention", "time, n = 256")
TIME_EXPONENT = ("Self-Attention", "exponent of n, time")


@pytest.mark.parametrize("power", [0, 1, 2, 2.5])
def test_the_exponent_of_an_exact_power_law(power):
    n = pd.Series([64, 128, 300, 1024])
    assert exponent(n, 3 * n.astype(float) ** power) == pytest.approx(power)


@pytest.mark.parametrize(
    "n, values", [([64, 128, 256], [0.0, 5.0, float("nan")]), ([64, 64], [1.0, 2.0])]
)
def test_an_exponent_needs_two_values_above_zero_at_two_lengths(n, values):
    assert exponent(pd.Series(n), pd.Series(values)) is None


def test_table_1_has_the_fitted_exponents_next_to_the_formulas():
    """At d = 64, 4 n d^2 + 2 n^2 d is 1,572,864 at n = 64, and 8 / 3 of it at n = 128."""
    cells = join(aiayn_table1.build(layers().query("n < 256")))
    fitted = {"time": 2, "formula": 2, "with projections": 1.415037, "memory": 1}
    for name, value in fitted.items():
        slope = at(cells, "Self-Attention", f"exponent of n, {name}")
        assert slope["value"] == pytest.approx(value)
        assert slope["note"] == ""
    time = at(cells, "Self-Attention", "time, n = 128")
    assert time["value"] == pytest.approx(163.84)
    assert time["unit"] == "ms"
    assert time["kind"] == "measured"


def test_a_length_that_did_not_fit_is_failed_and_left_out_of_the_fit():
    cells = aiayn_table1.build(layers())
    cell = at(cells, *TIME_256)
    assert cell["status"] == "failed"
    assert pd.isna(cell["value"])
    assert "oom" in cell["note"]
    fit = at(cells, *TIME_EXPONENT)
    assert fit["value"] == pytest.approx(2)
    assert "n = 256" in fit["note"]
    alone = layers().query("layer == 'self' and n > 64")
    assert at(aiayn_table1.build(alone), *TIME_EXPONENT)["status"] == "failed"


def test_without_a_measurement_table_1_has_the_papers_formulas():
    cells = join(aiayn_table1.build(layers().head(0)))
    formulas = cells[cells["published"].notna()]
    assert set(formulas["published"]) == {key for key in printed() if key.startswith("ai.t1.")}
    assert (formulas["value"] == formulas["published_value"]).all()
    nobody = layers().assign(status="error", reason=NOT_MEASURED, ms=None, turns=None, bytes=None)
    cells = aiayn_table1.build(nobody)
    assert set(cells.loc[cells["kind"] == "measured", "status"]) == {"not run"}
    assert at(cells, *TIME_EXPONENT)["note"] == NOT_MEASURED


def test_times_have_the_interval_of_their_rounds():
    """n ms in the first round, a tenth more or less in the others: each round has slope 1."""
    shares = (1.0, 1.1, 0.9)
    rows = []
    for n in (64, 128):
        turns = [n * share for share in shares]
        rows.append(layer("rnn", n, float(n), turns=turns))
    cells = aiayn_table1.build(layers(*rows))
    time = at(cells, "Recurrent", "time, n = 128")
    assert time["value"] == pytest.approx(128)
    assert time["high"] - 128 == pytest.approx(4.3027 * 12.8 / 3**0.5, rel=1e-4)
    slope = at(cells, "Recurrent", "exponent of n, time")
    assert slope["n"] == 3
    assert slope["value"] == pytest.approx(1)
    drawn = aiayn_table1_times.data(layers(*rows)).set_index("n")
    assert drawn.loc[128, "high"] == pytest.approx(time["high"])


@pytest.mark.parametrize(
    "name, first, last",
    [("self", 0, 99), ("rnn", 0, 50), ("conv", 49, 51), ("local", 51 - REACH, 50)],
)
def test_what_place_50_of_100_depends_on(name, first, last):
    torch.manual_seed(0)
    x = torch.randn(1, 100, 8, requires_grad=True, dtype=torch.float64)
    y = LAYERS[name](8).double()(x)
    y[0, 50].sum().backward()
    gradients = x.grad[0].abs().sum(-1)
    seen = gradients.nonzero().flatten().tolist()
    assert y.shape == x.shape
    assert seen == [*range(first, last + 1)]


def test_layers_are_measured_and_reach_the_table(tmp_path):
    measured = tmp_path / "layers.json"
    layers_script.main([str(measured), "--measure", json.dumps(HOW), "--device", "cpu"])
    frames = read_frames([measured])
    rows = frames.layers
    lengths = rows.groupby("layer")["n"].apply(list)
    assert lengths.to_dict() == dict.fromkeys(LAYERS, [8, 16])
    assert set(rows["status"]) == {"ok"}
    assert (rows["ms"] > 0).all()
    assert rows["bytes"].notna().all()
    write_table(tmp_path / "t.json", "aiayn_table1", frames)
    origin = read_table(tmp_path / "t.json").provenance
    assert "d = 8" in origin
    lines = pd.read_csv(tmp_path / "t.csv").set_index(["row", "column"])
    assert lines.loc[("Recurrent", "exponent of n, time"), "measured at"] == origin


def test_a_length_beyond_the_budget_is_oom_and_is_not_timed():
    # 256 MB of scores in one piece, more than malloc serves from what a process has freed before
    measure = read_measure(json.dumps(HOW | {"memory_mb": 1, "layer_lengths": [8, 8192]}))
    with build.without():  # the compiled code keeps no scores, and would fit
        rows = [row for row in layers_script.unmeasured(measure) if row["layer"] == "self"]
        layers_script.weigh_all(rows, measure, "cpu")
    layers_script.time_all(rows, measure, torch.device("cpu"))
    assert rows[1]["status"] == "oom"
    assert rows[1]["bytes"] is None
    assert rows[1]["ms"] is None


def test_one_length_gives_no_exponent_and_is_refused():
    with pytest.raises(ConfigError, match="layer_lengths"):
        read_measure(json.dumps(HOW | {"layer_lengths": [64]}))
