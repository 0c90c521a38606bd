"""Tables and figures by name: their modules, and the frames that each names in `READS`."""

import pandas as pd

from workflow.config.errors import ConfigError
from workflow.config.studies import load_module, study_file
from workflow.plan.reads import FRAMES, reads
from workflow.results.datasets import name_badges
from workflow.results.runs_table import Frames, describe_runs


def load_builder(kind: str, name: str):
    """Import the module of a table or figure. kind: tables | figures."""
    return load_module(study_file(kind, name))


def builder_inputs(kind: str, name: str, frames: Frames) -> list[pd.DataFrame]:
    """Return the frames that a table or figure takes: those that its module names in `READS`."""
    inputs = []
    for frame in FRAMES:
        if frame in reads(kind, name):
            if getattr(frames, frame) is None:
                raise ConfigError(
                    f"{kind.removesuffix('s')} {name}: reads {frame}, but none were given"
                )
            inputs.append(getattr(frames, frame))
    return inputs


def describe_origin(builder, frames: Frames, used: pd.DataFrame | None) -> tuple[str, list[str]]:
    """Say in a line where the numbers of a table or figure come from, and list their commits.

    used: the runs that it uses.
    """
    if hasattr(builder, "origin"):  # its numbers are of layers, which belong to no run
        return builder.origin(frames.layers), builder.commits(frames.layers)
    if used is None or not len(used):
        return describe_runs(pd.DataFrame()), []
    commits = sorted(used["commit"].unique())
    return describe_runs(used, name_badges(used)), commits
