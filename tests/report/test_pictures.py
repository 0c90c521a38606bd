"""Every figure of the reports, drawn from the records that came with the project, looked at by rule."""

import io
import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from tests._records import SCALES, recorded
from tests.report._pictures import faults, pale, words
from workflow.config.files import ROOT
from workflow.config.studies import study_files
from workflow.plan.ablations import known_ablations, load_ablation
from workflow.plan.scales import load_corpora
from workflow.report.builders import builder_inputs, describe_origin, load_builder
from workflow.report.figure_files import add_foot
from workflow.report.figures.style import canvas, plt, set_log, share_legend
from workflow.report.pages.ablation import draw_figures
from workflow.tasks.spec import TASKS

FAST = {"limit", "explicit_sparse_figure3", "aiayn_attention", "spans_at_borders"}  # one scale's, of each kind


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def drawn(scale: str, names: set[str] | None = None) -> Iterator[tuple[str, Callable]]:
    """(name, figure) of what the report of a scale shows; names: of these alone."""
    frames = recorded(scale).frames
    asked = {name: load_ablation(name) for name in known_ablations() if name in set(frames.runs["ablation"])}
    for name in dict.fromkeys(figure for ablation in asked.values() for figure in ablation.figures):
        if names is None or name in names:
            builder = load_builder("figures", name)
            figure = builder.draw(builder.data(*builder_inputs("figures", name, frames)))
            used = builder.used(frames.runs) if "runs" in builder.READS else None
            add_foot(figure, describe_origin(builder, frames, used)[0])
            yield name, figure
    for name, ablation in asked.items():
        if names is None or f"answer to {name}" in names:
            runs = frames.runs[frames.runs["ablation"] == name]
            for part, _, _, figure in draw_figures(runs, TASKS[ablation.task]):
                yield f"{part} of {name}", figure


def names_within(texts: list[str]) -> list[str]:
    """Ids of data sets, variants and tasks that stand in a text where their titles should."""
    titles = dict.fromkeys(TASKS, "")
    for task in TASKS:
        catalogue = load_corpora(task)
        titles |= {name: catalogue.title(name) for name in catalogue.entries}
    for each in known_ablations():
        titles |= {name: variant.label or name for name, variant in load_ablation(each).variants.items()}
    ids = {name for name, title in titles.items() if name != title and len(name) > 1}
    known = sorted({title for title in titles.values() if title}, key=len, reverse=True)
    found = []
    for text in texts:
        rest = text.replace("\n", " ")
        for title in known:
            rest = rest.replace(title, "")
        parts = {part.strip() for part in re.split(r"[,:;()]| for | not ", rest)}
        tokens = {token for token in re.split(r"[^\w-]+", rest) if not token.isalpha()}
        found += [f"an id: {name} in {text}" for name in ids & (parts | tokens)]
    return found


def all_faults(figure) -> list[str]:
    found = faults(figure)
    file = io.StringIO()
    figure.savefig(file, format="svg")
    found += pale(file.getvalue()) + names_within(words(figure))
    plt.close(figure)
    return found


def test_a_few_figures_of_the_report_can_be_read():
    found = {name: all_faults(figure) for name, figure in drawn(SCALES[0], FAST)}
    assert set(found) == FAST and not any(found.values()), found


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
def test_every_figure_of_the_report_can_be_read(scale):
    found = {name: all_faults(figure) for name, figure in drawn(scale)}
    assert not {name: lines for name, lines in found.items() if lines}


def test_no_variant_is_shown_by_an_id():
    shown = [
        variant.label or name for each in known_ablations() for name, variant in load_ablation(each).variants.items()
    ]
    assert not [name for name in shown if "_" in name]


def test_there_is_one_way_to_a_logarithmic_axis():
    """`style.set_log` and `set_powers`, whose labels are no mathematics."""
    own = re.compile(r"set_[xy]scale|semilog|loglog|LogLocator|LogFormatter")
    files = [path for folder in ("studies", "workflow") for path in (ROOT / folder).rglob("*.py")]
    with_own = {path.name for path in files if own.search(path.read_text(encoding="utf-8"))}
    assert with_own == {"style.py"}


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
def test_no_share_in_a_table_is_beyond_all_or_below_nothing(scale):
    frames, shares = recorded(scale).frames, {}
    for name in study_files("tables"):
        builder = load_builder("tables", name)
        cells = builder.build(*builder_inputs("tables", name, frames))
        values = cells[cells["unit"] == "%"]["value"].dropna() if "value" in cells else []
        shares |= {f"{name} {place}": value for place, value in enumerate(values) if not 0 <= value <= 100}
    assert not shares


def of(found: list[str], *starts: str) -> bool:
    return all(any(line.startswith(start) for line in found) for start in starts)


def test_what_is_wrong_is_found():
    """Each fault that a figure had once, made again."""
    figure, axes = canvas()
    axes.plot([1, 1000], [1, 1000], color="#777777", label="fixed")
    axes.set_xscale("log")
    axes.set_title("fixed, words for text8")
    found = all_faults(figure)
    assert of(found, "raw mathematics: $", "an id: fixed", "an id: words")
    figure, axes = canvas()
    for name in ("one", "two"):
        axes.plot([1, 2, 3], [1, 2, 1], label=name)
    axes.legend(loc="upper center")
    axes.text(2, 1.2, "a word")
    axes.text(2, 1.2, "another word")
    found = faults(figure)
    assert of(found, "under the legend: one", "hidden: one behind two", "one over the other: a word")
    figure, axes = canvas()
    for seed in range(3):
        axes.plot([1, 2, 3, 4], [seed, 2, 1, 0], label="a seed")
    assert of(faults(figure), "nothing to see: lines in a heap")
    figure, axes = canvas()
    axes.plot([1, 2], [1, 2], "o")
    assert of(faults(figure), "nothing to see: too few")
    figure, axes = canvas(height=1.2)
    axes.set_position((0.8, 0.4, 0.1, 0.1))
    figure.text(0.99, 0.5, "over the edge")
    assert of(faults(figure), "axes cover", "cut by the edge: over")


def test_names_of_points_that_are_misread_are_found():
    figure, axes = canvas()
    axes.plot([1, 2], [1, 2], "o")
    axes.plot([1.02, 3], [1, 3], "o")
    axes.annotate("8", (1, 1), (8, 0), textcoords="offset points", va="center")
    axes.annotate("1", (3, 3), (-20, -30), textcoords="offset points")
    axes.annotate("28", (3, 3), (-13, -30), textcoords="offset points")
    assert of(faults(figure), "nearer to another point: 8", "reads as one: 128")


def test_a_good_figure_has_no_fault():
    figure, axes = canvas()
    axes.plot([1, 100, 10_000], [0.001, 0.1, 5000], color="#3f90da", label="fixed span")
    axes.plot([1, 100, 10_000], np.array([0.001, 0.1, 5000]) / 9, ls="--", color="#832db6", label="one of many words")
    set_log(axes.xaxis)
    set_log(axes.yaxis)
    share_legend(figure)
    assert not all_faults(figure)


def test_a_colour_is_seen_on_light_and_on_dark():
    assert not pale('<path style="stroke: #92dadd"/><text style="fill: #1b1b1b"/>')
    assert pale('<path style="stroke: teal"/>') and pale('<path stroke="#000000"/>')
