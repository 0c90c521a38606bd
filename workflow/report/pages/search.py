"""What the pages of a report have in common, as one script: what a search finds, and what stands beside what."""

import json
from collections.abc import Iterator, Mapping

import pandas as pd

from workflow.config.files import ROOT
from workflow.plan.questions import Question
from workflow.report.answers.sentence import Answer
from workflow.report.builders import load_builder
from workflow.report.figures.colours import as_named
from workflow.report.numbers import name_places
from workflow.report.pages.artefacts import runs_at
from workflow.report.pages.claims import Ledger
from workflow.report.published import studies
from workflow.report.texts import with_titles

# at: from the page to the reports of this scale, as the page names the script
BEGINS = '(globalThis.REPORTS??=[]).push({at:document.currentScript.getAttribute("src").replace("report.js",""),kinds:'
Entry = tuple[str, str, str]  # title, address from the scale's reports (none of a word), what else is to say


def search_script(
    runs: pd.DataFrame, ledger: Ledger | None, questions: Mapping[str, Question], answers: Mapping[str, Answer]
) -> str:
    """Write the script. runs: of all questions with a page, whose answers begin with what is found beside them."""
    kinds = {
        "questions": [
            (each.question, f"{runs_at(name)}index.html", f"{name}. {_begin(answers[name])}")
            for name, each in questions.items()
        ],
        "claims": [*_claims(ledger)] if ledger else [],
        "papers": [(studies()[each].heading, f"papers/{each}.html", "") for each in sorted(set(runs["paper"]))],
        "tables and figures": [
            (load_builder(f"{kind}s", name).TITLE, f"papers/{each.paper}.html#{kind}-{name}", name)
            for each in questions.values()
            for kind, names in (("table", each.tables), ("figure", each.figures))
            for name in names
        ],
        "variants": _variants(runs),
        "runs": [*_runs(runs)],
        "words": [(word, "", meaning) for word, meaning in glossary()],
    }
    text = json.dumps(kinds, ensure_ascii=False, separators=(",", ":"))
    return f"{BEGINS}{text.replace('<', chr(92) + 'u003c')}}});\n"


def _begin(answer: Answer) -> str:
    return f"{answer.status}: {answer.sentence.partition('. ')[0].rstrip('.')}"


def _claims(ledger: Ledger) -> Iterator[Entry]:
    """List the claims, each with the verdict that is shown, and the scale that gave it where that is another one."""
    for line in ledger.claims:
        verdict = f"{line['overall']}{ledger.elsewhere(line['speaks'])}"
        yield line["claim"], f"ledger.html#claim-{line['name']}", verdict


def _variants(runs: pd.DataFrame) -> list[Entry]:
    """List the variants by the names that pages give them, each with the question that has most runs of it."""
    named = runs.groupby(["label", "question"]).size().sort_values(ascending=False, kind="stable")
    first = named.reset_index().drop_duplicates("label")
    return [(each.label, f"{runs_at(each.question)}index.html#variant={each.label}", "") for each in first.itertuples()]


def _runs(runs: pd.DataFrame) -> Iterator[Entry]:
    for run in with_titles(as_named(runs.drop_duplicates("digest"))).itertuples():
        about = ", ".join([run.variant, *name_places(run.S, run.k), f"seed {run.seed}", run.title])
        yield run.digest, f"{runs_at(run.question)}{run.digest}.html", about


def glossary() -> list[tuple[str, str]]:
    """Read the words of the glossary with their meanings; none where the suite runs without its docs."""
    path = ROOT / "docs/glossary.md"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    rows = [tuple(cell.strip() for cell in line.strip("|").split("|", 1)) for line in lines if line.startswith("| ")]
    return rows[1:] if rows else []  # without the head
