"""Every figure of the reports, drawn from the records that ship with the project, can be read."""

import io
import re
from collections.abc import Iterator
from itertools import combinations

import pytest
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from tests._records import SCALES, recorded
from workflow.report.builders import builder_inputs, describe_origin, load_builder
from workflow.report.figure_files import add_foot
from workflow.report.figures.colours import (
    DARK_PAPER,
    LIGHT_PAPER,
    MAP,
    PAGE,
    contrast,
    follow_page,
)
from workflow.report.figures.style import canvas, lay_out, set_log, share_legend
from workflow.report.pages.question import draw_figures
from workflow.settings.questions import known_questions, load_question
from workflow.tasks.spec import TASKS

COLOUR = re.compile(r"(fill|stroke|color|stop-color)(?:: |=\")([^;\"]+)")
# least contrast with the paper (WCAG 1.4.11 and 1.4.3)
LINES = 3.0
LETTERS = 4.5
MATHS = re.compile(r"\\[a-z]+|\$[^$]*[\\^_{][^$]*\$")
TOUCH = 1.0  # pixels by which two boxes may meet, or a letter reach over the edge


def drawn(scale: str) -> Iterator[tuple[str, object]]:
    """Draw what the report of a scale shows: names and figures."""
    frames = recorded(scale).frames
    asked = [name for name in known_questions() if name in set(frames.runs["question"])]
    for question in asked:
        for name in load_question(question).figures:
            builder = load_builder("figures", name)
            figure = builder.draw(builder.data(*builder_inputs("figures", name, frames)))
            used = builder.used(frames.runs) if "runs" in builder.READS else None
            origin, *_ = describe_origin(builder, frames, used)
            add_foot(figure, origin)
            yield name, figure
        runs = frames.runs[frames.runs["question"] == question]
        for drawing in draw_figures(runs, TASKS[load_question(question).task]):
            yield f"{drawing.name} of {question}", drawing.figure


def seen_texts(figure) -> list[Text]:
    """List the texts that are seen; matplotlib keeps labels of ticks that are out of view."""
    found = list(figure.texts)
    legends = list(figure.legends)
    for axes in figure.axes:
        if not axes.get_visible():
            continue
        legends.append(axes.get_legend())
        found += [axes.title, *axes.texts]
        if axes.axison:
            found += axis_texts(axes.xaxis) + axis_texts(axes.yaxis)
    for legend in filter(None, legends):
        found += [legend.get_title(), *legend.get_texts()]
    return [text for text in found if text.get_visible() and text.get_text().strip()]


def axis_texts(axis) -> list[Text]:
    texts = [axis.label, axis.offsetText]
    low, high = sorted(axis.get_view_interval())
    least = low - 1e-6 * abs(low)  # of a logarithmic axis too
    most = high + 1e-6 * abs(high)
    for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
        if least <= tick.get_loc() <= most:
            texts += [tick.label1, tick.label2]
    return texts


def overlap(a: Bbox, b: Bbox) -> bool:
    width = min(a.x1, b.x1) - max(a.x0, b.x0)
    height = min(a.y1, b.y1) - max(a.y0, b.y0)
    return width > TOUCH and height > TOUCH


def faults(figure) -> list[str]:
    """List what is wrong, each with the words that it is about; nothing for a good figure."""
    lay_out(figure)
    figure.draw_without_rendering()
    page = figure.bbox.padded(TOUCH)
    boxes = [(text.get_text(), text.get_window_extent()) for text in seen_texts(figure)]
    found = []
    for text, box in boxes:
        if MATHS.search(text):
            found.append(f"raw mathematics: {text}")
        if not all(page.contains(x, y) for x, y in box.corners()):
            found.append(f"cut by the edge: {text}")
    for (a, box_a), (b, box_b) in combinations(boxes, 2):
        if overlap(box_a, box_b):
            found.append(f"one over the other: {a} | {b}")
    file = io.StringIO()
    figure.savefig(file, format="svg")
    return found + pale(file.getvalue())


def pale(svg: str) -> list[str]:
    """List the colours that cannot be seen on light or on dark pages; maps keep their own."""
    page = re.sub(r"<image .*?/>", "", MAP.sub("", follow_page(svg)), flags=re.DOTALL)
    body = re.sub(r"<defs>.*?</defs>|<clipPath.*?</clipPath>", "", page, flags=re.DOTALL)
    found = set()
    for element, attributes in re.findall(r"<(\w+)([^>]*)>", body):
        least = LETTERS if element == "text" else LINES
        # of two declarations of a property the last holds
        last = dict(COLOUR.findall(attributes))
        found |= {colour for colour in last.values() if not is_seen(colour, least)}
    return sorted(f"cannot be seen on light or on dark: {colour}" for colour in found)


def is_seen(colour: str, least: float) -> bool:
    """Say whether a colour is seen on both papers; a colour that is only a name is not."""
    if colour == "none":
        return True
    named = re.fullmatch(r"var\(--(\w+)\)", colour)
    if named:  # a colour of the pages
        pair = PAGE[named[1]]
        least = 1 if named[1] == "line" else LINES
    else:
        pair = re.findall(r"#\w{6}", colour)
        if colour.startswith("#"):
            pair *= 2
    if len(pair) != 2:
        return False
    light, dark = pair
    return contrast(light, LIGHT_PAPER) >= least and contrast(dark, DARK_PAPER) >= least


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
def test_every_figure_of_the_report_can_be_read(scale):
    found = {name: faults(figure) for name, figure in drawn(scale)}
    assert not {name: lines for name, lines in found.items() if lines}


def test_a_good_figure_has_no_fault_and_each_is_found():
    figure, axes = canvas()
    axes.plot([1, 100, 10_000], [0.001, 0.1, 5000], color="#3f90da", label="fixed span")
    set_log(axes.xaxis)
    set_log(axes.yaxis)
    share_legend(figure)
    assert not faults(figure)
    axes.set_xlabel("$S^2$")
    for text in ("one", "two"):
        figure.text(0.99, 0.5, f"{text} over the edge")
    found = faults(figure)
    for start in ("raw mathematics: $", "cut by the edge: one", "one over the other: one"):
        assert any(line.startswith(start) for line in found), found
    assert pale('<path style="stroke: teal"/>')
    assert pale('<path stroke="#000000"/>')
