"""The page of the ledger: every claim of the papers, its verdict, and the evidence in a line."""

from collections.abc import Collection
from dataclasses import dataclass

from workflow.claims.evidence import Evidence, Ledger, LedgerLine, SetEvidence
from workflow.claims.ledger import count_verdicts
from workflow.claims.measures import LAYERS
from workflow.claims.published import Published, find, studies, with_origin
from workflow.claims.verdict import VERDICTS
from workflow.plan.reads import reads
from workflow.report.pages.artefacts import runs_at
from workflow.report.pages.effect_words import (
    Written,
    WrittenClaim,
    WrittenPair,
    name_basis,
    name_disagreeing,
    write_numbers,
    write_pairs,
)
from workflow.report.pages.site import Site
from workflow.report.pages.strips import Group, forest_of
from workflow.results.store import ships
from workflow.settings.questions import Question


@dataclass(frozen=True)
class SetRow:
    """What one set of results says of a claim, and its numbers as text."""

    evidence: SetEvidence
    written: Written


@dataclass(frozen=True)
class ClaimRow(WrittenClaim):
    """The row of a claim, with the evidence of the set whose verdict is shown.

    page: where its numbers are; None without such a page. printed: what the paper prints.
    rank: the place of the verdict among all. basis: what the interval is over.
    ships: whether its records ship with the project. sets: strongest scale first.
    disagreeing: a sentence for each scale that disagrees. run_pages: digest -> page.
    """

    line: LedgerLine
    shown: SetEvidence
    page: str | None
    printed: str
    rank: int
    basis: str
    pairs: list[WrittenPair]
    ships: bool
    sets: list[SetRow]
    disagreeing: list[str]
    run_pages: dict[str, str]


@dataclass(frozen=True)
class PaperClaims:
    """The claims of a paper. page: that of the paper; None where it has none."""

    title: str
    page: str | None
    rows: list[ClaimRow]


@dataclass(frozen=True)
class LedgerPage:
    """What the page of the ledger shows.

    ledger: with the sets of results. tested: number of claims with a corrected p. counts,
    by_formula: verdicts of measured and of recomputed claims, with their counts. files: the ledger
    as files. strips: all effects on shared axes.
    """

    title: str
    ledger: Ledger
    tested: int
    counts: list[tuple[str, int]]
    by_formula: list[tuple[str, int]]
    papers: list[PaperClaims]
    files: list[str]
    strips: list[Group]


def ledger_page(site: Site, ledger: Ledger, questions: Collection[Question]) -> LedgerPage:
    """Collect what the page shows.

    questions: those that have a page to link to, and whose papers have one.
    """
    with_page = {question.paper for question in questions}
    tables = {table for question in questions for table in question.tables}
    papers = []
    for name, study in studies().items():
        rows = [
            _row(site, line, ledger.set, tables) for line in ledger.claims if line.paper == name
        ]
        page = f"papers/{name}.html" if name in with_page else None
        papers.append(PaperClaims(study.heading, page, rows))
    path = site.results / "ledger.json"
    return LedgerPage(
        title="Claims of the papers and the evidence for them",
        ledger=ledger,
        tested=sum(line.holm is not None for line in ledger.claims),
        counts=count_verdicts(ledger.measured),
        by_formula=count_verdicts(ledger.by_formula),
        papers=papers,
        files=[site.offer(path), site.offer(path.with_suffix(".csv"))],
        strips=forest_of(ledger, headlines=False),
    )


def _row(site: Site, line: LedgerLine, own: str, tables: set[str]) -> ClaimRow:
    """Collect what the row of a claim shows.

    own: the set that this report is about; runs of another set link to its report where that
    exists. tables: the names of those on the pages of this report.
    """
    evidence = line.shown
    is_own = evidence.set == own
    printed = [_write_printed(value) for value in map(find, line.published)]
    return ClaimRow(
        line=line,
        shown=evidence,
        written=write_numbers(evidence, line),
        page=_page(line, tables),
        printed="; ".join(printed),
        rank=VERDICTS.index(line.overall),
        basis=name_basis(evidence),
        pairs=write_pairs(evidence, line),
        ships=not is_own and any(map(ships, evidence.digests)),
        sets=[SetRow(each, write_numbers(each, line)) for each in line.sets],
        disagreeing=name_disagreeing(line),
        run_pages=run_pages(site, evidence, runs_at(line.question), is_own),
    )


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


def _write_printed(value: Published) -> str:
    """Write a published number with its row and column, and its origin unless that is the paper."""
    return with_origin(f"{_label(value)}: {value.text}", value.origin)


def _label(value: Published) -> str:
    return value.column if value.row == "text" else f"{value.row}, {value.column}"
