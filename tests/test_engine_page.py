"""The engine's page: its ratios, its verdicts, and what it says of what could not be measured."""

import json

import pytest

from tests._engine import measured
from workflow.papers import formulas
from workflow.report.pages.engine import SIZES, tables
from workflow.report.pages.site import Site
from workflow.scripts import page


def cell(row: list[str], *words: str) -> bool:
    return all(word in row for word in words)


def test_a_share_is_the_floor_over_the_time():
    rows = tables(measured())["steps"]
    assert len(rows) == 4 and all(cell(row, "0.9", "met") for row in rows)
    assert rows[0][-1] == "10"  # the definition takes ten times as long


def test_a_target_that_is_missed_says_so():
    content = measured()
    for one in content["cases"]:
        if (one["what"], one["name"], one["way"]) == ("step", "adaptive", "engine"):
            one["ms"] *= 2
    found = tables(content)
    assert [row[6] for row in found["steps"]] == ["met", "met", "missed", "missed"]
    assert cell(found["ratios"][2], "2", "≤ 1.25", "missed")  # adaptive at the longest S beside fixed at the shortest


def test_targets_hold_for_the_nets_they_were_set_for_alone():
    found = tables(measured(layers=SIZES["layers"] // 2))
    rows = [row for name in ("steps", "memory", "sparse", "ratios") for row in found[name]]
    assert rows and not any(word in row for row in rows for word in ("met", "missed"))


def test_what_failed_is_shown_as_failed():
    content = measured()
    content["memory"][1] |= {"status": "oom", "bytes": None}
    gone = next(one for one in content["cases"] if one["what"] == "step" and one["way"] == "engine")
    gone |= {"status": "error", "reason": "not timed: see the engine's log", "ms": None}
    found = tables(content)
    assert found["memory"][0][3] == "oom" and found["memory"][0][4] == ""
    assert found["steps"][0][3] == "error: not timed: see the engine's log"


def test_nothing_is_told_where_engine_and_definition_differ(tmp_path):
    content = measured() | {"gate": {"status": "error", "worst": 0.5, "where": "<b>fixed</b>", "bound": 1e-9}}
    (tmp_path / "results" / "measures").mkdir(parents=True)
    (tmp_path / "results" / "measures" / "engine.json").write_text(json.dumps(content))
    page.write(Site(tmp_path / "results", tmp_path / "reports"), "engine", None)
    text = (tmp_path / "reports" / "engine.html").read_text()
    assert "Nothing was timed" in text and "&lt;b&gt;fixed" in text and "<table" not in text


def test_the_floor_by_hand():
    """One layer, width 4, 2 heads that reach 3 and 5 keys, inner width 8, 7 symbols, 2 blocks of 10 characters:
    3 products of 20 x (64 + 64 + 28), 2 of 2 streams x 8 keys x 2 x (4 x 2), 3 x 3 of 20 x 8 keys x 2 wide."""
    found = formulas.training_floor(L=1, d=4, ff=8, V=7, T=10, B=2, reaches=[[3, 5]])
    assert found == 3 * 20 * (64 + 64 + 28) + 2 * 2 * 8 * 2 * (4 * 2) + 3 * 3 * 20 * 8 * 2


@pytest.mark.parametrize("name", ["table", "chosen"])
def test_what_is_chosen_stands_on_the_page(name, tmp_path):
    (tmp_path / "results" / "measures").mkdir(parents=True)
    (tmp_path / "results" / "measures" / "engine.json").write_text(json.dumps(measured()))
    page.write(Site(tmp_path / "results", tmp_path / "reports"), "engine", None)
    text = (tmp_path / "reports" / "engine.html").read_text()
    assert {"table": "gathered up to this k", "chosen": "Fixed All Softmax: band"}[name] in text
