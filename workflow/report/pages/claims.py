"""The ledger as the index tells it: every claim of the papers, its verdict, and the evidence in a line."""

import json
from collections import Counter

from workflow.papers.published import find, papers
from workflow.plan.ablations import PAPERS
from workflow.report.claims.ledger import VERDICTS
from workflow.report.claims.measures import APART
from workflow.report.pages.numbers import number
from workflow.report.pages.site import Site


def ledger(site: Site) -> dict | None:
    """The claims by paper; None where no ledger was made."""
    path = site.results / "claims.json"
    if not path.exists():
        return None
    content = json.loads(path.read_text(encoding="utf-8"))
    lines = sorted(content["claims"], key=lambda one: (one["where"], one["name"]))
    counts = Counter(one["verdict"] for one in lines)
    return {
        "total": len(lines),
        "tested": sum(one["holm"] is not None for one in lines),
        "counts": [(verdict, counts[verdict]) for verdict in VERDICTS],
        "papers": [
            (name, papers()[name].title, [_shown(one) for one in lines if one["paper"] == name]) for name in PAPERS
        ],
        "files": [site.offer(path.with_suffix(ending)) for ending in (".json", ".csv")],
    }


def _shown(one: dict) -> dict:
    """With what the paper prints, in words."""
    printed = [find(key) for key in one["published"]]
    told = "; ".join(f"{_place(value)}: {number(value.value, value.unit)}" for value in printed)
    rank = VERDICTS.index(one["verdict"])
    return {**one, "printed": told, "anchor": f"claim-{one['name']}", "door": _door(one), "rank": rank}


def _door(one: dict) -> str | None:
    """Where the claim's numbers stand: its question's page, the layers' table, or the formulas."""
    if one["ablation"] == APART:
        return "papers/aiayn.html#table-aiayn_table1" if one["ours"] is not None else None
    if one["ablation"] is None:
        return "analytic.html"
    return f"ablations/{one['ablation']}.html" if one["digests"] else None


def _place(value) -> str:
    return value.column if value.row == "text" else f"{value.row}, {value.column}"
