"""All runs as one CSV and one Parquet file, and what their columns hold."""

import pandas as pd
import pytest

from tests._runs import failed, run, write_inputs
from workflow.config.errors import ConfigError
from workflow.results.columns import COLUMNS, dictionary, write_run_files
from workflow.results.registry import COSTS, REGISTRY
from workflow.results.runs_table import as_frame, read_frames
from workflow.scripts import report

NO_SCALAR = {"curve", "missing", "factors", "over_condition"}


def test_csv_and_parquet_hold_the_same_numbers_and_what_is_missing_is_missing(tmp_path):
    ended = run(seed=1, apply_to=["encoder", "cross"])
    rows = [ended, failed(seed=2)]
    inputs = write_inputs(tmp_path / "rows", rows)
    frames = read_frames(inputs)
    write_run_files(tmp_path, frames.runs)
    csv = pd.read_csv(tmp_path / "runs.csv")
    parquet = pd.read_parquet(tmp_path / "runs.parquet")
    explained = pd.read_csv(tmp_path / "runs_columns.csv")
    columns = list(csv.columns)
    assert columns == list(parquet.columns)
    assert columns == list(explained["column"])
    for name in ("S", "dev_bpc", "macs_executed", "train_ms", "test_bleu"):
        of_csv = csv[name].astype(float)
        of_parquet = parquet[name].astype(float)
        assert of_csv.equals(of_parquet), name
    good, bad = parquet.to_dict("records")
    assert good["dev_bpc"] == 2.1
    assert good["S"] == 64
    assert good["apply_to"] == "encoder cross"
    assert pd.isna(good["k"])
    assert pd.isna(bad["dev_bpc"])
    assert bad["reason"] == "mean loss nan"


def test_every_scalar_of_a_run_is_a_column_with_its_unit():
    rows = dictionary().set_index("column")
    numbers = set()
    for name, quantity in REGISTRY.items():
        if quantity.number:
            numbers.add(name)
    statuses = {f"{kind}_status" for kind in COSTS}
    assert rows.index.is_unique
    assert numbers | statuses <= set(rows.index)
    assert rows.loc["test_bpc", "unit"] == "bpc"
    assert rows.loc["train_ms", "unit"] == "ms"
    lists = set(REGISTRY) - numbers
    scalars = set(run()) - lists - NO_SCALAR
    columns = {each.column for each in COLUMNS}
    assert scalars <= columns


def test_no_runs_and_rows_without_a_declared_column_are_refused(tmp_path):
    write_inputs(tmp_path / "rows")
    layers = tmp_path / "rows" / "layers.json"
    words = ["--scale", "test"]
    words += ["--results", str(tmp_path)]
    words += ["--rows", str(layers)]
    with pytest.raises(ConfigError, match="no runs"):
        report.main(words)
    row = run()
    del row["late_gain"]
    with pytest.raises(ConfigError, match="'late_gain'"):
        as_frame([run(), row])
