"""Draw the runs that `snakemake audit` trains again, to compare them with their records."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from functools import cached_property

from workflow.config.command_line import explain
from workflow.config.errors import ConfigError
from workflow.plan.other_results import find_bundle
from workflow.plan.planned_runs import PlannedRuns
from workflow.results import archive
from workflow.results.store import Store, records_beside, shipped_store
from workflow.settings.config import Setup

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
        if seed is None:
            seed = date.today()
        self.seed = str(seed)

    @property
    def title(self) -> str:
        """Say which records are compared, and how they were drawn."""
        what = self.of or f"scale {self.folder}"
        if isinstance(self.wanted, int):
            return f"audit of {what}, drawn with seed {self.seed}"
        return f"audit of {what}, question {self.wanted}"

    @property
    def files(self) -> list[str]:
        """List the records that training again leaves.

        The workflow ends in a line where nothing can be drawn.
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
        with open_records(self.of) as records:
            found = recorded(self.runs, records)
            number = self.wanted
            if isinstance(self.wanted, str):
                asked = self.runs.digests_of(self.wanted)
                found = [digest for digest in found if digest in asked]
                number = len(found)
            if not found:
                raise ConfigError("audit: no run of this config has a record there")
            random.Random(self.seed).shuffle(found)
            found.sort(key=lambda digest: _comes_late(records.read_raw(digest)))
            return found[:number]


def _comes_late(record) -> tuple[bool, bool]:
    """Say whether a run need not be equal, and whether it took long or failed.

    record: the JSON of its record, edited or not.
    """
    if not isinstance(record, dict):
        record = {}
    cost = record.get("cost") or {}
    seconds = float(cost.get("seconds", "inf"))
    return record.get("bits") != "portable", seconds > SHORT
