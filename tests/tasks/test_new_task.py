"""A further task: the six files that docs/task.md tells a reader to write give its page."""

import csv

import pytest

from tests._copied import copied, shown, snakemake, written
from tests.failures._real import assert_done


@pytest.mark.slow
def test_six_files_are_a_task_and_one_is_a_problem(tmp_path):
    files = shown("docs/task.md")
    assert "workflow/tasks/symbols/problems/parity.py" in files
    assert len(files) == 6 + 1
    folder = written(copied(tmp_path), files)
    said = snakemake(folder, "--config", "scale=smoke", "tasks=[reversal]", "--", "reversal")
    assert_done(said)
    for curve in (folder / "results" / "runs").glob("*/curve.csv"):
        for row in csv.DictReader(curve.read_text().splitlines()):
            assert float(row["dev_ppl"]) > 0
    page = folder / "reports" / "smoke" / "questions" / "reversal" / "index.html"
    assert "exactly right, %" in page.read_text()
