"""Every figure of the reports, drawn from the records that came with the project, looked at by
rule.
"""

import io
import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from matplotlib.colors import LogNorm

from tests._records import SCALES, recorded
from tests.report._pictures import faults, pale, words
from workflow.config.studies import study_files
from workflow.plan.questions import known_questions, load_question
from workflow.plan.scales import load_corpora
from workflow.report.builders import builder_inputs, describe_origin, load_builder
from workflow.report.figure_files import add_foot
from workflow.report.figures.style import as_svg, canvas, set_log, share_legend
from workflow.report.pages.question import draw_figures
from workflow.tasks.spec import TASKS

VARIANTS = [item for each in known_questions() for item in load_question(each).variants.items()]


def drawn(scale: str) -> Iterator[tuple[str, Callable]]:
    """(name, figure) of what the report of a scale shows."""
    frames = recorded(scale).frames
    asked = {
        name: load_question(name)
        for name in known_questions()
        if name in set(frames.runs["question"])
    }
    for name in dict.fromkeys(figure for question in asked.values() for figure in question.figures):
        builder = load_builder("figures", name)
        figure = builder.draw(builder.data(*builder_inputs("figures", name, frames)))
        used = builder.used(frames.runs) if "runs" in builder.READS else None
        add_foot(figure, describe_origin(builder, frames, used)[0])
        yield name, figure
    for name, question in asked.items():
        runs = frames.runs[frames.runs["question"] == name]
        for drawing in draw_figures(runs, TASKS[question.task]):
            yield f"{drawing.name} of {name}", drawing.figure


def names_within(texts: list[str]) -> list[str]:
    """Ids of datasets, variants and tasks that stand in a text where their titles should."""
    titles = dict.fromkeys(TASKS, "")
    for catalogue in map(load_corpora, TASKS):
        titles |= {name: catalogue.title(name) for name in catalogue.entries}
    titles |= {name: variant.label or name for name, variant in VARIANTS}
    ids = {name for name, title in titles.items() if name != title and len(name) > 1}
    known, found = sorted(filter(None, titles.values()), key=len, reverse=True), []
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
    return found


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
def test_every_figure_of_the_report_can_be_read(scale):
    found = {name: all_faults(figure) for name, figure in drawn(scale)}
    assert not {name: lines for name, lines in found.items() if lines}


def test_no_variant_is_shown_by_an_id():
    assert not [name for name, variant in VARIANTS if "_" in (variant.label or name)]


def raw(figure, axes):
    axes.plot([1, 1000], [1, 1000], color="#777777", label="fixed")
    axes.set_xlabel("$S^2$")
    axes.set_title("fixed, words for text8")


def hidden(figure, axes):
    for name in ("one", "two"):
        axes.plot([1, 2, 3], [1, 2, 1], label=name)
        axes.text(2, 1.2, f"a word {name}")
    axes.legend(loc="upper center")


def heap(figure, axes):
    for seed in range(3):
        axes.plot([1, 2, 3, 4], [seed, 2, 1, 0], label="a seed")


def small(figure, axes):
    axes.plot([1, 2], [1, 2], "o")
    axes.set_position((0.8, 0.4, 0.1, 0.05))
    figure.text(0.99, 0.5, "over the edge")


def misread(figure, axes):
    axes.plot([1, 2], [1, 2], "o")
    axes.plot([1.02, 3], [1, 3], "o")
    axes.annotate("8", (1, 1), (8, 0), textcoords="offset points", va="center")
    axes.annotate("1", (3, 3), (-20, -30), textcoords="offset points")
    axes.annotate("28", (3, 3), (-13, -30), textcoords="offset points")


def good(figure, axes):
    axes.plot([1, 100, 10_000], [0.001, 0.1, 5000], color="#3f90da", label="fixed span")
    axes.plot(
        [1, 100, 10_000],
        np.array([0.001, 0.1, 5000]) / 9,
        ls="--",
        color="#832db6",
        label="one of many words",
    )
    set_log(axes.xaxis)
    set_log(axes.yaxis)
    share_legend(figure)


@pytest.mark.parametrize(
    "draw, said",
    [
        (raw, {"raw mathematics: $", "an id: fixed", "an id: words"}),
        (hidden, {"under the legend: one", "hidden: one behind two", "one over the other: a word"}),
        (heap, {"nothing to see: lines in a heap"}),
        (
            small,
            {"nothing to see: too few", "axes cover", "2 ticks upwards", "cut by the edge: over"},
        ),
        (misread, {"nearer to another point: 8", "reads as one: 128"}),
        (good, set()),
    ],
)
def test_each_fault_that_a_figure_had_once_is_found(draw, said):
    figure, axes = canvas()
    draw(figure, axes)
    found = all_faults(figure)
    assert {start for start in said if any(line.startswith(start) for line in found)} == said, found
    assert said or not found


def test_a_colour_is_seen_on_light_and_on_dark():
    assert not pale('<path style="stroke: #92dadd"/><text style="fill: #1b1b1b"/>')
    assert pale('<path style="stroke: teal"/>') and pale('<path stroke="#000000"/>')


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
def test_no_share_in_a_table_is_beyond_all_or_below_nothing(scale):
    frames, shares = recorded(scale).frames, {}
    for name in study_files("tables"):
        builder = load_builder("tables", name)
        cells = builder.build(*builder_inputs("tables", name, frames))
        values = cells[cells["unit"] == "%"]["value"].dropna() if "value" in cells else []
        shares |= {
            f"{name} {place}": value for place, value in enumerate(values) if not 0 <= value <= 100
        }
    assert not shares


def of_base(base: float):
    def draw(figure, axes):
        axes.plot([1, 1000], [1 / 8, 1000])
        axes.set_xscale("log", base=base)
        axes.set_yscale("log", base=base)

    return draw


def minor(figure, axes):
    """Less than a power of ten: matplotlib labels some of the minor ticks."""
    axes.plot([2, 9], [2, 9])
    axes.set_xscale("log")


def negative(figure, axes):
    axes.plot([-1000, 1000], [0, 1])
    axes.set_xscale("symlog")


def shares(figure, axes):
    axes.plot([0.01, 0.999], [0, 1])
    axes.set_xscale("logit")


def bar(figure, axes):
    mesh = axes.imshow([[1, 10], [100, 1000]], norm=LogNorm())
    figure.colorbar(mesh)


def inside(figure, axes):
    within = axes.inset_axes((0.5, 0.5, 0.4, 0.4))
    within.plot([1, 1000], [1, 2])
    within.set_xscale("log")
    axes.plot([1, 1000], [1, 2])
    axes.set_xscale("log")
    axes.secondary_xaxis("top")


def by_hand(figure, axes):
    axes.plot([1e6, 2e6], [1e-9, 2e-9])
    axes.ticklabel_format(style="sci", scilimits=(0, 0), useMathText=True)


@pytest.mark.parametrize(
    "draw, labels",
    [
        (of_base(2), {"0.25", "1", "4", "16", "64", "256"}),
        (of_base(10), {"1", "10", "100", "1,000", "0.1"}),
        (of_base(4), {"1", "4", "16", "64", "256", "0.25"}),
        (minor, {"2", "3", "4", "6"}),
        (negative, {"−1,000", "−1", "0", "1", "1,000"}),
        (shares, {"0.01", "0.1", "0.5", "0.9", "0.99", "0.999"}),
        (bar, {"1", "10", "100", "1,000"}),
        (inside, {"1", "10", "100", "1,000"}),
        (by_hand, set()),
    ],
)
def test_ticks_are_plain_numbers_whatever_the_scale(draw, labels):
    figure, axes = canvas()
    draw(figure, axes)
    svg = as_svg(figure)
    assert "mathdefault" not in svg and "$" not in svg
    assert labels <= set(re.findall(r"<text[^>]*>([^<]*)</text>", svg))
