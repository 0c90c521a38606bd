"""What is said at the end of a workflow."""

import json

import pytest

from tests import _site
from workflow.results.record import write_text
from workflow.results.rows import write_rows
from workflow.scripts import summary


@pytest.mark.parametrize("words, planned", [([], False), (["--steps-failed"], True)])
def test_it_ends_well_where_no_run_failed(words, planned, tmp_path, capsys):
    """Also for a target that needs no plan."""
    if planned:
        rows = [_site.planned(row) for row in _site.rows_of(["span_limit"])]
        write_text(tmp_path / "results" / _site.SCALE / "plan.json", json.dumps(rows))
    summary.main([_site.SCALE, *words, *_site.where(tmp_path)])
    assert capsys.readouterr().out


def test_where_the_plan_failed_its_log_is_named(tmp_path, capsys):
    summary.main([_site.SCALE, "--steps-failed", *_site.where(tmp_path)])
    assert f"logs/{_site.SCALE}/plan.log" in capsys.readouterr().out


def test_the_end_of_a_run_says_what_was_timed_on_a_restless_machine(tmp_path):
    for name, quiet in (("known_entropy", False), ("adaptive_vs_xl", True), ("came", None)):
        write_text(
            tmp_path / "throughput" / f"{name}.json", write_rows("throughput", [{"quiet": quiet}])
        )
    (said,) = summary.list_restless(tmp_path)
    assert said.endswith(f": rm {tmp_path}/throughput/known_entropy.json")
    assert summary.list_restless(tmp_path / "elsewhere") == []
