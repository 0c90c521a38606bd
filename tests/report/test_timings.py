"""Every speed that a table, figure or answer shows has its interval; none is ranked without."""

import random
from itertools import chain

import pandas as pd
import pytest

from tests._costs import split_costs
from tests._runs import every_run, run
from workflow.config.studies import study_files
from workflow.plan.reads import reads
from workflow.report.answers import cost_figure
from workflow.report.answers.effects import baselines
from workflow.report.answers.ratios import CostTable, growth
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
    row = dict(row)
    for kind in KINDS:
        row[f"{kind}_turns"] = list(rounds)
        row[f"{kind}_ms"] = sum(rounds) / len(rounds)
    speed = sum(1e5 / ms for ms in rounds) / len(rounds)
    return row | dict.fromkeys(SPEEDS, speed)


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
    intervals = {"value": ("low", "high"), "mean": ("low", "high")}
    for column in before:
        if f"{column}_low" in before:
            intervals[column] = (f"{column}_low", f"{column}_high")
    changed = 0
    for column, (low, high) in intervals.items():
        if column not in before:
            continue
        values = pd.to_numeric(after[column], errors="coerce")
        differs = values.notna() & (values != pd.to_numeric(before[column], errors="coerce"))
        changed += differs.sum()
        assert (after.loc[differs, low] < values[differs]).all(), column
        assert (after.loc[differs, high] > values[differs]).all(), column
    assert changed
    known = {*intervals, *chain(*intervals.values())}
    others = [column for column in before.select_dtypes("number") if column not in known]
    pd.testing.assert_frame_equal(before[others], after[others])


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


@pytest.mark.parametrize("rounds, style", [(ALIKE, "None"), (SLOWER, "-")])
def test_costs_are_joined_where_they_differ_significantly_and_speeds_have_bars(rounds, style):
    rows = []
    for S in (32, 64):
        about = {"S": S, "macs_executed": float(S)}
        of_S = ROUNDS if S == 32 else rounds
        for seed in (1, 2, 3):
            rows.append(timed(run(variant="fixed", seed=seed, **about), *of_S))
        rows.append(timed(run(variant="other", **about), 5.0, 5.01, 5.02))
    data = cost_figure.data(as_frame(rows), "dev_bpc")
    figure = cost_figure.draw(data, "dev_bpc", "dev bpc", {})
    macs, speeds = (axes.containers[0] for axes in figure.axes)
    assert macs.lines[0].get_linestyle() == "-"
    assert speeds.lines[0].get_linestyle() == style
    assert speeds.has_xerr


def test_speeds_of_two_machines_are_not_drawn_on_one_axis():
    """Without a reference step a machine is known by its name."""
    made = {"a": "one machine", "b": "one machine", "c": "another", "d": "one machine"}
    rows = []
    for n, (variant, machine) in enumerate(made.items(), start=1):
        row = timed(run(variant=variant, reference_ms=None), *(n * ms for ms in ROUNDS))
        rows.append(row | {"throughput_backend": "compiled", "throughput_machine": machine})
    drawn = cost_figure.data(as_frame(rows), "dev_bpc").dropna(subset=["train_tokens_per_s"])
    assert drawn["variant"].tolist() == ["a", "b", "d"]
    # two points are left, which the table says as well
    assert "train_tokens_per_s" not in cost_figure.data(as_frame(rows[:3]), "dev_bpc")


@pytest.mark.filterwarnings("error")
def test_costs_of_0_are_no_base_of_a_ratio():
    rows = []
    for S in (64, 128):
        rows.append(run(variant="a", S=S, macs_executed=0.0))
        rows.append(run(variant="b", S=S, macs_executed=5.0))
    assert not ratios(rows)
    assert growth(as_frame(rows)) == []


@pytest.mark.parametrize(
    "rows, found",
    [
        ([("fixed", "here", 100.0), ("a", "here", 50.0)], {("a", "macs_executed"): 0.5}),
        ([("fixed", "here", 100.0), ("a", "here", 101.0)], {}),  # they differ by too little
        (  # only on corpora that both have
            [("fixed", "here", 100.0), ("fixed", "there", 900.0), ("a", "here", 200.0)],
            {("a", "macs_executed"): 2.0},
        ),
    ],
)
def test_ratios_of_macs(rows, found):
    made = [run(variant=name, corpus=text, macs_executed=macs) for name, text, macs in rows]
    assert ratios(made) == found


def test_costs_that_other_code_measured_have_no_ratio_but_a_reason():
    one = {"throughput_machine": "one", "reference_ms": None}
    fixed = timed(run(variant="fixed"), *ROUNDS) | one | {"throughput_backend": "compiled"}
    other = timed(run(variant="a"), *ROUNDS) | one | {"throughput_backend": "band"}
    runs = as_frame([fixed, other | {"train_tokens_per_s": 1.0}])
    costs = CostTable(runs, runs).ratios(baselines(runs))
    assert not costs.ratios
    assert set(costs.apart) == {("a", "step time"), ("a", "prediction time")}
