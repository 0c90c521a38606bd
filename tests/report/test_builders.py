"""What holds for every table and figure: it is built from any runs, and reads what it declares."""

from dataclasses import replace

import pandas as pd
import pytest

from tests._layers import layers
from tests._runs import all_frames, everything, failed, unscored
from workflow.config.studies import study_files
from workflow.plan.reads import MAPS, reads
from workflow.report.builders import builder_inputs, load_builder
from workflow.report.comparison import join
from workflow.report.tables.cells import COLUMNS
from workflow.results.registry import COSTS, OF_TEXTS
from workflow.results.runs_table import Frames

NONE = Frames(everything().head(0), layers().head(0))
FRAMES = {
    "good": all_frames(),
    "failed": all_frames(failed),
    "unscored": all_frames(unscored),
    "one seed": Frames(everything().query("seed == 1"), layers()),
    "none": NONE,
}
TABLES = study_files("tables")
FIGURES = study_files("figures")
BUILDERS = [("tables", name) for name in TABLES] + [("figures", name) for name in FIGURES]
ENTRIES = [(*builder, entry) for builder in BUILDERS for entry in reads(*builder)]


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("frames", FRAMES.values(), ids=FRAMES)
def test_every_table_is_built_from_good_failed_and_missing_runs(name, frames):
    cells = load_builder("tables", name).build(*builder_inputs("tables", name, frames))
    assert list(cells.columns) == COLUMNS
    assert not cells.duplicated(["row", "column"]).any()
    joined = join(cells)
    assert (joined["published_value"].notna() == joined["published"].notna()).all()
    if frames is NONE:
        assert not (cells["status"] == "failed").any()
    else:
        assert len(cells)


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("frames", FRAMES.values(), ids=FRAMES)
def test_every_figure_can_be_drawn(name, frames):
    builder = load_builder("figures", name)
    figure = builder.draw(builder.data(*builder_inputs("figures", name, frames)))
    figure.draw_without_rendering()
    assert figure.axes


def build(kind: str, name: str, frames: Frames) -> pd.DataFrame:
    """Return the cells of a table; the numbers behind a figure, which is drawn as well."""
    builder = load_builder(kind, name)
    inputs = builder_inputs(kind, name, frames)
    if kind == "tables":
        return builder.build(*inputs)
    numbers = builder.data(*inputs)
    builder.draw(numbers)
    if "runs" in reads(kind, name):
        builder.used(frames.runs)
    return numbers


def declared(kind: str, name: str, without: str | None = None) -> Frames:
    """Make frames that hold what READS names and no other cost.

    without: a cost, the maps, or all rows of a frame.
    """
    costs = [cost for cost in COSTS if cost in reads(kind, name) and cost != without]
    frames = all_frames(costs=costs)
    if without == MAPS:
        return replace(frames, runs=frames.runs.drop(columns=MAPS))
    if without in ("runs", "layers", *OF_TEXTS):
        return replace(frames, **{without: getattr(frames, without).head(0)})
    return frames


@pytest.mark.slow
@pytest.mark.parametrize("kind, name", BUILDERS)
def test_a_builder_stands_on_what_it_declares(kind, name):
    """A column of an undeclared cost is not there, and reading it fails."""
    found = build(kind, name, declared(kind, name))
    pd.testing.assert_frame_equal(found, build(kind, name, all_frames()))


@pytest.mark.slow
@pytest.mark.parametrize("kind, name, entry", ENTRIES)
def test_nothing_is_declared_that_is_not_read(kind, name, entry):
    complete = build(kind, name, declared(kind, name))
    try:
        reduced = build(kind, name, declared(kind, name, without=entry))
    except KeyError:
        return
    assert not reduced.equals(complete)
