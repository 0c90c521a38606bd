"""What a run, a configuration or a job of the workflow is, in words, for messages.

Snakemake formats a message with the job's wildcards, so a label is looked up by a format: "{run:{wildcards.digest}}".
"""

from collections import defaultdict
from collections.abc import Callable

from workflow.plan.plan import PlanRow


class Label:
    """Formats a key as the words for it."""

    def __init__(self, words: Callable[[str], str]):
        self.words = words

    def __format__(self, key: str) -> str:
        return self.words(key)


class Labels:
    """run: by digest, e.g. `adaptive, S = 128, seed 2 (span_limit)`; configuration: the same without a seed."""

    def __init__(self, rows: list[PlanRow]):
        self._by_digest, self._by_configuration = defaultdict(list), defaultdict(list)
        for row in rows:
            self._by_digest[row.job.digest].append(row)
            self._by_configuration[row.job.configuration].append(row)
        self.run, self.configuration = Label(self._run), Label(self._configuration)

    def _run(self, digest: str) -> str:
        rows = self._by_digest[digest]
        return f"{describe(rows[0])}, seed {rows[0].job.seed} ({_askers(rows)})"

    def _configuration(self, configuration: str) -> str:
        rows = self._by_configuration[configuration]
        return f"{describe(rows[0])} ({_askers(rows)})"


def describe(row: PlanRow) -> str:
    """Variant, corpus, S and k."""
    grid = [f"{name} = {value}" for name, value in (("S", row.S), ("k", row.k)) if value is not None]
    return ", ".join([f"{row.variant} on {row.corpus}", *grid])


def _askers(rows: list[PlanRow]) -> str:
    """The ablations that ask for it."""
    names = list(dict.fromkeys(row.ablation for row in rows))
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
