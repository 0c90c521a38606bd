"""Find results made elsewhere, and plan what is taken of those that came with the project.

They are precomputed results, or folders and archives that the config names: shown with this
scale's in the ledger, trained again by an audit, or taken in place of what is not measured here.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from zipfile import is_zipfile

from workflow.config.command_line import explain
from workflow.config.errors import ConfigError
from workflow.config.files import PRECOMPUTED, user_path
from workflow.plan.planned_runs import PlannedRuns
from workflow.plan.sources import DIGITS
from workflow.results import archive
from workflow.results.precomputed import (
    came_with,
    file_of_scale,
    precomputed_costs,
    precomputed_scales,
)
from workflow.results.store import SHIPPED, Store, records_beside, shipped_store
from workflow.settings.config import Setup
from workflow.settings.scales import Measure
from workflow.tasks.sources import json_checksum


@dataclass(frozen=True)
class OtherResults:
    """Other results, by the `name` that the ledger gives them. path: as `workflow.report.bundle`
    reads it.
    """

    name: str
    path: Path

    @property
    def stamp(self) -> str:
        """Digest the names, sizes and times of the files."""
        files = [self.path] if self.path.is_file() else self._files
        seen = []
        for file in files:
            about = file.stat()
            seen.append((str(file), about.st_size, about.st_mtime_ns))
        return json_checksum(seen)

    @property
    def _files(self) -> list[Path]:
        """List the files of a folder; shipped records are in it, a user's are not."""
        endings = (".json", ".jsonl", ".zip")
        files = (path for path in self.path.rglob("[!.]*") if path.suffix in endings)
        return sorted(files)


def find_bundle(key: str, word: str) -> Path:
    """Find what a config's key names: a scale's results or a bundle; `ConfigError` where it is
    neither.
    """
    path = user_path(word, f"{key} '{word}'")
    came = path.resolve() in [PRECOMPUTED / name for name in precomputed_scales()]
    if not came and not is_zipfile(path) and not (path / "plan.json").is_file():
        raise ConfigError(
            f"{key} '{word}': neither a scale's results, such as results/small, nor a bundle"
        )
    return path


def find_other_results(scale: str, named: list[str]) -> dict[str, OtherResults]:
    """Find other results by the name of their file; precomputed results of `scale` itself are its
    own runs, left out.

    named: folders of other scales (`results/small`) or archives (`theirs.zip`); `ConfigError` where
    there is none. In the ledger they are called as they are here, without results/; in names of
    files they are a digest.
    """
    results = {}
    for name in precomputed_scales():
        if name != scale:
            results[name] = OtherResults(name, PRECOMPUTED / name)
    for word in named:
        path = find_bundle("other_results", word)
        if path.resolve() in [PRECOMPUTED / name for name in precomputed_scales()]:
            continue  # they are listed already, or are this scale's own runs
        if path.resolve() == Path("results", scale).resolve():
            raise ConfigError(f"other_results '{word}': these are the results of {scale} itself")
        inside = path.parent == Path("results") and path.name not in results
        called = json_checksum(str(path)).removeprefix("sha256:")[:DIGITS]
        results[called] = OtherResults(path.name if inside else word, path)
    return results


# seconds that a run took which is drawn before longer ones: three of them fit into two minutes
SHORT = 40


@contextmanager
def open_records(path: str | None) -> Iterator[Store]:
    """Open the records of a scale's results or of a bundle; None: those that ship."""
    if path is None:
        yield shipped_store()
        return
    with archive.opened(find_bundle("audit_of", path)) as place:
        yield records_beside(place)


def recorded(runs: PlannedRuns, records: Store) -> list[str]:
    """List the runs of a plan that have a record there, and whose dataset is available."""
    found = []
    for digest, job in runs.jobs.items():
        if job.corpus not in runs.missing and digest in records:
            found.append(digest)
    return sorted(found)


class Audit:
    """What `snakemake audit` does under a config."""

    def __init__(self, setup: Setup, runs: PlannedRuns):
        self.runs = runs
        self.folder = setup.folder
        self.wanted = setup.config.audit
        self.of = setup.config.audit_of
        seed = setup.config.audit_seed
        self.seed = str(date.today() if seed is None else seed)

    @property
    def title(self) -> str:
        """Say which records are compared, and how they were drawn."""
        what = self.of or f"scale {self.folder}"
        if isinstance(self.wanted, int):
            return f"audit of {what}, drawn with seed {self.seed}"
        return f"audit of {what}, question {self.wanted}"

    @property
    def files(self) -> list[str]:
        """List the records that training again leaves; the workflow ends in a line where nothing
        can be drawn.
        """
        try:
            return [f"results/audit/{digest}/record.json" for digest in self.drawn]
        except (ConfigError, OSError) as error:
            raise SystemExit(f"config error: {explain(error)}") from None

    @cached_property
    def drawn(self) -> list[str]:
        """Draw so many runs, or take all of a question; `ConfigError` where none has a record.

        Those first that must be equal to the bit, the short ones before others, and among them as
        the seed has it: who names the seed chooses, not who made the records.
        """
        wanted = self.wanted
        with open_records(self.of) as records:
            found = recorded(self.runs, records)
            if isinstance(wanted, str):
                asked = self.runs.digests_of(wanted)
                found = [digest for digest in found if digest in asked]
                wanted = len(found)
            if not found:
                raise ConfigError("audit: no run of this config has a record there")
            random.Random(self.seed).shuffle(found)
            found.sort(key=lambda digest: _comes_late(records.read_raw(digest)))
            return found[:wanted]


def _comes_late(record) -> tuple[bool, bool]:
    """Say whether a run need not be equal, and whether it took long or failed.

    record: the JSON of its record, edited or not.
    """
    if not isinstance(record, dict):
        record = {}
    cost = record.get("cost") or {}
    seconds = float(cost.get("seconds", "inf"))
    return record.get("bits") != "portable", seconds > SHORT


OF_CONFIGURATIONS = ("flops", "memory", "longest_span")


class SharedMeasurements:
    """What is measured once, each named KIND/NAME. scale: its name. folder: under results/.
    measures: by task.
    """

    def __init__(self, runs: PlannedRuns, measures: dict[str, Measure], scale: str, folder: str):
        self.runs = runs
        self.measures = measures
        self.scale = scale
        self.folder = folder

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
        if self.runs.train == "nothing":
            return came
        return [name for name in came if self._lacks_nets(name)]

    def _lacks_nets(self, name: str) -> bool:
        """Say whether some of the nets that are measured are not trained here: the rest would pass
        for all of them.
        """
        kind, slug = name.split("/")
        if kind != "topic_borders":
            return False
        trained = self.runs.dynamic_nets(slug)
        return len(trained) < len(self.runs.dynamic_jobs(slug))

    def made_here(self, kind: str) -> list[str]:
        """List the folder of the scale, or the texts, for which this kind is measured here."""
        folder = f"{kind}/"
        names = []
        for name in self.settings:
            if name.startswith(folder) and name not in self.taken:
                names.append(name.removeprefix(folder))
        return names


class PrecomputedFiles:
    """What is taken from the project's shipped results, and what is measured here."""

    def __init__(self, shared: SharedMeasurements):
        self.shared = shared
        self.runs = shared.runs
        self.scale = shared.scale
        self.folder = shared.folder

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
        files += [f"results/{self.folder}/{file_of_scale(name)}" for name in self.shared.taken]
        return files

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
        with each output.
        """
        plan = f"results/{self.folder}/plan.json"
        if not Path(plan).exists():
            return [plan]
        gone = [digest for digest in self.runs.without_job_file if self.runs.is_precomputed(digest)]
        return [plan, *(f"results/runs/{digest}/job.json" for digest in gone)]

    @cached_property
    def missing(self) -> list[str]:
        """List the files that are not there yet. What is there is no output, for what came does not
        change.
        """
        return [file for file in self.files if not Path(file).exists()]
