"""What a wildcard of a rule may be."""

import re

DIGEST = "[0-9a-f]{12}"


def digests(wanted: list[str], others: list[str]) -> str:
    """Matches the digests that are wanted; `others` are all the rest: whichever list is shorter is written out.

    Snakemake reads the expression again for every file, so that a long one costs its length times the files.
    """
    return pattern(wanted) if len(wanted) <= len(others) else f"(?!{pattern(others)}){DIGEST}"


def pattern(names) -> str:
    """A regular expression that matches these names and nothing else."""
    return "|".join(map(re.escape, names)) or "(?!)"
