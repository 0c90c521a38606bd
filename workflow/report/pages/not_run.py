"""The footnote of a table on its cells that were not run: why, and the command that runs them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from workflow.config.errors import ConfigError
from workflow.config.files import config_file
from workflow.config.strict import read_json, read_yaml
from workflow.plan.plan import plan
from workflow.report.pages.site import Site
from workflow.report.tables.cells import NO_RUN, NO_SEARCH, PAPERS_SIZE, Cell
from workflow.results.precomputed import NOT_MEASURED, NOT_RUN
from workflow.settings.config import load_setup
from workflow.settings.scales import known_scales

UNMEASURED = (NOT_MEASURED, NO_SEARCH)


@dataclass(frozen=True)
class NotRun:
    """A reason why cells are empty, and the command that fills them.

    needs: what the command needs in addition; may be empty.
    """

    reason: str
    command: str
    needs: str = ""


def is_not_run(cell: Cell) -> bool:
    """Say whether a cell is empty because nothing was run or measured for it."""
    reasons = (NO_RUN, *UNMEASURED)
    return cell.status == NOT_RUN and any(reason in cell.explanation for reason in reasons)


def why_not_run(site: Site, question: str, cells: Iterable[Cell]) -> list[NotRun]:
    """List why cells of a table of this question were not run.

    There are at most two reasons: a missing run and a missing measurement.
    """
    notes = [cell.explanation for cell in cells if is_not_run(cell)]
    if not notes:
        return []
    own, planned = _plan_of(site, question)
    command = f"questions=[{question}]"
    found = []
    if any(NO_RUN in note for note in notes):
        reason = f"These models were not trained at scale {own}."
        if _asks_for_more(own, question, planned):
            found.append(NotRun(reason, f"snakemake --config scale={own} {command}"))
        else:
            needs = "It needs the papers' corpora, and names those that are missing."
            found.append(NotRun(reason, f"snakemake --config scale={PAPERS_SIZE} {command}", needs))
    if any(each in note for each in UNMEASURED for note in notes):
        reason = f"Some costs were not measured at scale {own}."
        found.append(NotRun(reason, f"snakemake --config scale={own} {command} train=everything"))
    return found


def _plan_of(site: Site, question: str) -> tuple[str, set[str]]:
    """Return the scale of these results, and the digests of the question's runs in its plan."""
    path = site.results / "plan.json"
    if not path.exists():
        return site.results.name, set()
    scale, digests = _read(path, path.stat().st_mtime_ns)
    return scale or site.results.name, digests.get(question, set())


@lru_cache(maxsize=1)  # every table of a report asks
def _read(path: Path, changed: int) -> tuple[str, dict[str, set[str]]]:
    """Read the scale of a plan, and the digests of its runs by question.

    changed: when the file was last changed, so that a new plan is read again.
    """
    rows = read_json(path)  # each question has checked its own
    digests: dict[str, set[str]] = {}
    for row in rows:
        digests.setdefault(row["question"], set()).add(row["digest"])
    return rows[0]["job"]["scale"] if rows else "", digests


def _asks_for_more(scale: str, question: str, planned: Iterable[str]) -> bool:
    """Say whether a scale asks for runs of a question that these results do not hold."""
    if scale not in known_scales():
        return False
    asked = read_yaml(config_file("config.yaml")) | {"scale": scale, "questions": [question]}
    try:
        rows = plan(load_setup(asked), {})
    except ConfigError:
        return False
    return bool({row.job.digest for row in rows if row.question == question} - set(planned))
