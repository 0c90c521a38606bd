"""The ledger as the index shows it: every claim of the papers, its verdict, and the evidence in a line."""

import json
from collections import Counter

from workflow.papers import PAPERS
from workflow.papers.published import find, papers
from workflow.report.claims.ledger import VERDICTS
from workflow.report.claims.measures import LAYERS
from workflow.report.pages.artefacts import runs_at
from workflow.report.pages.numbers import number
from workflow.report.pages.site import Site


def read_ledger(site: Site, with_page: set[str]) -> dict | None:
    """The claims by paper; None where no ledger was made. with_page: papers that have a page to lead to."""
    path = site.results / "ledger.json"
    if not path.exists():
        return None
    content = json.loads(path.read_text(encoding="utf-8"))
    lines = sorted(content["claims"], key=lambda line: (line["where"], line["name"]))
    counts = Counter(line["overall"] for line in lines)
    return {
        "total": len(lines),
        "set": content["set"],
        "beside": content["beside"],
        "tested": sum(line["holm"] is not None for line in lines),
        "counts": [(verdict, counts[verdict]) for verdict in VERDICTS],
        "papers": [
            {
                "title": papers()[name].title,
                "page": f"papers/{name}.html" if name in with_page else None,
                "lines": [_line(line) for line in lines if line["paper"] == name],
            }
            for name in PAPERS
        ],
        "files": [site.offer(path.with_suffix(ending)) for ending in (".json", ".csv")],
    }


def _line(line: dict) -> dict:
    """With what the paper prints, in words, and the pages of the numbers and of the runs behind it."""
    values = [find(key) for key in line["published"]]
    printed = "; ".join(f"{_label(value)}: {number(value.value, value.unit)}" for value in values)
    about = {"printed": printed, "anchor": f"claim-{line['name']}", "page": _page(line)}
    return {**line, **about, "rank": VERDICTS.index(line["overall"]), "runs_at": runs_at(line["ablation"])}


def _page(line: dict) -> str | None:
    """Where the claim's numbers stand: the page of its ablation, the table of layers, or the formulas."""
    if line["ablation"] == LAYERS:
        return "papers/aiayn.html#table-aiayn_table1" if line["ours"] is not None else None
    if line["ablation"] is None:
        return "analytic.html"
    return f"{runs_at(line['ablation'])}index.html" if line["digests"] else None


def _label(value) -> str:
    return value.column if value.row == "text" else f"{value.row}, {value.column}"
