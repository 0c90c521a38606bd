"""A value that could not be measured, with the reason, where a number would otherwise be."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Missing:
    """Stands in place of a number. reason: what pages and records say of it, in a few words."""

    reason: str
