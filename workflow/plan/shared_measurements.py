"""Plan what is measured once: of the scale as a whole, or of a corpus of topics.

The layers of Attention Is All You Need, Table 1, are measured for the scale. The optimal predictor
of a corpus of topics is known; around its topic changes the spans that follow the input are
measured. What ships with the project and used equal settings is taken in place of measuring.
"""

from functools import cached_property

from workflow.config.choices import follows_input
from workflow.config.job import Job
from workflow.plan.planned_runs import PlannedRuns
from workflow.plan.run_files import weights_of
from workflow.results.precomputed import came_with
from workflow.settings.config import Setup


class SharedMeasurements:
    """What is measured once, each named KIND/NAME.

    scale: its name. folder: under results/. measures: how costs are measured, by task.
    """

    def __init__(self, runs: PlannedRuns, setup: Setup):
        self.runs = runs
        self.scale = setup.config.scale
        self.folder = setup.folder
        self.measures = {}
        for task, scale in setup.scales.items():
            self.measures[task] = scale.measure
        self._catalogues = setup.catalogues

    def measure_of(self, task: str) -> str:
        """Say how the costs of a task are measured, as JSON."""
        return self.measures[task].model_dump_json()

    @cached_property
    def settings(self) -> dict[str, str]:
        """Map KIND/NAME to the settings that it is measured with."""
        settings = {}
        if "translation" in self.measures:
            settings[f"layers/{self.folder}"] = self.measure_of("translation")
        for slug in self.corpora_of_topics():
            predictor = self.optimal_predictor_options(slug)
            settings[f"optimal_predictor/{slug}"] = f"{slug} {predictor}"
            models = " ".join(self.jobs_following_input(slug))
            scored = self.scored_part(slug)
            settings[f"topic_borders/{slug}"] = f"{models} {scored}"
        return settings

    # corpora of topics, by the names of their files

    def corpora_of_topics(self, question: str | None = None) -> list[str]:
        """List the corpora of a question, or of all, whose optimal predictor is known."""
        corpora = [row.job.corpus for row in self.runs.rows_of(question)]
        different = dict.fromkeys(corpora)
        return [slug for slug in different if self._has_topics[slug]]

    @cached_property
    def _has_topics(self) -> dict[str, bool]:
        """Say of each dataset whether it is a corpus of topics."""
        known = {}
        for slug, row in self.runs.corpora.items():
            catalogue = self._catalogues[row.job.task]
            entry = catalogue.entries.get(row.corpus)
            known[slug] = bool(getattr(entry, "topics", None))
        return known

    def optimal_predictor_options(self, slug: str) -> str:
        """Write the options of the script of optimal predictors: windows, streams, tokens."""
        spans = [job.attention.span for job in self._jobs_on(slug)]
        limits = {span["limit"] for span in spans if span.get("limit")}
        if not limits:
            limits = {span["cache"] for span in spans}
        # powers of two from 4 up to the first beyond every S
        last = max(limits).bit_length()
        powers = {2**n for n in range(2, last + 1)}
        windows = sorted(limits | powers)
        listed = " ".join(map(str, windows))
        return f"--windows {listed} {self.scored_part(slug)}"

    def scored_part(self, slug: str) -> str:
        """Write as options which part of a corpus models are scored on: streams, tokens."""
        first = self._jobs_on(slug)[0]
        scored = first.evaluation
        return f"--streams {scored.streams} --tokens {scored.tokens}"

    def _jobs_on(self, slug: str) -> list[Job]:
        """List the jobs that read a corpus."""
        jobs = self.runs.jobs.values()
        return [job for job in jobs if job.corpus == slug]

    def jobs_following_input(self, slug: str) -> dict[str, Job]:
        """Map digest to job for the runs on a corpus whose span follows the input.

        Those at the largest S among them.
        """
        limits: dict[str, int] = {}
        for row in self.runs.plain:
            job = row.job
            span = job.attention.span
            if job.corpus == slug and follows_input(span["name"]):
                limits[job.digest] = span["limit"]
        largest = max(limits.values(), default=None)
        widest = {}
        for digest, limit in limits.items():
            if limit == largest:
                widest[digest] = self.runs.jobs[digest]
        return widest

    def weights_following_input(self, slug: str) -> list[str]:
        """List the weights of those of these runs that are trained here."""
        files = []
        for digest in self.jobs_following_input(slug):
            if not self.runs.is_precomputed(digest):
                files.append(weights_of(digest))
        return files

    # what ships, and what is measured here

    @cached_property
    def taken(self) -> list[str]:
        """List what is taken from the project: what ships with equal settings.

        Not the measurements of models that are all trained here.
        """
        ship = []
        for name, settings in self.settings.items():
            if came_with(self.scale, name, settings):
                ship.append(name)
        if self.runs.train == "nothing":
            return ship
        return [name for name in ship if self._lacks_models(name)]

    def _lacks_models(self, name: str) -> bool:
        """Say whether some of the measured models are not trained here.

        A measurement of the others would pass for one of all.
        """
        kind, slug = name.split("/")
        if kind != "topic_borders":
            return False
        trained = self.weights_following_input(slug)
        return len(trained) < len(self.jobs_following_input(slug))

    def made_here(self, kind: str) -> list[str]:
        """List the folder of the scale, or the corpora, for which this kind is measured here."""
        folder = f"{kind}/"
        names = []
        for name in self.settings:
            if name.startswith(folder) and name not in self.taken:
                names.append(name.removeprefix(folder))
        return names
