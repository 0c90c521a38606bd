"""Functions of a rule's wildcards, made from functions of the plan.

Snakemake calls a function with the wildcards of a job only once the job is due. So no job is looked
up that nobody asked for.
"""

from collections.abc import Callable


def of(wildcard: str, function: Callable) -> Callable:
    """Look up what `function` says of the value of one wildcard: `of("digest", runs.data_of)`."""

    def look_up(wildcards):
        return function(getattr(wildcards, wildcard))

    return look_up


def label_of(wildcard: str, function: Callable) -> Callable:
    """Look up a label, whose change makes nothing again: Snakemake sees that it takes `output`."""

    def look_up(wildcards, output):
        return function(getattr(wildcards, wildcard))

    return look_up


def later(function: Callable, *arguments) -> Callable:
    """Call a function of the plan with these arguments once a job is due."""

    def look_up(wildcards):
        return function(*arguments)

    return look_up
