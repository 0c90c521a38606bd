"""What a table or figure says it reads is what it reads: nothing else, and no less."""

from dataclasses import replace

import pandas as pd
import pytest

from tests._runs import all_frames
from workflow.config.studies import study_files
from workflow.plan.reads import MAPS, reads
from workflow.report.builders import builder_inputs, load_builder
from workflow.results.registry import COSTS, OF_TEXTS
from workflow.results.runs_table import Frames

BUILDERS = [(kind, name) for kind in ("tables", "figures") for name in study_files(kind)]
ENTRIES = [(*builder, entry) for builder in BUILDERS for entry in reads(*builder)]
FRAMES = ("runs", "layers", *OF_TEXTS)


def build(kind: str, name: str, frames: Frames) -> pd.DataFrame:
    """The cells of a table; the numbers behind a figure, which is drawn as well."""
    builder, inputs = load_builder(kind, name), builder_inputs(kind, name, frames)
    if kind == "tables":
        return builder.build(*inputs)
    numbers = builder.data(*inputs)
    builder.draw(numbers)
    if "runs" in reads(kind, name):
        builder.used(frames.runs)
    return numbers


def declared(kind: str, name: str, without: str | None = None) -> Frames:
    """Frames that hold what READS names and no other cost; `without`: a cost, the maps, or all rows
    of a frame.
    """
    costs = [cost for cost in COSTS if cost in reads(kind, name) and cost != without]
    frames = all_frames(costs=costs)
    if without == MAPS:
        frames = replace(frames, runs=frames.runs.drop(columns=MAPS))
    return Frames(
        *(getattr(frames, frame).head(0 if frame == without else None) for frame in FRAMES)
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind, name", BUILDERS)
def test_a_builder_stands_on_what_it_declares(kind, name):
    """A column of an undeclared cost is not there, and reading it fails."""
    pd.testing.assert_frame_equal(
        build(kind, name, declared(kind, name)), build(kind, name, all_frames())
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind, name, entry", ENTRIES)
def test_nothing_is_declared_that_is_not_read(kind, name, entry):
    complete = build(kind, name, declared(kind, name))
    try:
        reduced = build(kind, name, declared(kind, name, without=entry))
    except KeyError:
        return
    assert not reduced.equals(complete)
