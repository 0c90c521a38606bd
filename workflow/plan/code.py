"""Digests of the code behind each rule's outputs: a parameter of the rule, so that a change makes
its outputs again.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from workflow.claims.schema import claims_about, known_claims
from workflow.config.files import config_file
from workflow.config.studies import known_studies, part_of, study_file
from workflow.plan import sources
from workflow.plan.planned_runs import PlannedRuns
from workflow.plan.questions import load_question
from workflow.tasks.spec import TASKS

PAGES = "workflow/report/templates/*"  # templates, styles and scripts of the pages
# their titles are badges in tables, figures, claims and pages
TEXTS = [f"tasks/{task}.yaml" for task in TASKS]


class Code:
    """One method for each kind of thing that is made."""

    def __init__(self, runs: PlannedRuns):
        self.runs = runs

    def of_corpus(self, slug: str) -> str:
        file = sources.file_of(TASKS[self.runs.corpora[slug].job.task].write_corpus)
        return sources.digest(sources.closure(file, rooms=("workflow/tasks",)))

    def of_run(self, digest: str) -> str:
        return sources.digest(sources.of_run(self.runs.jobs[digest]))

    def of_cost(self, kind: str, configuration: str) -> str:
        """Digest what measures a configuration, and what it measures."""
        return sources.digest(sources.of_script(kind, self.runs.job_of(configuration)))

    def of_script(self, name: str) -> str:
        """Digest what measures the machine or a text, not a net."""
        return sources.digest(sources.of_script(name))

    def of_throughput(self, group: str) -> str:
        files = {"benchmarks/test_throughput.py"}
        for job in self.runs.jobs_of(group):
            files |= sources.of_script("throughput", job)
        return sources.digest(frozenset(files))

    def of_topic_borders(self, slug: str) -> str:
        jobs = self.runs.dynamic_jobs(slug).values()
        first = next(iter(jobs), None)
        return sources.digest(sources.of_script("topic_borders", first))

    def of_question(self, name: str) -> str:
        """Digest the code and config behind the tables, figures, claims and pages of a question."""
        question = load_question(name)
        builders = [
            *_files("tables", question.tables),
            *_files("figures", question.figures),
        ]
        asked = [*_files("questions", [name]), *_files("claims", claims_about(name))]
        return self._of_report("question", map(sources.file_in_suite, builders), asked)

    def of_evidence(self) -> str:
        return self._of_report("evidence", [], _files("claims", known_claims()))

    def of_report(self, questions: Iterable[str]) -> str:
        """Digest the same of what stands on all questions."""
        return self._of_report(
            "report", [], [*_files("questions", questions), *_files("claims", known_claims())]
        )

    def _of_report(self, script: str, builders: Iterable[str], asked: list[Path]) -> str:
        contents = [config_file(name) for name in TEXTS]
        for study in known_studies():
            printed = [part_of(study, name) for name in ("study.yaml", "formulas.py")]
            contents += [path for path in printed if path is not None]
        contents += asked
        content = hashlib.sha256()
        for path in contents:
            content.update(path.read_bytes())
        files = sources.of_report(script, *builders)
        if script != "evidence":
            files |= sources.files_under(PAGES)
        return f"{sources.digest(files)} {content.hexdigest()[: sources.DIGITS]}"


def _files(kind: str, names: Iterable[str]) -> list[Path]:
    return [study_file(kind, name) for name in names]
