"""What a wildcard of a rule may be."""

import re


def pattern(names) -> str:
    """A regular expression that matches these names and nothing else."""
    return "|".join(map(re.escape, names)) or "(?!)"
