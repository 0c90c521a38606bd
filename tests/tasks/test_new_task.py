"""A further task: the six files that docs/task.md tells a reader to write, and nothing else, give its page."""

import pytest

from tests._copied import copied, shown, snakemake, written


@pytest.mark.slow
def test_six_files_are_a_task(tmp_path):
    files = shown("docs/task.md")
    assert len(files) == 6
    folder = written(copied(tmp_path), files)
    said = snakemake(folder, "--config", "scale=smoke", "tasks=[reversal]", "--", "reversal")
    assert said.returncode == 0, said.stdout[-3000:] + said.stderr[-3000:]
    page = (folder / "reports" / "smoke" / "ablations" / "reversal" / "index.html").read_text()
    assert "exactly right, %" in page and "random letters" in page
