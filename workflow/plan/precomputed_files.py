"""Plan which files are taken from the results that ship with the project."""

from functools import cached_property
from pathlib import Path

from workflow.plan.run_files import RunFiles
from workflow.plan.shared_measurements import SharedMeasurements
from workflow.results.precomputed import file_of_scale, precomputed_costs
from workflow.results.store import SHIPPED

OF_CONFIGURATIONS = ("flops", "memory", "longest_span")


class PrecomputedFiles:
    """What is taken from the project's shipped results, and what is measured here."""

    def __init__(self, shared: SharedMeasurements, run_files: RunFiles):
        self.shared = shared
        self.run_files = run_files
        self.runs = shared.runs
        self.scale = shared.scale
        self.results = f"results/{shared.folder}"

    # configurations: MACs, memory, the longest span

    @cached_property
    def configurations(self) -> list[str]:
        """List the configurations whose model is not trained here, so that nothing is measured."""
        found = []
        for name, digest in self.runs.configurations.items():
            if self.runs.is_precomputed(digest):
                found.append(name)
        return found

    @cached_property
    def measured_here(self) -> list[str]:
        """List the configurations whose model is trained here."""
        taken = set(self.configurations)
        return [name for name in self.runs.configurations if name not in taken]

    # groups: timings

    @cached_property
    def timed(self) -> list[str]:
        """List the groups whose timings are taken, where any model of the plan is missing.

        Pages would otherwise mix two machines. Not those of a question with a configuration that
        does not ship: it is timed here, with what it is compared with.
        """
        if not self.configurations:
            return []
        ship = {row["configuration"] for row in precomputed_costs("throughput", self.scale)}
        new = [row for row in self.runs.plain if row.job.configuration not in ship]
        here: set[str] = set()
        for question in {row.question for row in new}:
            here.update(self.runs.groups_of(question))
        return [name for name in self.runs.groups if name not in here]

    @property
    def timed_here(self) -> list[str]:
        """List the groups that are timed here."""
        return [name for name in self.runs.groups if name not in self.timed]

    # files

    @property
    def files(self) -> list[str]:
        """List the files of costs that are taken."""
        files = []
        for kind in OF_CONFIGURATIONS:
            known = {row["configuration"] for row in precomputed_costs(kind, self.scale)}
            for name in self.configurations:
                # not every question reads the longest span; a card has what its variants cost
                if name in known:
                    files.append(f"{self.results}/{kind}/{name}.json")
        for name in self.timed:
            files.append(f"{self.results}/throughput/{name}.json")
        for name in self.shared.taken:
            files.append(f"{self.results}/{file_of_scale(name)}")
        return files

    @cached_property
    def missing(self) -> list[str]:
        """List the files that are not there yet.

        What is there is no output: what ships does not change.
        """
        return [file for file in self.files if not Path(file).exists()]

    @cached_property
    def list_of_shipped(self) -> list[str]:
        """Name the file that lists the shipped records of the scale.

        Whoever reads the scale's results as a bundle finds there which records belong to them.
        """
        file = f"{self.results}/{SHIPPED}"
        is_wanted = self.runs.shipped or Path(file).exists()
        return [file] if is_wanted else []

    @property
    def waits_for(self) -> list[str]:
        """List the plan, and the job files that it writes and that are gone since.

        Snakemake notes inputs with each output.
        """
        plan = f"{self.results}/plan.json"
        files = [plan]
        if Path(plan).exists():
            for digest in self.run_files.without_job_file:
                if self.runs.is_precomputed(digest):
                    files.append(f"results/runs/{digest}/job.json")
        return files
