"""Plan which files are taken from what came with the project, in place of training and measuring."""

from functools import cached_property
from pathlib import Path

from workflow.plan.planned_runs import PlannedRuns
from workflow.plan.shared_measurements import SharedMeasurements
from workflow.results.precomputed import file_of_scale, precomputed_costs

OF_CONFIGURATIONS = ("flops", "memory", "longest_span")


class PrecomputedFiles:
    """folder: of the scale, under results/."""

    def __init__(self, runs: PlannedRuns, scale: str, folder: str, shared: SharedMeasurements):
        self.runs, self.scale, self.folder, self.shared = runs, scale, folder, shared

    @cached_property
    def configurations(self) -> list[str]:
        """List the configurations whose net was not trained here, so that nothing can be measured of it."""
        return [name for name, digest in self.runs.configurations.items() if self.runs.is_precomputed(digest)]

    @cached_property
    def timed(self) -> list[str]:
        """List the groups whose timings are taken, where any net of the plan is missing: pages would mix two machines.

        Not those of an ablation with a configuration that did not come: it is timed here, and what it is compared with.
        """
        came = {row["configuration"] for row in precomputed_costs("throughput", self.scale)}
        own = {row.ablation for row in self.runs.rows if row.job.configuration not in came}
        here = {group for ablation in own for group in self.runs.groups_of(ablation)}
        return [name for name in self.runs.groups if self.configurations and name not in here]

    @property
    def measured_here(self) -> list[str]:
        """List the configurations whose net is trained here."""
        taken = set(self.configurations)
        return [name for name in self.runs.configurations if name not in taken]

    @property
    def timed_here(self) -> list[str]:
        """List the groups that are timed here."""
        return [name for name in self.runs.groups if name not in self.timed]

    @property
    def files(self) -> list[str]:
        """List the files of records, curves and costs that are taken."""
        files = [
            f"results/runs/{digest}/{name}" for digest in self.runs.precomputed for name in ("record.json", "curve.csv")
        ]
        for kind in OF_CONFIGURATIONS:
            known = {row["configuration"] for row in precomputed_costs(kind, self.scale)}
            names = [name for name in self.configurations if name in known or kind != "longest_span"]
            files += [f"results/{self.folder}/{kind}/{name}.json" for name in names]
        files += [f"results/{self.folder}/throughput/{name}.json" for name in self.timed]
        return files + [f"results/{self.folder}/{file_of_scale(name)}" for name in self.shared.taken]

    @property
    def waits_for(self) -> list[str]:
        """List the plan, which writes job files, and those gone since: Snakemake notes inputs beside each output."""
        plan = f"results/{self.folder}/plan.json"
        gone = [digest for digest in self.runs.without_job_file if self.runs.is_precomputed(digest)]
        return [plan, *(f"results/runs/{digest}/job.json" for digest in gone if Path(plan).exists())]

    @cached_property
    def missing(self) -> list[str]:
        """List the files that are not there yet. What is there is no output, for what came does not change."""
        return [file for file in self.files if not Path(file).exists()]
