"""reports/index.html: the reports that are there, scale by scale. Of what lies on the disk."""

from pathlib import Path

from workflow.papers.published import papers
from workflow.plan.ablations import known_ablations, load_ablation

SHARED = {"status": "Every table and figure of the papers", "pivot": "Pivot table", "analytic": "Numbers by formula"}
SHARED |= {"steps": "A training step over S", "engine": "The engine's benchmark"}


def root(reports: Path) -> dict:
    """scales: each with its index, where there is one, and the pages that are there: papers, questions, the rest."""
    folders = sorted(path for path in reports.glob("*") if path.is_dir() and next(path.rglob("index.html"), None))
    return {"title": "Reports", "scales": [_scale(folder) for folder in folders]}


def _scale(folder: Path) -> dict:
    pages = [(folder / "papers" / f"{name}.html", paper.title) for name, paper in papers().items()]
    asked = {name: load_ablation(name).question for name in known_ablations()}
    pages += [(folder / "ablations" / name / "index.html", question) for name, question in asked.items()]
    pages += [(folder / f"{name}.html", title) for name, title in SHARED.items()]
    there = [(path.relative_to(folder.parent).as_posix(), text) for path, text in pages if path.exists()]
    index = folder / "index.html"
    return {"name": folder.name, "index": f"{folder.name}/index.html" if index.exists() else None, "pages": there}
