"""A further task: the six files that docs/task.md tells a reader to write give its page."""

import csv

import pytest

from tests._copied import copied, shown, snakemake, written

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
@pytest.mark.parametrize(
    "changes, column, title",
    [({}, "dev_ppl", "exactly right, %"), (IN_NATS, "dev_nats", "nats per letter")],
    ids=["as documented", "a loss of its own unit"],
)
def test_six_files_are_a_task(changes, column, title, tmp_path):
    files = shown("docs/task.md")
    assert len(files) == 6
    folder = written(copied(tmp_path), files)
    for name, replaced in changes.items():
        path = folder / "workflow" / "tasks" / "reversal" / name
        for old, new in replaced:
            assert old in path.read_text()
            path.write_text(path.read_text().replace(old, new))
    said = snakemake(folder, "--config", "scale=smoke", "tasks=[reversal]", "--", "reversal")
    assert said.returncode == 0, said.stdout[-3000:] + said.stderr[-3000:]
    for curve in (folder / "results" / "runs").glob("*/curve.csv"):
        for row in csv.DictReader(curve.read_text().splitlines()):
            assert float(row[column]) > 0
    pages = (folder / "reports" / "smoke" / "questions" / "reversal").glob("*.html")
    assert any(title in page.read_text() for page in pages)
