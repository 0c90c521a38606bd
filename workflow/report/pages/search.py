"""What the pages of a report have in common, as one script: what a search finds, and which pages
are neighbours.
"""

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from workflow.claims.evidence import Ledger
from workflow.claims.published import studies
from workflow.config.files import ROOT
from workflow.report.answers.answer import Answer
from workflow.report.builders import load_builder
from workflow.report.figures.colours import as_named
from workflow.report.pages.artefacts import runs_at
from workflow.results.datasets import with_titles
from workflow.results.numbers import name_places
from workflow.settings.questions import Question

# at: from the page to the reports of this scale, as the page names the script
BEGINS = (
    "(globalThis.REPORTS??=[]).push({at:document.currentScript"
    '.getAttribute("src").replace("report.js",""),'
)

PAGES = {
    "index": "Report",
    "headline_claims": "Headline claims",
    "model_selection": "Model selection by budget",
    "ledger": "Ledger: every claim with its verdict",
    "formulas": "Formulas",
    "coverage": "Coverage: tables and figures of the papers",
    "pivot": "Pivot table",
}

OF_LEDGER = ("headline_claims", "ledger")  # pages that are not made without one

# Each term of a group is also searched for as the others: without capitals, a space for each
# hyphen.
SAME = (
    ("perplexity", "ppl"),
    ("bits per character", "bpc"),
    (
        "grouped query attention",
        "grouped queries",
        "gqa",
        "multi query attention",
        "mqa",
        "shared keys",
    ),
    ("span", "window", "context length", "sliding window", "local attention"),
    ("macs", "flops", "multiply adds", "multiply accumulate"),
    ("alibi", "linear biases", "linear bias"),
    ("rope", "rotary positions", "rotary"),
    ("attention sinks", "attention sink", "first keys"),
    ("throughput", "tokens per second", "tokens s", "speed"),
    ("memory", "vram", "peak memory"),
    ("parameters", "model size", "scaling"),
    ("mt", "machine translation", "translation"),
    ("lm", "language model", "character model"),
    ("nucleus", "top p"),
    ("significance", "p value", "interval"),
)
# A wider term is also searched for as each of these, but not the other way round.
WIDER = {
    "sparse attention": ("top k", "entmax", "sparsemax"),
    "positional encoding": ("positions", "rope", "alibi"),
    "positional embedding": ("positions", "rope", "alibi"),
}


class Entry(NamedTuple):
    """What a search finds. address: from the scale's reports; empty for a word, which `more`
    explains.
    """

    title: str
    address: str
    more: str = ""


def search_script(
    runs: pd.DataFrame,
    ledger: Ledger | None,
    questions: Mapping[str, Question],
    answers: Mapping[str, Answer],
) -> str:
    """Write the script. runs: of all questions with a page, whose answers are shown with what is
    found.
    """
    papers = sorted(set(runs["paper"]))
    kinds = {
        "pages": [
            Entry(title, f"{name}.html")
            for name, title in PAGES.items()
            if ledger or name not in OF_LEDGER
        ],
        "questions": [
            Entry(
                each.question,
                f"{runs_at(name)}index.html",
                f"{name.replace('_', ' ')}. {_begin(answers[name])}",
            )
            for name, each in questions.items()
        ],
        "claims": [*_claims(ledger)] if ledger else [],
        "papers": [Entry(studies()[each].heading, f"papers/{each}.html") for each in papers],
        "tables and figures": [*_artefacts(questions)],
        "variants": _variants(runs),
        "runs": [*_runs(runs)],
        "words": [Entry(word, "", meaning) for word, meaning in glossary()],
    }
    parts = {"synonyms": synonyms(), "kinds": kinds}
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":")).removeprefix("{")
    return f"{BEGINS}{text.replace('<', chr(92) + 'u003c')});\n"


def synonyms() -> dict[str, list[str]]:
    """Map each term of the field that a reader may type to the terms that are searched for as
    well.
    """
    found = {term: list(others) for term, others in WIDER.items()}
    for group in SAME:
        for term in group:
            found.setdefault(term, []).extend(other for other in group if other != term)
    return found


def _artefacts(questions: Mapping[str, Question]) -> Iterator[Entry]:
    for each in questions.values():
        for kind, names in (("table", each.tables), ("figure", each.figures)):
            for name in names:
                title = load_builder(f"{kind}s", name).TITLE
                yield Entry(
                    title, f"papers/{each.paper}.html#{kind}-{name}", name.replace("_", " ")
                )


def _begin(answer: Answer) -> str:
    return f"{answer.headline}. {answer.sentence}"


def _claims(ledger: Ledger) -> Iterator[Entry]:
    """List the claims, each with the verdict that is shown, and the scale that gave it where that
    is another one.
    """
    for line in ledger.claims:
        verdict = f"{line.overall}{ledger.elsewhere(line.speaks)}"
        yield Entry(line.claim, f"ledger.html#claim-{line.name}", verdict)


def _variants(runs: pd.DataFrame) -> list[Entry]:
    """List the variants by the names that pages give them, each with the question that has most
    runs of it.
    """
    named = runs.groupby(["label", "question"]).size().sort_values(ascending=False, kind="stable")
    first = named.reset_index().drop_duplicates("label")
    return [
        Entry(each.label, f"{runs_at(each.question)}index.html#variant={each.label}")
        for each in first.itertuples()
    ]


def _runs(runs: pd.DataFrame) -> Iterator[Entry]:
    for run in with_titles(as_named(runs.drop_duplicates("digest"))).itertuples():
        about = ", ".join([run.variant, *name_places(run.S, run.k), f"seed {run.seed}", run.title])
        yield Entry(run.digest, f"{runs_at(run.question)}{run.digest}.html", about)


def glossary() -> list[tuple[str, str]]:
    """Read the words of the glossary with their meanings; none where the suite runs without its
    docs.
    """
    path = ROOT / "docs/glossary.md"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    rows = [
        tuple(cell.strip() for cell in line.strip("|").split("|", 1))
        for line in lines
        if line.startswith("| ")
    ]
    return rows[1:] if rows else []  # without the head
