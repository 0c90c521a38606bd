"""Plan what is measured once for a scale or a text, not of one net: layers, best readers, topic borders."""

from functools import cached_property

from workflow.plan.planned_runs import PlannedRuns
from workflow.plan.scales import Measure
from workflow.results.precomputed import came_with


class SharedMeasurements:
    """What is measured once, each named KIND/NAME. scale: its name. folder: under results/. measures: by task."""

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
            settings[f"best_reader/{slug}"] = f"{slug} {self.runs.best_reader_options(slug)}"
            settings[f"topic_borders/{slug}"] = (
                f"{' '.join(self.runs.dynamic_jobs(slug))} {self.runs.scored_part(slug)}"
            )
        return settings

    @cached_property
    def taken(self) -> list[str]:
        """List what is taken from the project: what came with equal settings, if not all nets are trained here."""
        came = [name for name, settings in self.settings.items() if came_with(self.scale, name, settings)]
        return came if self.runs.train == "nothing" else [name for name in came if self._lacks_nets(name)]

    def _lacks_nets(self, name: str) -> bool:
        """Say whether some of the nets that are measured are not trained here: the rest would pass for all of them."""
        kind, slug = name.split("/")
        return kind == "topic_borders" and len(self.runs.dynamic_nets(slug)) < len(self.runs.dynamic_jobs(slug))

    def made_here(self, kind: str) -> list[str]:
        """List the folder of the scale, or the texts, for which this kind is measured here."""
        wanted = [name for name in self.settings if name.startswith(f"{kind}/") and name not in self.taken]
        return [name.removeprefix(f"{kind}/") for name in wanted]
