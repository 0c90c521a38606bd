"""The page of the ledger: every claim of the papers, its verdict, and the evidence in a line."""

from collections import Counter
from collections.abc import Collection, Iterable

from workflow.claims.evidence import Evidence, Ledger, LedgerLine, SetEvidence
from workflow.claims.measures import LAYERS
from workflow.claims.published import Published, find, studies
from workflow.claims.verdict import VERDICTS
from workflow.plan.reads import reads
from workflow.report.pages.artefacts import runs_at
from workflow.report.pages.effect_words import (
    name_basis,
    name_disagreeing,
    write_numbers,
    write_pairs,
)
from workflow.report.pages.site import Site
from workflow.results.store import ships
from workflow.settings.questions import Question


def count_verdicts(lines: Iterable[LedgerLine]) -> list[tuple[str, int]]:
    """Count each verdict that occurs, from reproduced to not tested."""
    counts = Counter(line.overall for line in lines)
    return [(verdict, counts[verdict]) for verdict in VERDICTS if counts[verdict]]


def ledger_page(site: Site, ledger: Ledger, questions: Collection[Question]) -> dict:
    """Collect what the page shows.

    questions: those that have a page to link to, and whose papers have one.
    """
    with_page = {question.paper for question in questions}
    tables = {table for question in questions for table in question.tables}
    papers = []
    for name, study in studies().items():
        lines = [line for line in ledger.claims if line.paper == name]
        papers.append(
            {
                "title": study.heading,
                "page": f"papers/{name}.html" if name in with_page else None,
                "lines": [_row(site, line, ledger.set, tables) for line in lines],
            }
        )
    path = site.results / "ledger.json"
    content = {
        "set": ledger.set,
        "beside": ledger.others,
        "tested": sum(line.holm is not None for line in ledger.claims),
        "counts": count_verdicts(ledger.measured),
        "by_formula": count_verdicts(ledger.by_formula),
        "papers": papers,
        "files": [site.offer(path), site.offer(path.with_suffix(".csv"))],
    }
    return {"title": "Claims of the papers and the evidence for them", "ledger": content}


def _row(site: Site, line: LedgerLine, own: str, tables: set[str]) -> dict:
    """Collect what the row of a claim shows: the claim, and the evidence of the set that speaks.

    own: the set that this report is about; runs of another set link to its report where that
    exists. tables: the names of those on the pages of this report.
    """
    evidence = line.shown
    is_own = evidence.set == own
    printed = [f"{_label(value)}: {value.text}" for value in map(find, line.published)]
    sets = [vars(each) | {"written": write_numbers(each, line)} for each in line.sets]
    row = {
        "anchor": f"claim-{line.name}",
        "page": _page(line, tables),
        "printed": "; ".join(printed),
        "rank": VERDICTS.index(line.overall),
        "unit": line.unit or "",
        "written": write_numbers(evidence, line),
        "basis": name_basis(evidence),
        "pairs": write_pairs(evidence, line),
        "came": not is_own and any(map(ships, evidence.digests)),
        "sets": sets,
        "disagreeing": name_disagreeing(line),
        "run_pages": run_pages(site, evidence, runs_at(line.question), is_own),
    }
    return vars(line) | vars(evidence) | row


def run_pages(site: Site, evidence: SetEvidence, place: str, is_own: bool) -> dict[str, str]:
    """Map each run's digest to its page, relative to this report.

    Runs of another scale have one only where the page exists.
    """
    digests = _digests_of_pairs(evidence)
    if is_own:
        return {digest: f"{place}{digest}.html" for digest in digests}
    folder = f"{evidence.set}/{place}"
    pages = {}
    for digest in digests:
        if (site.reports.parent / folder / f"{digest}.html").exists():
            pages[digest] = f"../{folder}{digest}.html"
    return pages


def _digests_of_pairs(evidence: Evidence) -> set[str]:
    digests = set()
    for pair in evidence.pairs:
        digests.update(pair.runs.ours, pair.runs.than)
    return digests


def _page(line: LedgerLine, tables: set[str]) -> str | None:
    """Return the page with the claim's numbers, or None.

    It is that of its question, the paper's with the table of layers, or that of the formulas.
    """
    if line.question is None:
        return "formulas.html"
    if line.question != LAYERS:
        return f"{runs_at(line.question)}index.html" if line.digests else None
    for name in sorted(tables):
        if "layers" in reads("tables", name):
            return f"papers/{line.paper}.html#table-{name}"
    return None


def _label(value: Published) -> str:
    return value.column if value.row == "text" else f"{value.row}, {value.column}"
