"""The runs table: a row per row of the plan, and costs on the rows of their configuration."""

import pandas as pd
import pytest

from tests._costs import COST_COLUMNS
from tests._jobs import job
from tests._layers import layers
from tests._runs import everything, run, write_inputs
from tests._training import origin
from workflow.results.record import Point, Record
from workflow.results.runs_table import as_frame, build_rows, read_frames

PLANNED = {
    "question": "a",
    "paper": "p",
    "variant": "v",
    "paper_corpus": "c",
    "corpus": "toy",
    "S": 24,
    "k": None,
    "digest": job().digest,
    "configuration": job().configuration,
}


def row_of(**about) -> dict:
    """Build the row of one run whose record says this."""
    known = {"status": "ok", "digest": job().digest, "job": job(), "origin": origin()}
    record = Record(**known, metrics={"dev_bpc": 2.0}, **about)
    (row,) = build_rows([PLANNED], {job().digest: record})
    return row


def flat_curve(*steps: int) -> list[Point]:
    return [Point(step=step, train_bpc=2.0, dev_bpc=2.0, tokens_per_s=1.0) for step in steps]


def test_costs_stand_on_every_run_of_their_configuration():
    rows = [row_of() | {"question": name} for name in "ab"]
    flops = {"configuration": job().configuration, "status": "ok", "reason": None}
    runs = as_frame(rows, {"flops": [flops | {"macs_torch": 7.0}]})
    assert runs["macs_torch"].tolist() == [7, 7]
    assert runs["macs_fvcore"].isna().all()
    assert "train_ms" not in runs


@pytest.mark.parametrize(
    "steps, facts, status",
    [
        ((10, 100), {}, "failed to train"),
        ((80, 100), {"symbol_entropy": 3.0}, "ok"),
        ((80, 100), {"symbol_entropy": 2.01}, "failed to train"),
    ],
)
def test_a_model_that_learned_nothing_has_no_score(steps, facts, status):
    row = row_of(curve=flat_curve(*steps), facts=facts)
    assert row["status"] == status
    assert row["dev_bpc"] == (2.0 if status == "ok" else None)


def test_rows_of_the_tests_are_like_those_of_the_workflow():
    costs = {column for columns in COST_COLUMNS.values() for column in columns}
    assert (set(run()) - costs) | {"backend"} == set(row_of())  # a row without it names no code


def test_files_in_any_order_give_the_same_frames_and_only_what_is_given(tmp_path):
    files = write_inputs(tmp_path)
    frames = read_frames(files[::-1])
    pd.testing.assert_frame_equal(frames.runs[everything().columns], everything())
    pd.testing.assert_frame_equal(frames.layers, layers())
    alone = read_frames(files[:1])
    assert "macs_torch" not in alone.runs
    assert alone.layers is None
    assert read_frames([]).runs is None
