"""Digests of the code behind each rule's outputs: a parameter of the rule, so that a change makes its outputs again."""

from workflow.config.errors import ConfigError
from workflow.plan import sources
from workflow.plan.claims import ablation_of, known_claims
from workflow.plan.planned_runs import PlannedRuns
from workflow.results.record import read_record
from workflow.tasks.spec import TASKS

TEXTS = [f"tasks/{task}.yaml" for task in TASKS]  # their titles are badges in tables, figures, claims and pages


class Code:
    """One method for each kind of thing that is made."""

    def __init__(self, runs: PlannedRuns):
        self.runs = runs

    def of_corpus(self, slug: str) -> str:
        file = sources.file_of(TASKS[self.runs.tasks_of_corpora[slug]].write_corpus)
        return sources.digest(sources.closure(file, rooms=("workflow/tasks",)))

    def of_run(self, digest: str) -> str:
        """An accepted change makes no run out of date that ended well, and every other."""
        files = sources.of_run(self.runs.jobs[digest])
        return sources.digest_since(files, _made_from(digest) if sources.changes_in(files) else {})

    def of_cost(self, kind: str, configuration: str) -> str:
        """What measures a configuration, and what it measures."""
        return sources.digest(sources.of_script(kind, self.runs.job_of(configuration)))

    def of_reference(self) -> str:
        return sources.digest(sources.of_script("reference"))

    def of_throughput(self, group: str) -> str:
        jobs = map(self.runs.job_of, self.runs.groups[group])
        files = [sources.of_script("throughput", job) for job in jobs]
        return sources.digest(frozenset().union(*files, {"benchmarks/test_throughput.py"}))

    def of_best_reader(self) -> str:
        return sources.digest(sources.of_script("best_reader"))

    def of_topic_borders(self, slug: str) -> str:
        jobs = self.runs.dynamic_jobs(slug).values()
        return sources.digest(sources.of_script("topic_borders", next(iter(jobs), None)))

    def of_layers(self) -> str:
        return sources.digest(sources.of_script("layers"))

    def of_engine(self) -> str:
        """What computes attention, and what times it."""
        models = sources.files_under("models/**/*.py", "benchmarks/test_engine.py")
        return sources.digest(sources.of_script("engine") | models)

    def of_report_script(self, name: str) -> str:
        return sources.digest(sources.of_report(name))

    def of_artefact(self, kind: str, name: str) -> str:
        """kind: tables | figures."""
        builder = f"workflow/report/{kind}/{name}.py"
        files = sources.of_report(kind.removesuffix("s"), builder)
        return f"{sources.digest(files)} {sources.config_digest(*TEXTS, *sources.published_places())}"

    def of_claims(self, group: str) -> str:
        return self._of_judging("claims", [name for name in known_claims() if ablation_of(name) == group])

    def of_evidence(self) -> str:
        return self._of_judging("evidence", known_claims())

    def _of_judging(self, script: str, claims: list[str]) -> str:
        places = [*TEXTS, *sources.published_places(), *(f"claims/{name}.yaml" for name in claims)]
        return f"{sources.digest(sources.of_report(script))} {sources.config_digest(*places)}"

    def of_page(self, *ablations: str) -> str:
        places = [*TEXTS, *sources.published_places(), *(f"ablations/{name}.yaml" for name in ablations)]
        files = sources.of_report("page") | sources.page_files()
        return f"{sources.digest(files)} {sources.config_digest(*places)}"


def _made_from(digest: str) -> dict[str, str]:
    """The sources of a run that ended well, by its record; none of one that failed or was not made."""
    try:
        record = read_record(f"results/runs/{digest}/record.json")
    except (ConfigError, OSError):
        return {}
    return record.origin.sources if record.status == "ok" else {}
