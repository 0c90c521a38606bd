"""Name runs, configurations and groups for Snakemake: in messages, in names of files and in wildcards.

Snakemake formats a message with the job's wildcards, so a label is looked up by a format:
"{run_label:{wildcards.digest}}".
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable

from workflow.plan.plan import PlanRow
from workflow.plan.sources import DIGITS

LONGEST_NAME = 80  # of a file that is named after several ablations
DIGEST = "[0-9a-f]{12}"


class Label:
    """Formats a key as the words for it; one that is not of this plan stays as it is."""

    def __init__(self, rows: dict[str, list[PlanRow]], words: Callable[[list[PlanRow]], str]):
        self.rows, self.words = rows, words

    def __format__(self, key: str) -> str:
        return self.words(self.rows[key]) if key in self.rows else key


class Labels:
    """run: by digest, e.g. `adaptive, S = 128, seed 2 (span_limit)`; configuration: the same without a seed."""

    def __init__(self, rows: list[PlanRow]):
        by_digest, by_configuration = defaultdict(list), defaultdict(list)
        for row in rows:
            by_digest[row.job.digest].append(row)
            by_configuration[row.job.configuration].append(row)
        self.run = Label(by_digest, _describe_run)
        self.configuration = Label(by_configuration, _describe_configuration)


def _describe_run(rows: list[PlanRow]) -> str:
    return f"{_name_cell(rows[0])}, seed {rows[0].job.seed} ({_askers(rows)})"


def _describe_configuration(rows: list[PlanRow]) -> str:
    return f"{_name_cell(rows[0])} ({_askers(rows)})"


def _name_cell(row: PlanRow) -> str:
    """Variant, corpus, S and k."""
    grid = [f"{name} = {value}" for name, value in (("S", row.S), ("k", row.k)) if value is not None]
    return ", ".join([f"{row.variant} on {row.corpus}", *grid])


def _askers(rows: list[PlanRow]) -> str:
    """Name the ablations that ask for it."""
    names = list(dict.fromkeys(row.ablation for row in rows))
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def name_group(ablations: Iterable[str]) -> str:
    """Name a file for the configurations of these ablations; of many, the first, their number and a digest.

    >>> name_group(["span_limit", "limit"])
    'limit+span_limit'
    """
    names = sorted(ablations)
    name = "+".join(names)
    if len(name) <= LONGEST_NAME:
        return name
    return f"{names[0]}+{len(names) - 1}-{hashlib.sha256(name.encode()).hexdigest()[:DIGITS]}"


def digests(wanted: list[str], others: list[str]) -> str:
    """Return a regular expression for the wanted digests, from them or from all `others`, whichever are fewer.

    Snakemake reads it again for every file, so that a long one costs its length times the files.
    """
    return pattern(wanted) if len(wanted) <= len(others) else f"(?!{pattern(others)}){DIGEST}"


def pattern(names) -> str:
    """Return a regular expression for these names and nothing else."""
    return "|".join(map(re.escape, names)) or "(?!)"
