"""Every speed that a table, figure or answer shows has its interval, and none is ranked that cannot
be told apart.
"""

import random

import pandas as pd
import pytest

from tests._costs import split_costs
from tests._runs import every_run, run
from workflow.config.studies import study_files
from workflow.plan.questions import load_question
from workflow.plan.reads import reads
from workflow.report.answers import cost_figure
from workflow.report.answers.effects import baselines
from workflow.report.answers.ratios import CostTable, growth
from workflow.report.builders import load_builder
from workflow.report.tables import paired
from workflow.results.runs_table import as_frame
from workflow.results.timings import KINDS, SPEEDS

READERS = [(kind, name) for kind in ("tables", "figures") for name in study_files(kind)]
READERS = [each for each in READERS if "throughput" in reads(*each)]
TURNS = {"plain": (10.0, 10.2, 9.9), "other": (10.1, 9.8, 10.2)}  # of two that cannot be told apart


def timed(row: dict, *turns: float) -> dict:
    """The run with these ms of a step of each kind, which has 100 characters."""
    times = {f"{kind}_turns": list(turns) for kind in KINDS} | {
        f"{kind}_ms": sum(turns) / len(turns) for kind in KINDS
    }
    return row | times | dict.fromkeys(SPEEDS, sum(1e5 / each for each in turns) / len(turns))


def shown(kind: str, name: str, rows: list[dict], seed: int) -> pd.DataFrame:
    """The cells of a table or the data of a figure, with timings drawn by chance: no two
    configurations alike.
    """
    frame = []
    for row in rows:
        draw = random.Random(f"{seed} {row['configuration']}")
        middle = draw.uniform(10, 40)
        frame.append(timed(row, *(middle * draw.uniform(0.95, 1.05) for _ in range(3))))
    builder = load_builder(kind, name)
    return (builder.build if kind == "tables" else builder.data)(
        as_frame(*split_costs(frame))
    ).reset_index(drop=True)


@pytest.mark.parametrize("kind, name", READERS, ids=lambda word: word)
def test_every_number_that_a_timing_changes_has_an_interval(kind, name, monkeypatch):
    """What is shown of a timing is found by drawing all of them anew: it is another number then,
    nothing else is.
    """
    # which takes seconds, and reads no timing
    monkeypatch.setattr(paired, "bootstrap", lambda *counts: (0.0, 1.0))
    rows = [
        row
        for row in every_run()
        if row["seed"] == 1 and name in getattr(load_question(row["question"]), kind)
    ]
    before, after = (shown(kind, name, rows, seed) for seed in (1, 2))
    ends, found = {"value": ("low", "high"), "mean": ("low", "high")}, 0
    ends |= {
        column: (f"{column}_low", f"{column}_high")
        for column in before
        if f"{column}_low" in before
    }
    for column, (low, high) in ((column, ends[column]) for column in before if column in ends):
        for old, new in zip(before.to_dict("records"), after.to_dict("records"), strict=True):
            if (
                isinstance(new[column], float)
                and new[column] != old[column]
                and not pd.isna(new[column])
            ):
                found += 1
                assert new[low] < new[column] < new[high], (column, new)
    assert found
    known = {*ends, *(end for pair in ends.values() for end in pair)}
    others = [column for column in before.select_dtypes("number") if column not in known]
    pd.testing.assert_frame_equal(before[others], after[others])


def ratios(rows: list[dict]) -> dict[tuple[str, str], float]:
    """The cost ratios of made-up runs, by variant and quantity."""
    runs = as_frame(rows)
    found = CostTable(runs, runs).ratios(baselines(runs)).ratios
    return {(each.variant, each.quantity): round(each.value, 2) for each in found}


def test_speeds_that_cannot_be_told_apart_have_no_ratio():
    assert not ratios([timed(run(variant=name), *TURNS[name]) for name in TURNS])
    told = [
        timed(run(variant="plain"), *TURNS["plain"]),
        timed(run(variant="slow"), 20.0, 20.3, 19.9),
    ]
    assert ratios(told)["slow", "train_tokens_per_s"] == 0.5


@pytest.mark.parametrize("turns, joined", [(TURNS["other"], "None"), ((20.0, 20.3, 19.9), "-")])
def test_costs_are_joined_where_they_can_be_told_apart_and_speeds_have_bars(turns, joined):
    rows = [
        run(variant="plain", S=S, seed=seed, macs_executed=float(S))
        for S in (32, 64)
        for seed in (1, 2, 3)
    ]
    rows = [timed(row, *(TURNS["plain"] if row["S"] == 32 else turns)) for row in rows]
    rows += [
        timed(run(variant="other", S=S, macs_executed=float(S)), 5.0, 5.01, 5.02) for S in (32, 64)
    ]
    figure = cost_figure.draw(cost_figure.data(as_frame(rows), "dev_bpc"), "dev_bpc", "dev bpc", {})
    counts, speeds = (axes.containers[0] for axes in figure.axes)
    assert [each.lines[0].get_linestyle() for each in (counts, speeds)] == ["-", joined]
    assert speeds.has_xerr and all(len(bar.get_segments()) == 2 for bar in speeds.lines[2])


def test_a_text_on_which_no_speed_was_measured_has_no_empty_panel():
    rows = [
        run(variant=name, macs_executed=macs) for name, macs in (("a", 1.0), ("b", 2.0), ("c", 3.0))
    ]
    rows = [timed(row, 10.0 * n, 10.1 * n, 10.2 * n) for n, row in enumerate(rows, 1)]
    others = [
        row | {"corpus": "sources", "train_tokens_per_s": None, "train_ms_turns": None}
        for row in rows
    ]
    others = [
        row | {"digest": row["digest"] + "x", "configuration": row["configuration"] + "x"}
        for row in others
    ]
    data = cost_figure.data(as_frame([*rows, *others]), "dev_bpc")
    figure = cost_figure.draw(data, "dev_bpc", "dev bpc", {})
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == 3 and all(axes.lines for axes in shown)
    titles = [" ".join(axes.get_title().split()) for axes in shown]
    assert [title.endswith(": not measured") for title in titles] == [False, False, True]


def test_speeds_of_two_machines_are_not_drawn_on_one_axis():
    """Without a reference step a machine is known by its name: three configurations of one, and one
    of another.
    """
    made = {"a": "one machine", "b": "one machine", "c": "another", "d": "one machine"}
    rows = [
        timed(run(variant=name, reference_ms=None), *(times * (n + 1) for times in TURNS["plain"]))
        | {"throughput_backend": "compiled", "throughput_machine": machine}
        for n, (name, machine) in enumerate(made.items())
    ]
    drawn = cost_figure.data(as_frame(rows), "dev_bpc").dropna(subset=["train_tokens_per_s"])
    assert drawn["variant"].tolist() == ["a", "b", "d"]
    two_and_one = cost_figure.data(as_frame(rows[:3]), "dev_bpc")
    # two points are left, which the table says as well
    assert "train_tokens_per_s" not in two_and_one


@pytest.mark.filterwarnings("error")
def test_costs_of_0_are_no_base_of_a_ratio():
    rows = [
        run(variant=name, S=S, macs_executed=macs)
        for name, macs in (("a", 0.0), ("b", 5.0))
        for S in (64, 128)
    ]
    assert not ratios(rows)
    assert growth(as_frame(rows)) == []


def test_costs_that_differ_by_little_have_no_ratio():
    macs = {"plain": 100.0, "a": 50.0, "b": 400.0, "alike": 101.0}
    rows = [
        run(variant=name, macs_executed=cost, memory_train_bytes=2.0**20)
        for name, cost in macs.items()
    ]
    assert ratios(rows) == {("a", "macs_executed"): 0.5, ("b", "macs_executed"): 4.0}


def test_costs_are_compared_on_the_texts_that_both_have():
    rows = [
        run(variant="plain", corpus=text, macs_executed=macs)
        for text, macs in (("here", 100.0), ("there", 900.0))
    ]
    assert ratios([*rows, run(variant="a", corpus="here", macs_executed=200.0)]) == {
        ("a", "macs_executed"): 2.0
    }


def test_costs_that_other_code_measured_have_no_ratio_but_a_reason():
    rows = [
        timed(run(variant=name), *TURNS["plain"]) | {"throughput_backend": code}
        for name, code in CODES.items()
    ]
    rows = [row | {"throughput_machine": "one", "reference_ms": None} for row in rows]
    rows[1]["train_tokens_per_s"] = 1.0
    runs = as_frame(rows)
    costs = CostTable(runs, runs).ratios(baselines(runs))
    assert not costs.ratios and set(costs.apart) == {("a", "step time"), ("a", "prediction time")}


CODES = {"plain": "compiled", "a": "band"}
