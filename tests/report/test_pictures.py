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
from workflow.results.runs_table import Frames
from workflow.settings.questions import known_questions, load_question
from workflow.tasks.spec import TASKS

COLOUR = re.compile(r"(fill|stroke|color|stop-color)(?:: |=\")([^;\"]+)")
UNSEEN = re.compile(
    r"<image .*?/>|<defs>.*?</defs>|<clipPath.*?</clipPath>",
    flags=re.DOTALL,
)
# least contrast with the paper (WCAG 1.4.11 and 1.4.3)
LINES = 3.0
LETTERS = 4.5
MATHS = re.compile(r"\\[a-z]+|\$[^$]*[\\^_{][^$]*\$")
TOUCH = 1.0  # pixels by which two boxes may meet, or a letter reach over the edge


def drawn(scale: str) -> Iterator[tuple[str, object]]:
    """Draw what the report of a scale shows: names and figures."""
    frames = recorded(scale).frames
    by_question = dict(list(frames.runs.groupby("question")))
    for name in known_questions():
        if name not in by_question:
            continue
        question = load_question(name)
        for figure in question.figures:
            yield figure, with_foot(figure, frames)
        task = TASKS[question.task]
        for drawing in draw_figures(by_question[name], task):
            yield f"{drawing.name} of {name}", drawing.figure


def with_foot(name: str, frames: Frames):
    """Draw a figure of a study, with its origin below."""
    builder = load_builder("figures", name)
    inputs = builder_inputs("figures", name, frames)
    data = builder.data(*inputs)
    figure = builder.draw(data)
    used = None
    if "runs" in builder.READS:
        used = builder.used(frames.runs)
    origin, *_ = describe_origin(builder, frames, used)
    add_foot(figure, origin)
    return figure


def seen_texts(figure) -> list[Text]:
    """List the texts that are seen; matplotlib keeps labels of ticks that are out of view."""
    found = list(figure.texts)
    legends = list(figure.legends)
    for axes in figure.axes:
        if not axes.get_visible():
            continue
        legends.append(axes.get_legend())
        found.append(axes.title)
        found += axes.texts
        if axes.axison:
            found += axis_texts(axes.xaxis)
            found += axis_texts(axes.yaxis)
    for legend in filter(None, legends):
        found.append(legend.get_title())
        found += legend.get_texts()
    seen = []
    for text in found:
        if text.get_visible() and text.get_text().strip():
            seen.append(text)
    return seen


def axis_texts(axis) -> list[Text]:
    texts = [axis.label, axis.offsetText]
    low, high = sorted(axis.get_view_interval())
    # of a logarithmic axis too
    least = low - 1e-6 * abs(low)
    most = high + 1e-6 * abs(high)
    ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
    for tick in ticks:
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
    boxes = []
    found = []
    for seen in seen_texts(figure):
        text = seen.get_text()
        box = seen.get_window_extent()
        boxes.append((text, box))
        if MATHS.search(text):
            found.append(f"raw mathematics: {text}")
        is_inside = page.containsx(box.x0) and page.containsx(box.x1)
        is_inside &= page.containsy(box.y0) and page.containsy(box.y1)
        if not is_inside:
            found.append(f"cut by the edge: {text}")
    for (a, box_a), (b, box_b) in combinations(boxes, 2):
        if overlap(box_a, box_b):
            found.append(f"one over the other: {a} | {b}")
    file = io.StringIO()
    figure.savefig(file, format="svg")
    return found + pale(file.getvalue())


def pale(svg: str) -> list[str]:
    """List the colours that cannot be seen on light or on dark pages; maps keep their own.

    A mark may be filled with the colour of the page, or edged with it, if its other colour is seen.
    """
    body = MAP.sub("", follow_page(svg))
    body = UNSEEN.sub("", body)
    found = set()
    for element, attributes in re.findall(r"<(\w+)([^>]*)>", body):
        least = LETTERS if element == "text" else LINES
        # of two declarations of a property the last holds
        last = dict(COLOUR.findall(attributes))
        colours = {colour for colour in last.values() if colour != "none"}
        if len(colours) > 1 and element != "text":
            colours.discard("var(--paper)")
        for colour in colours:
            if not is_seen(colour, least):
                found.add(colour)
    return sorted(f"cannot be seen on light or on dark: {colour}" for colour in found)


def is_seen(colour: str, least: float) -> bool:
    """Say whether a colour is seen on both papers; a colour that is only a name is not."""
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
    on_light = contrast(light, LIGHT_PAPER)
    on_dark = contrast(dark, DARK_PAPER)
    return min(on_light, on_dark) >= least


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
def test_every_figure_of_the_report_can_be_read(scale):
    found = {}
    for name, figure in drawn(scale):
        lines = faults(figure)
        if lines:
            found[name] = lines
    assert not found


def test_a_good_figure_has_no_fault_and_each_is_found():
    figure, axes = canvas()
    axes.plot(
        [1, 100, 10_000],
        [0.001, 0.1, 5000],
        color="#3f90da",
        label="fixed span",
    )
    set_log(axes.xaxis)
    set_log(axes.yaxis)
    share_legend(figure)
    assert not faults(figure)
    axes.set_xlabel("$S^2$")
    for text in ("one", "two"):
        figure.text(0.99, 0.5, f"{text} over the edge")
    found = "\n".join(faults(figure))
    assert "raw mathematics: $" in found
    assert "cut by the edge: one" in found
    assert "one over the other: one" in found
    assert pale('<path style="stroke: teal"/>')
    assert pale('<path stroke="#000000"/>')
