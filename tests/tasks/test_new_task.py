"""A further task: the six files that docs/task.md tells a reader to write, and nothing else, give its page."""

import re

import pytest

from tests._copied import ROOT, copied, snakemake


@pytest.mark.slow
def test_six_files_are_a_task(tmp_path):
    pages = re.findall(r"Write `([^`]+)`:\n\n```\w+\n(.*?)```", (ROOT / "docs" / "task.md").read_text(), re.DOTALL)
    assert len(pages) == 6
    folder = copied(tmp_path)
    for place, content in pages:
        (folder / place).parent.mkdir(exist_ok=True)
        (folder / place).write_text(content)
    said = snakemake(folder, "--config", "scale=smoke", "tasks=[reversal]", "--", "reversal")
    assert said.returncode == 0, said.stdout[-3000:] + said.stderr[-3000:]
    page = (folder / "reports" / "smoke" / "ablations" / "reversal" / "index.html").read_text()
    assert "exactly right, %" in page and "random letters" in page
