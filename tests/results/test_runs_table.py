"""The runs table: a row per row of the plan, and costs on the rows of their configuration."""

import pandas as pd
import pytest

from tests._costs import COST_COLUMNS
from tests._jobs import job
from tests._layers import layers
from tests._runs import everything, run, write_inputs
from tests._training import origin
from workflow.results.record import Point, Record
from workflow.results.runs_table import as_frame, build_rows, describe_runs, read_frames


@pytest.fixture
def rows():
    return rows_of()


def rows_of(**about) -> list[dict]:
    planned = {
        "question": "a",
        "paper": "p",
        "variant": "v",
        "paper_corpus": "c",
        "corpus": "toy",
        "S": 24,
        "k": None,
    }
    planned |= {"digest": job().digest, "configuration": job().configuration}
    record = Record(
        status="ok",
        digest=job().digest,
        job=job(),
        metrics={"dev_bpc": 2.0},
        origin=origin(),
        **about,
    )
    return build_rows([planned], {job().digest: record})


def test_costs_stand_on_every_run_of_their_configuration(rows):
    flops = {
        "configuration": job().configuration,
        "macs_torch": 7.0,
        "status": "ok",
        "reason": None,
    }
    runs = as_frame([row | {"question": name} for row in rows for name in "ab"], {"flops": [flops]})
    assert (
        set(runs["macs_torch"]) == {7}
        and runs["dev_bpc"][0] == 2
        and pd.isna(runs["macs_fvcore"][0])
    )
    assert "train_ms" not in runs and describe_runs(runs).startswith("scale test; cpu: ")


def test_a_net_that_learned_nothing_has_no_score_to_compare():
    flat = [Point(step=step, train_bpc=2.0, dev_bpc=2.0, tokens_per_s=1.0) for step in (10, 100)]
    [row] = rows_of(curve=flat)
    assert (row["status"], row["dev_bpc"], len(row["curve"])) == ("failed to train", None, 2)
    assert all(number in row["reason"] for number in ("2.00 bits", "from update 10 to 100"))


def test_a_record_that_knows_the_level_of_chance_is_judged_by_it():
    """Four of five updates before the first point: the curve alone could not say."""
    late = [Point(step=step, train_bpc=2.0, dev_bpc=2.0, tokens_per_s=1.0) for step in (80, 100)]
    assert [
        rows_of(curve=late, facts=facts)[0]["status"] for facts in ({}, {"symbol_entropy": 3.0})
    ] == ["ok", "ok"]
    [row] = rows_of(curve=late, facts={"symbol_entropy": 2.01})
    assert (row["status"], row["dev_bpc"], row["symbol_entropy"]) == ("failed to train", None, 2.01)


def test_an_infinite_number_is_a_missing_one():
    runs = as_frame([run(dev_bpc=float("inf"), macs_torch=float("-inf"), test_bpc=2.0)])
    assert (
        runs["dev_bpc"].isna().all()
        and runs["macs_torch"].isna().all()
        and runs["test_bpc"].tolist() == [2]
    )


def test_rows_of_the_tests_are_like_those_of_the_workflow(rows):
    costs = {column for columns in COST_COLUMNS.values() for column in columns}
    assert (set(run()) - costs) | {"backend"} == set(rows[0])  # a row without it names no code


def test_files_in_any_order_give_the_same_frames(tmp_path):
    files = write_inputs(tmp_path)
    frames = read_frames(files[::-1])
    pd.testing.assert_frame_equal(frames.runs[everything().columns], everything())
    pd.testing.assert_frame_equal(frames.layers, layers())


def test_only_what_is_given_is_there(tmp_path):
    runs, cost, *_, measured_layers = write_inputs(tmp_path)
    assert (
        "macs_torch" in read_frames([runs, cost]).runs
        and "macs_torch" not in read_frames([runs]).runs
    )
    assert read_frames([]).runs is None and read_frames([runs]).layers is None
    assert read_frames([measured_layers]).runs is None
