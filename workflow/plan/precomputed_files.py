"""Plan what is measured of a scale or a text as a whole, and what is taken of all that came with
the project.
"""

from functools import cached_property
from pathlib import Path

from workflow.plan.planned_runs import PlannedRuns
from workflow.plan.scales import Measure
from workflow.results.precomputed import came_with, file_of_scale, precomputed_costs
from workflow.results.store import SHIPPED

OF_CONFIGURATIONS = ("flops", "memory", "longest_span")


class SharedMeasurements:
    """What is measured once, each named KIND/NAME. scale: its name. folder: under results/.
    measures: by task.
    """

    def __init__(self, runs: PlannedRuns, measures: dict[str, Measure], scale: str, folder: str):
        self.runs, self.measures, self.scale, self.folder = runs, measures, scale, folder

    def measure_of(self, task: str) -> str:
        """Say how the costs of a task are measured, as JSON."""
        return self.measures[task].model_dump_json()

    @cached_property
    def settings(self) -> dict[str, str]:
        """Map KIND/NAME to the settings that it is measured with."""
        settings = {}
        if "translation" in self.measures:
            settings[f"layers/{self.folder}"] = self.measure_of("translation")
        for slug in self.runs.texts_of_topics():
            settings[f"optimal_predictor/{slug}"] = (
                f"{slug} {self.runs.optimal_predictor_options(slug)}"
            )
            nets = " ".join(self.runs.dynamic_jobs(slug))
            settings[f"topic_borders/{slug}"] = f"{nets} {self.runs.scored_part(slug)}"
        return settings

    @cached_property
    def taken(self) -> list[str]:
        """List what is taken from the project: what came with equal settings, if not all nets are
        trained here.
        """
        came = [
            name
            for name, settings in self.settings.items()
            if came_with(self.scale, name, settings)
        ]
        return (
            came
            if self.runs.train == "nothing"
            else [name for name in came if self._lacks_nets(name)]
        )

    def _lacks_nets(self, name: str) -> bool:
        """Say whether some of the nets that are measured are not trained here: the rest would pass
        for all of them.
        """
        kind, slug = name.split("/")
        return kind == "topic_borders" and len(self.runs.dynamic_nets(slug)) < len(
            self.runs.dynamic_jobs(slug)
        )

    def made_here(self, kind: str) -> list[str]:
        """List the folder of the scale, or the texts, for which this kind is measured here."""
        wanted = [
            name for name in self.settings if name.startswith(f"{kind}/") and name not in self.taken
        ]
        return [name.removeprefix(f"{kind}/") for name in wanted]


class PrecomputedFiles:
    """What is taken of all that came with the project, and what is measured here beside it."""

    def __init__(self, shared: SharedMeasurements):
        self.shared, self.runs, self.scale, self.folder = (
            shared,
            shared.runs,
            shared.scale,
            shared.folder,
        )

    @cached_property
    def configurations(self) -> list[str]:
        """List the configurations whose net was not trained here, so that nothing can be measured
        of it.
        """
        return [
            name
            for name, digest in self.runs.configurations.items()
            if self.runs.is_precomputed(digest)
        ]

    @cached_property
    def timed(self) -> list[str]:
        """List the groups whose timings are taken, where any net of the plan is missing: pages
        would mix two machines.

        Not those of a question with a configuration that did not come: it is timed here, and what
        it is compared with.
        """
        came = {row["configuration"] for row in precomputed_costs("throughput", self.scale)}
        own = {row.question for row in self.runs.plain if row.job.configuration not in came}
        here = {group for question in own for group in self.runs.groups_of(question)}
        return [name for name in self.runs.groups if self.configurations and name not in here]

    @property
    def measured_here(self) -> list[str]:
        """List the configurations whose net is trained here."""
        return [
            name
            for name, digest in self.runs.configurations.items()
            if not self.runs.is_precomputed(digest)
        ]

    @property
    def timed_here(self) -> list[str]:
        """List the groups that are timed here."""
        return [name for name in self.runs.groups if name not in self.timed]

    @property
    def files(self) -> list[str]:
        """List the files of costs that are taken."""
        files = []
        for kind in OF_CONFIGURATIONS:
            known = {row["configuration"] for row in precomputed_costs(kind, self.scale)}
            names = [
                name for name in self.configurations if name in known or kind != "longest_span"
            ]
            files += [f"results/{self.folder}/{kind}/{name}.json" for name in names]
        files += [f"results/{self.folder}/throughput/{name}.json" for name in self.timed]
        return files + [
            f"results/{self.folder}/{file_of_scale(name)}" for name in self.shared.taken
        ]

    @cached_property
    def list_of_shipped(self) -> list[str]:
        """Name the file that lists the shipped records of the scale.

        Whoever reads the scale's results as a bundle finds there which records belong to them.
        """
        file = f"results/{self.folder}/{SHIPPED}"
        return [file] if self.runs.shipped or Path(file).exists() else []

    @property
    def waits_for(self) -> list[str]:
        """List the plan, which writes job files, and those gone since: Snakemake notes inputs
        beside each output.
        """
        plan = f"results/{self.folder}/plan.json"
        gone = [digest for digest in self.runs.without_job_file if self.runs.is_precomputed(digest)]
        return [
            plan,
            *(f"results/runs/{digest}/job.json" for digest in gone if Path(plan).exists()),
        ]

    @cached_property
    def missing(self) -> list[str]:
        """List the files that are not there yet. What is there is no output, for what came does not
        change.
        """
        return [file for file in self.files if not Path(file).exists()]
