"""Every speed that a table, figure or answer shows has its interval; none is ranked without."""

import random
from statistics import mean

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

READERS = []
for kind in ("tables", "figures"):
    for name in study_files(kind):
        if "throughput" in reads(kind, name):
            READERS.append((kind, name))
ROUNDS = (10.0, 10.2, 9.9)  # ms
ALIKE = (10.1, 9.8, 10.2)  # not significantly different from ROUNDS
SLOWER = (20.0, 20.3, 19.9)


def timed(row: dict, *rounds: float) -> dict:
    """Give a run these ms of a step of each kind, which has 100 characters."""
    speed = mean(1e5 / ms for ms in rounds)
    row = row | dict.fromkeys(SPEEDS, speed)
    for kind in KINDS:
        row[f"{kind}_turns"] = list(rounds)
        row[f"{kind}_ms"] = mean(rounds)
    return row


def shown(kind: str, name: str, rows: list[dict], seed: int) -> pd.DataFrame:
    """Build what is shown of timings drawn by chance: no two configurations are alike."""
    frame = []
    for row in rows:
        configuration = row["configuration"]
        draw = random.Random(f"{seed} {configuration}")
        middle = draw.uniform(10, 40)
        rounds = []
        for _ in ROUNDS:
            scatter = draw.uniform(0.95, 1.05)
            rounds.append(middle * scatter)
        frame.append(timed(row, *rounds))
    runs = as_frame(*split_costs(frame))
    builder = load_builder(kind, name)
    build = builder.build if kind == "tables" else builder.data
    built = build(runs)
    return built.reset_index(drop=True)


def columns_of_numbers(frame: pd.DataFrame) -> set[str]:
    """Name the columns of numbers; those named value and mean also hold marks."""
    numeric = frame.select_dtypes("number").columns
    names = set()
    for name in frame.columns:
        if name.endswith(("low", "high")):
            continue
        if name in ("value", "mean") or name in numeric:
            names.add(name)
    return names


def as_numbers(column: pd.Series) -> pd.Series:
    return pd.to_numeric(column, errors="coerce")


@pytest.mark.parametrize("kind, name", READERS, ids=lambda word: word)
def test_every_number_that_a_timing_changes_has_an_interval(kind, name, monkeypatch):
    """What is shown of a timing is found by drawing all of them anew: nothing else changes."""
    # which takes seconds, and reads no timing
    monkeypatch.setattr(paired, "bootstrap", lambda *counts: (0.0, 1.0))
    rows = []
    for row in every_run():
        question = load_question(row["question"])
        names = getattr(question, kind)
        if name in names and row["seed"] == 1:
            rows.append(row)
    before = shown(kind, name, rows, seed=1)
    after = shown(kind, name, rows, seed=2)
    changed = set()
    for column in columns_of_numbers(before):
        values = as_numbers(after[column])
        differs = values != as_numbers(before[column])
        differs &= values.notna()
        if not differs.any():
            continue
        changed.add(column)
        ends = "" if column in ("value", "mean") else f"{column}_"
        values = values[differs]
        shown_after = after[differs]
        assert (shown_after[f"{ends}low"] < values).all(), column
        assert (shown_after[f"{ends}high"] > values).all(), column
    assert changed


def costs_of(rows: list[dict]):
    runs = as_frame(rows)
    table = CostTable(runs, runs)
    return table.ratios(baselines(runs))


def ratios(rows: list[dict]) -> dict[tuple[str, str], float]:
    """Compute the cost ratios of made-up runs, by variant and quantity."""
    found = {}
    for ratio in costs_of(rows).ratios:
        place = (ratio.variant, ratio.quantity)
        found[place] = round(ratio.value, 2)
    return found


def test_speeds_have_a_ratio_where_they_differ_significantly():
    fixed = timed(run(variant="fixed"), *ROUNDS)
    alike = timed(run(variant="alike"), *ALIKE)
    slow = timed(run(variant="slow"), *SLOWER)
    assert not ratios([fixed, alike])
    found = ratios([fixed, slow])
    assert found["slow", "train_tokens_per_s"] == 0.5


def with_macs(variant: str, corpus: str, macs: float) -> dict:
    return run(variant=variant, corpus=corpus, macs_executed=macs)


FIXED = with_macs("fixed", "here", 100.0)
HALF = with_macs("a", "here", 50.0)
TOO_LITTLE = with_macs("a", "here", 101.0)
DOUBLE = with_macs("a", "here", 200.0)
ELSEWHERE = with_macs("fixed", "there", 900.0)


@pytest.mark.parametrize(
    "rows, found",
    [
        ([FIXED, HALF], {("a", "macs_executed"): 0.5}),
        ([FIXED, TOO_LITTLE], {}),
        # only on corpora that both have
        ([FIXED, ELSEWHERE, DOUBLE], {("a", "macs_executed"): 2.0}),
    ],
)
def test_ratios_of_macs(rows, found):
    assert ratios(rows) == found


def test_costs_that_other_code_measured_have_no_ratio_but_a_reason():
    machine = {"throughput_machine": "one", "reference_ms": None}
    fixed = timed(run(variant="fixed"), *ROUNDS)
    slower = timed(run(variant="a"), *SLOWER)
    fixed |= machine | {"throughput_backend": "compiled"}
    slower |= machine | {"throughput_backend": "band"}
    costs = costs_of([fixed, slower])
    assert not costs.ratios
    assert set(costs.apart) == {("a", "step time"), ("a", "prediction time")}
