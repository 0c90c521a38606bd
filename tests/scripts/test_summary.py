"""What is said at the end of a workflow."""

import json

import pytest

from tests import _site
from workflow.results.record import write_text
from workflow.results.rows import write_rows
from workflow.scripts import summary


@pytest.mark.parametrize(
    "words, planned, said",
    [
        ([], False, "nothing failed"),  # a target that needs no plan
        (
            ["--steps-failed"],
            False,
            f"nothing was run because the plan failed; see logs/{_site.SCALE}/plan.log",
        ),
        (["--steps-failed"], True, "no run failed, but the steps above did"),
    ],
)
def test_what_is_said_where_no_run_failed(words, planned, said, tmp_path, capsys):
    if planned:
        rows = [_site.planned(row) for row in _site.rows_of(["span_limit"])]
        write_text(tmp_path / "results" / _site.SCALE / "plan.json", json.dumps(rows))
    summary.main([_site.SCALE, *words, *_site.where(tmp_path)])
    assert said in capsys.readouterr().out.splitlines()


def test_the_end_of_a_run_says_what_was_timed_on_a_restless_machine(tmp_path):
    for name, quiet in (("known_entropy", False), ("adaptive_vs_xl", True), ("came", None)):
        write_text(
            tmp_path / "throughput" / f"{name}.json", write_rows("throughput", [{"quiet": quiet}])
        )
    (said,) = summary.list_restless(tmp_path)
    assert said.endswith(f": rm {tmp_path}/throughput/known_entropy.json")
    assert summary.list_restless(tmp_path / "elsewhere") == []
