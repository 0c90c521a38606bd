"""Every speed that a table, figure or answer shows has its interval; none is ranked without."""

import random

import pandas as pd
import pytest

from tests._costs import split_costs
from tests._runs import every_run, run
from workflow.config.studies import study_files
from workflow.plan.reads import reads
from workflow.report.answers.effects import baselines
from workflow.report.answers.ratios import CostTable
from workflow.report.builders import load_builder
from workflow.report.tables import paired
from workflow.results.runs_table import as_frame
from workflow.results.timings import KINDS, SPEEDS
from workflow.settings.questions import load_question

READERS = [(kind, name) for kind in ("tables", "figures") for name in study_files(kind)]
READERS = [each for each in READERS if "throughput" in reads(*each)]
ROUNDS = (10.0, 10.2, 9.9)  # ms
ALIKE = (10.1, 9.8, 10.2)  # not significantly different from ROUNDS
SLOWER = (20.0, 20.3, 19.9)


def timed(row: dict, *rounds: float) -> dict:
    """Give a run these ms of a step of each kind, which has 100 characters."""
    speed = sum(1e5 / ms for ms in rounds) / len(rounds)
    row = row | dict.fromkeys(SPEEDS, speed)
    for kind in KINDS:
        row[f"{kind}_turns"] = list(rounds)
        row[f"{kind}_ms"] = sum(rounds) / len(rounds)
    return row


def shown(kind: str, name: str, rows: list[dict], seed: int) -> pd.DataFrame:
    """Build what is shown of timings drawn by chance: no two configurations are alike."""
    frame = []
    for row in rows:
        draw = random.Random(f"{seed} {row['configuration']}")
        middle = draw.uniform(10, 40)
        rounds = [middle * draw.uniform(0.95, 1.05) for _ in range(3)]
        frame.append(timed(row, *rounds))
    builder = load_builder(kind, name)
    build = builder.build if kind == "tables" else builder.data
    return build(as_frame(*split_costs(frame))).reset_index(drop=True)


@pytest.mark.parametrize("kind, name", READERS, ids=lambda word: word)
def test_every_number_that_a_timing_changes_has_an_interval(kind, name, monkeypatch):
    """What is shown of a timing is found by drawing all of them anew: nothing else changes."""
    # which takes seconds, and reads no timing
    monkeypatch.setattr(paired, "bootstrap", lambda *counts: (0.0, 1.0))
    rows = []
    for row in every_run():
        question = load_question(row["question"])
        if row["seed"] == 1 and name in getattr(question, kind):
            rows.append(row)
    before = shown(kind, name, rows, seed=1)
    after = shown(kind, name, rows, seed=2)
    changed = set()
    for column in {"value", "mean", *before.select_dtypes("number")} & {*before}:
        values = pd.to_numeric(after[column], errors="coerce")
        differs = values.notna() & (values != pd.to_numeric(before[column], errors="coerce"))
        if differs.any() and not column.endswith(("low", "high")):
            changed.add(column)
            ends = "" if column in ("value", "mean") else f"{column}_"
            assert (after[f"{ends}low"] < values)[differs].all(), column
            assert (after[f"{ends}high"] > values)[differs].all(), column
    assert changed


def ratios(rows: list[dict]) -> dict[tuple[str, str], float]:
    """Compute the cost ratios of made-up runs, by variant and quantity."""
    runs = as_frame(rows)
    found = CostTable(runs, runs).ratios(baselines(runs)).ratios
    return {(each.variant, each.quantity): round(each.value, 2) for each in found}


def test_speeds_have_a_ratio_where_they_differ_significantly():
    fixed = timed(run(variant="fixed"), *ROUNDS)
    assert not ratios([fixed, timed(run(variant="alike"), *ALIKE)])
    found = ratios([fixed, timed(run(variant="slow"), *SLOWER)])
    assert found["slow", "train_tokens_per_s"] == 0.5


@pytest.mark.parametrize(
    "rows, found",
    [
        ([("fixed", "here", 100.0), ("a", "here", 50.0)], {("a", "macs_executed"): 0.5}),
        # they differ by too little
        ([("fixed", "here", 100.0), ("a", "here", 101.0)], {}),
        # only on corpora that both have
        (
            [("fixed", "here", 100.0), ("fixed", "there", 900.0), ("a", "here", 200.0)],
            {("a", "macs_executed"): 2.0},
        ),
    ],
)
def test_ratios_of_macs(rows, found):
    made = [run(variant=name, corpus=text, macs_executed=macs) for name, text, macs in rows]
    assert ratios(made) == found


def test_costs_that_other_code_measured_have_no_ratio_but_a_reason():
    machine = {"throughput_machine": "one", "reference_ms": None}
    rows = []
    for variant, backend, rounds in (("fixed", "compiled", ROUNDS), ("a", "band", SLOWER)):
        row = timed(run(variant=variant), *rounds)
        rows.append(row | machine | {"throughput_backend": backend})
    runs = as_frame(rows)
    costs = CostTable(runs, runs).ratios(baselines(runs))
    assert not costs.ratios
    assert set(costs.apart) == {("a", "step time"), ("a", "prediction time")}
