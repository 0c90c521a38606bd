"""What is measured of a scale as a whole, or of a text, not of one net: layers, steps, best readers, topic borders."""

from functools import cached_property

from workflow.plan.planned_runs import PlannedRuns
from workflow.plan.scales import Engine, Measure
from workflow.results.precomputed import came_with, file_of_scale


class OfScale:
    """scale: by name. folder: under results/. measures: by task. Each thing measured is named KIND/NAME."""

    def __init__(self, runs: PlannedRuns, measures: dict[str, Measure], scale: str, folder: str):
        self.runs, self.measures, self.scale, self.folder = runs, measures, scale, folder

    def measure_of(self, task: str) -> str:
        """How the costs of a task are measured, as JSON."""
        return self.measures[task].model_dump_json(exclude={"engine"})

    def measure_of_group(self, group: str) -> str:
        """The same of configurations that are timed together, which are of one task."""
        return self.measure_of(self.runs.job_of(self.runs.groups[group][0]).task)

    def engine_sizes(self, *, short: bool) -> str:
        """The nets on which the engine is timed, as JSON. short: one layer, one round."""
        return (self.engine.model_copy(update={"layers": 1, "rounds": 1}) if short else self.engine).model_dump_json()

    @property
    def engine(self) -> Engine | None:
        """How the engine is timed, where one of the scale's files says it."""
        return next((measure.engine for measure in self.measures.values() if measure.engine), None)

    @property
    def has_engine(self) -> bool:
        return self.engine is not None

    @cached_property
    def settings(self) -> dict[str, str]:
        """KIND/NAME -> what it is made with."""
        settings = {}
        if "translation" in self.measures:
            settings[f"layers/{self.folder}"] = self.measure_of("translation")
        if self.has_engine:
            settings[f"steps/{self.folder}"] = self.engine_sizes(short=True)
        for slug in self.runs.texts_of_topics():
            settings[f"best_reader/{slug}"] = f"{slug} {self.runs.best_reader_options(slug)}"
            settings[f"topic_borders/{slug}"] = (
                f"{' '.join(self.runs.dynamic_jobs(slug))} {self.runs.scored_part(slug)}"
            )
        return settings

    @cached_property
    def taken(self) -> list[str]:
        """What is taken from what came with the project: where nothing is trained here, and the settings are equal."""
        if self.runs.train != "nothing":
            return []
        return [name for name, settings in self.settings.items() if came_with(self.scale, name, settings)]

    @property
    def files_taken(self) -> list[str]:
        return [f"results/{self.folder}/{file_of_scale(name)}" for name in self.taken]

    def made_here(self, kind: str) -> list[str]:
        """Of which scale or texts something of this kind is measured here."""
        wanted = [name for name in self.settings if name.startswith(f"{kind}/") and name not in self.taken]
        return [name.removeprefix(f"{kind}/") for name in wanted]
