"""The engine's page: its ratios, the targets that stand beside it, and what it says of what could not be measured."""

import json

import pytest

from benchmarks import targets
from tests._engine import measured
from workflow.papers import formulas
from workflow.report.pages.engine import steps_page
from workflow.report.pages.engine_rows import build_tables
from workflow.scripts import page


def cell(row: list[str], *words: str) -> bool:
    return all(word in row for word in words)


def test_a_share_is_the_floor_over_the_time():
    rows = build_tables(measured())["steps"]
    assert len(rows) == 4 and all(row[4] == "0.9" for row in rows)
    assert rows[0][-1] == "10"  # the definition takes ten times as long


def test_an_adaptive_span_pays_from_the_length_after_which_it_is_always_faster():
    content = measured()
    times = {"full": {32: 1, 64: 3, 128: 4, 256: 9, 512: 20}, "adaptive": {32: 2, 64: 2, 128: 5, 256: 6, 512: 6}}
    for case in content["cases"]:
        if case["what"] == "sentence":
            case["ms"] = float(times[case["name"]][case["S"]])
    assert build_tables(content)["pays_from"] == "It pays from 256 words on."
    assert build_tables(measured())["pays_from"] == "It does not pay at these lengths."


def told(content: dict, tmp_path, capsys) -> tuple[int, list[str]]:
    """The exit and the lines of the benchmark's targets."""
    path = tmp_path / "engine.json"
    path.write_text(json.dumps(content))
    return targets.main([str(path)]), capsys.readouterr().out.splitlines()


def test_a_target_that_is_missed_says_so(tmp_path, capsys):
    content = measured()
    for case in content["cases"]:
        if (case["what"], case["name"], case["implementation"]) == ("step", "adaptive", "engine"):
            case["ms"] *= 2
    code, lines = told(content, tmp_path, capsys)
    shares = {line.split(", ", 1)[1]: line.split()[0] for line in lines if "share of the floor" in line}
    assert code == 1 and {shares[f"fixed, S = {S}"] for S in (256, 1024)} == {"met"}
    assert {shares[f"adaptive, S = {S}"] for S in (256, 1024)} == {"missed"}


def test_targets_hold_for_the_nets_they_were_set_for_alone(tmp_path, capsys):
    code, lines = told(measured(layers=targets.SIZES["layers"] // 2), tmp_path, capsys)
    assert (code, lines) == (2, ["the targets were set for nets of other sizes"])


def test_what_failed_is_shown_as_failed():
    content = measured()
    content["memory"][1] |= {"status": "oom", "bytes": None}
    missing = next(case for case in content["cases"] if case["what"] == "step" and case["implementation"] == "engine")
    missing |= {"status": "error", "reason": "not timed: see the engine's log", "ms": None}
    rows = build_tables(content)
    assert rows["memory"][0][3] == "oom" and rows["memory"][0][4] == ""
    assert rows["steps"][0][3] == "error: not timed: see the engine's log"


@pytest.fixture
def write(tmp_path):
    """Writes a page of measurements, and gives its text."""

    def write_page(kind: str, content: dict) -> str:
        path = tmp_path / "results" / "test" / f"{kind}.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(content))
        where = ["--scale", "test", "--results", str(tmp_path / "results"), "--reports", str(tmp_path / "reports")]
        page.main([kind, *where])
        return (tmp_path / "reports" / "test" / f"{kind}.html").read_text()

    return write_page


def test_nothing_is_shown_where_engine_and_definition_differ(write):
    content = measured() | {"gate": {"status": "error", "worst": 0.5, "where": "<b>fixed</b>", "bound": 1e-9}}
    text = write("engine", content)
    assert "Nothing was timed" in text and "&lt;b&gt;fixed" in text and "<table" not in text


def test_the_floor_by_hand():
    """One layer, width 4, 2 heads that reach 3 and 5 keys, inner width 8, 7 symbols, 2 blocks of 10 characters:
    3 products of 20 x (64 + 64 + 28), 2 of 2 streams x 8 keys x 2 x (4 x 2), 3 x 3 of 20 x 8 keys x 2 wide."""
    operations = formulas.training_floor(L=1, d=4, ff=8, V=7, T=10, B=2, reaches=[[3, 5]])
    assert operations == 3 * 20 * (64 + 64 + 28) + 2 * 2 * 8 * 2 * (4 * 2) + 3 * 3 * 20 * 8 * 2


def test_the_page_says_which_computation_was_chosen(write):
    text = write("engine", measured())
    assert "Fixed All Softmax: band" in text


def test_training_steps_have_a_page_without_the_rest_of_the_benchmark():
    """As `--steps-only` writes them: cases of steps, and counts."""
    content = {
        key: value for key, value in measured().items() if key in ("sizes", "allocator", "gate", "origin", "macs")
    }
    content["cases"] = [case for case in measured()["cases"] if case["what"] == "step"]
    context = steps_page(content, "files/steps.json")
    assert context["rows"][0] == [
        "fixed",
        "256",
        "500 (450 to 550, 4 rounds)",
        "5,000 (4,500 to 5,500, 4 rounds)",
        "10",
    ]
    assert "<svg" in context["picture"]
