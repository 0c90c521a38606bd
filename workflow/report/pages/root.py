"""reports/index.html: the reports on the disk, scale by scale, the strongest evidence first."""

from pathlib import Path
from urllib.parse import quote

from workflow.papers.published import papers
from workflow.plan.ablations import known_ablations, load_ablation
from workflow.plan.scales import strength
from workflow.report.pages.site import Site

SHARED = {"status": "Every table and figure of the papers", "pivot": "Pivot table", "analytic": "Numbers by formula"}


def root_page(reports: Path, only: str | None = None) -> dict:
    """scales: each with its index, where there is one, and lists of the other pages that exist. only: one scale."""
    folders = [path for path in reports.glob("*") if path.is_dir() and only in (None, path.name)]
    folders.sort(key=lambda path: (-strength(path.name), path.name))
    scales = [_scale(folder) for folder in folders]
    return {"title": "Reports", "scales": [scale for scale in scales if scale["index"] or scale["lists"]]}


def write_root(results: Path, reports: Path) -> bool:
    """Whether there is a report that it leads to; nothing is written where there is none."""
    context = root_page(reports)
    if context["scales"]:
        Site(results, reports).write("root.html.j2", "index.html", **context)
    return bool(context["scales"])


def _scale(folder: Path) -> dict:
    address = quote(folder.name)  # a folder named javascript: stays one
    lists = {
        "Papers": {f"papers/{name}.html": paper.title for name, paper in papers().items()},
        "Questions": {f"ablations/{name}/index.html": load_ablation(name).question for name in known_ablations()},
        "More": {f"{name}.html": title for name, title in SHARED.items()},
    }
    present = {
        heading: [(f"{address}/{place}", title) for place, title in pages.items() if (folder / place).exists()]
        for heading, pages in lists.items()
    }
    index = f"{address}/index.html" if (folder / "index.html").exists() else None
    return {"name": folder.name, "index": index, "lists": {name: pages for name, pages in present.items() if pages}}
