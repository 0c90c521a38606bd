"""All runs as one CSV and one Parquet file, and what their columns hold."""

import pandas as pd
import pytest

from tests._runs import everything, failed, run, write_inputs
from workflow.config.errors import ConfigError
from workflow.results.columns import COLUMNS, dictionary, flat_runs, write_run_files
from workflow.results.registry import COSTS, REGISTRY
from workflow.results.runs_table import as_frame, read_frames
from workflow.scripts import report


@pytest.fixture
def written(tmp_path):
    """Write the three files of two runs, one of which failed, and give their folder."""
    inputs = write_inputs(
        tmp_path / "rows", [run(seed=1, apply_to=["encoder", "cross"]), failed(seed=2)]
    )
    write_run_files(tmp_path, read_frames(inputs).runs)
    return tmp_path


def test_csv_and_parquet_hold_the_same_numbers_and_what_is_missing_is_missing(written):
    csv, parquet = pd.read_csv(written / "runs.csv"), pd.read_parquet(written / "runs.parquet")
    assert (
        list(csv.columns)
        == list(parquet.columns)
        == list(pd.read_csv(written / "runs_columns.csv")["column"])
    )
    for name in ("S", "dev_bpc", "macs_executed", "train_ms", "test_bleu"):
        assert csv[name].astype(float).equals(parquet[name].astype(float)), name
    assert csv["variant"].tolist() == parquet["variant"].tolist() == ["fixed", "fixed"]
    runs = parquet.set_index("status")
    assert runs.loc["ok", ["dev_bpc", "S", "apply_to"]].tolist() == [2.1, 64, "encoder cross"]
    assert pd.isna(runs.loc["diverged", "dev_bpc"]) and pd.isna(runs.loc["ok", "k"])
    assert runs.loc["diverged", "reason"] == "mean loss nan" and pd.isna(runs.loc["ok", "reason"])


def test_a_cost_that_nobody_measured_is_an_empty_column():
    """So that files of two scales stand one under the other."""
    with_costs, without = flat_runs(everything()), flat_runs(everything(costs=()))
    assert list(with_costs.columns) == list(without.columns) and with_costs.dtypes.equals(
        without.dtypes
    )
    assert without["train_ms"].isna().all() and with_costs["train_ms"].notna().any()


def test_every_number_of_the_registry_is_a_column_with_its_unit():
    rows = dictionary().set_index("column")
    assert rows.index.is_unique and all(rows["meaning"]) and all(rows["source"])
    assert {name for name, quantity in REGISTRY.items() if quantity.number} <= set(rows.index)
    assert {f"{kind}_status" for kind in COSTS} <= set(rows.index)
    assert rows.loc["test_bpc", "unit"] == "bpc" and rows.loc["train_ms", "unit"] == "ms"
    assert rows.loc["macs_fvcore", "source"] == "results/SCALE/flops/"


def test_a_table_of_runs_has_no_scalar_that_is_left_out():
    lists = {name for name, quantity in REGISTRY.items() if not quantity.number} | {
        "curve",
        "missing",
        "factors",
    }
    assert set(run()) - lists <= {each.column for each in COLUMNS}


def test_no_runs_are_refused(tmp_path):
    layers = next(path for path in write_inputs(tmp_path / "rows") if path.stem == "layers")
    with pytest.raises(ConfigError, match="no runs among the rows"):
        report.main(["--scale", "test", "--results", str(tmp_path), "--rows", str(layers)])


@pytest.mark.parametrize("column", ["digest", "seed", "late_gain"])
def test_a_row_without_a_declared_column_is_refused_by_its_name(column):
    row = run()
    del row[column]
    with pytest.raises(ConfigError, match=f"'{column}'"):
        as_frame([run(), row])
