"""A further task: the six files that docs/task.md tells a reader to write, and nothing else, give
its page.
"""

import csv

import pytest

from tests._copied import copied, shown, snakemake, written


@pytest.mark.slow
def test_six_files_are_a_task(tmp_path):
    files = shown("docs/task.md")
    assert len(files) == 6
    folder = written(copied(tmp_path), files)
    said = snakemake(folder, "--config", "scale=smoke", "tasks=[reversal]", "--", "reversal")
    assert said.returncode == 0, said.stdout[-3000:] + said.stderr[-3000:]
    page = (folder / "reports" / "smoke" / "questions" / "reversal" / "index.html").read_text()
    assert "exactly right, %" in page and "random letters" in page


IN_NATS = {  # what docs/task.md writes, and what a loss in nats takes
    "__init__.py": (
        ("curve=PERPLEXITY", 'curve=Curve(NATS, "nats per letter")'),
        ("import ExampleTitles", "import Curve, ExampleTitles"),
        (
            "TASK = TaskSpec(",
            'NATS = Metric("nats", "nats", better="lower", splits=("train", "dev"))\n'
            "TASK = TaskSpec(",
        ),
        ("metrics=(", "metrics=(PERPLEXITY.loss, "),
    ),
    "runner.py": (
        ("class ReversalTask", "import math\n\n\nclass ReversalTask"),
        (
            "    def score",
            """    def train_point(self, nats):
        return {"train_nats": nats}

    def validate(self, net):
        return {"dev_nats": math.log(super().validate(net)["dev_ppl"])}

    def score""",
        ),
    ),
}


@pytest.mark.slow
def test_a_task_may_have_a_loss_of_its_own_unit(tmp_path):
    """Its records, their curves and the pages have it, for the task says so."""
    folder = written(copied(tmp_path), shown("docs/task.md"))
    for name, changes in IN_NATS.items():
        path = folder / "workflow" / "tasks" / "reversal" / name
        for old, new in changes:
            assert old in path.read_text()
            path.write_text(path.read_text().replace(old, new))
    said = snakemake(folder, "--config", "scale=smoke", "tasks=[reversal]", "--", "reversal")
    assert said.returncode == 0, said.stdout[-3000:] + said.stderr[-3000:]
    curves = [
        path.read_text().splitlines() for path in (folder / "results" / "runs").glob("*/curve.csv")
    ]
    rows = [row for curve in curves for row in csv.DictReader(curve)]
    assert len(rows) == 4 and all(
        0 < float(row["dev_nats"]) < 9 and not row["dev_ppl"] for row in rows
    )
    page = next(
        (folder / "reports" / "smoke" / "questions" / "reversal").glob("[0-9a-f]*.html")
    ).read_text()
    assert "nats per letter" in page
