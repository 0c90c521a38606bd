"""Every figure of the reports, drawn from the records that ship with the project, by rule."""

import io
import re
from collections.abc import Iterator

import pytest

from tests._records import SCALES, recorded
from tests.report._pictures import faults, pale, words
from workflow.config.studies import study_files
from workflow.report.builders import builder_inputs, describe_origin, load_builder
from workflow.report.figure_files import add_foot
from workflow.report.figures.style import canvas, set_log, share_legend
from workflow.report.pages.question import draw_figures
from workflow.settings.questions import known_questions, load_question
from workflow.tasks.spec import TASKS, load_corpora

VARIANTS = [item for each in known_questions() for item in load_question(each).variants.items()]


def drawn(scale: str) -> Iterator[tuple[str, object]]:
    """Draw what the report of a scale shows: names and figures."""
    frames = recorded(scale).frames
    asked = [name for name in known_questions() if name in set(frames.runs["question"])]
    names = [figure for question in asked for figure in load_question(question).figures]
    for name in dict.fromkeys(names):
        builder = load_builder("figures", name)
        figure = builder.draw(builder.data(*builder_inputs("figures", name, frames)))
        used = builder.used(frames.runs) if "runs" in builder.READS else None
        add_foot(figure, describe_origin(builder, frames, used)[0])
        yield name, figure
    for name in asked:
        runs = frames.runs[frames.runs["question"] == name]
        for drawing in draw_figures(runs, TASKS[load_question(name).task]):
            yield f"{drawing.name} of {name}", drawing.figure


def names_within(texts: list[str]) -> list[str]:
    """List ids of datasets, variants and tasks that are in a text where titles should be."""
    titles = dict.fromkeys(TASKS, "")
    for catalogue in map(load_corpora, TASKS):
        titles |= {name: catalogue.title(name) for name in catalogue.entries}
    titles |= {name: variant.label or name for name, variant in VARIANTS}
    ids = {name for name, title in titles.items() if name != title}
    ids = {name for name in ids if len(name) > 1}
    longest_first = sorted(filter(None, titles.values()), key=len, reverse=True)
    found = []
    for text in texts:
        rest = text.replace("\n", " ")
        for title in longest_first:
            rest = rest.replace(title, "")
        parts = {part.strip() for part in re.split(r"[,:;()]| for | not ", rest)}
        tokens = {token for token in re.split(r"[^\w-]+", rest) if not token.isalpha()}
        found += [f"an id: {name} in {text}" for name in ids & (parts | tokens)]
    return found


def all_faults(figure) -> list[str]:
    found = faults(figure)
    file = io.StringIO()
    figure.savefig(file, format="svg")
    return found + pale(file.getvalue()) + names_within(words(figure))


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
def test_every_figure_of_the_report_can_be_read(scale):
    found = {name: all_faults(figure) for name, figure in drawn(scale)}
    assert not {name: lines for name, lines in found.items() if lines}


def raw(figure, axes):
    axes.plot([1, 1000], [1, 1000], color="#777777", label="fixed")
    axes.set_xlabel("$S^2$")
    axes.set_title("fixed, words for text8")


def covered(figure, axes):
    for name in ("one", "two"):
        axes.plot([1, 2, 3], [1, 2, 1], label=name)
        axes.text(2, 1.2, f"a word {name}")
    axes.legend(loc="upper center")


def cut(figure, axes):
    axes.plot([1, 2], [1, 2], "o")
    axes.set_position((0.8, 0.4, 0.1, 0.05))
    figure.text(0.99, 0.5, "over the edge")


def good(figure, axes):
    axes.plot([1, 100, 10_000], [0.001, 0.1, 5000], color="#3f90da", label="fixed span")
    set_log(axes.xaxis)
    set_log(axes.yaxis)
    share_legend(figure)


@pytest.mark.parametrize(
    "draw, expected",
    [
        (raw, {"raw mathematics: $", "an id: fixed", "an id: words"}),
        (covered, {"under the legend: one", "one over the other: a word"}),
        (cut, {"2 ticks upwards", "cut by the edge: over"}),
        (good, set()),
    ],
)
def test_each_fault_is_found(draw, expected):
    figure, axes = canvas()
    draw(figure, axes)
    found = all_faults(figure)
    for start in expected:
        assert any(line.startswith(start) for line in found), found
    assert expected or not found


def test_a_colour_is_seen_on_light_and_on_dark():
    assert not pale('<path style="stroke: #92dadd"/><text style="fill: #1b1b1b"/>')
    assert pale('<path style="stroke: teal"/>')
    assert pale('<path stroke="#000000"/>')


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
def test_no_share_in_a_table_is_beyond_all_or_below_nothing(scale):
    frames = recorded(scale).frames
    for name in study_files("tables"):
        cells = load_builder("tables", name).build(*builder_inputs("tables", name, frames))
        shares = cells[cells["unit"] == "%"]["value"].dropna()
        assert shares.between(0, 100).all(), name
