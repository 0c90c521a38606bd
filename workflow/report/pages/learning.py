"""The learning curve of one run, for its page.

Written as SVG here and not drawn by matplotlib, which takes half a second: there is a page for every run.
"""

import math
from collections.abc import Sequence

from markupsafe import Markup
from matplotlib.ticker import MaxNLocator

from workflow.report.figures._colours import GREY, INK, shades
from workflow.report.figures._ticks import FEWEST, log_locator
from workflow.report.pages.numbers import number
from workflow.report.pages.site import embed_svg
from workflow.results.record import Record
from workflow.tasks.spec import TASKS

PART_OF_DEV = (
    "A point reads the part of dev that the scale gives to curves, the score in the tables what is scored after "
    "training: the last point may differ from it."
)
WIDTH, HEIGHT = 320, 180  # of a panel, in points
LEFT, RIGHT, TOP, BOTTOM = 52, 24, 12, 36  # around its axes
MARKED = 60  # points; more are a line alone
Line = tuple[str, str, list[tuple[float, float]]]  # label, colour, points


def draw_curve(record: Record) -> Markup:
    """The scores on train and dev, and the mean span where it was learned, against steps; nothing without a point."""
    if not record.curve:
        return Markup("")
    unit, label, scale = TASKS[record.job.task].curve
    of_splits = [
        (split, colour, _points(record, f"{split}_{unit}"))
        for split, colour in zip(("train", "dev"), shades(2), strict=True)
    ]
    spans = _points(record, "mean_span")
    panels = [_panel(of_splits, label, scale == "log")]
    if len(spans) == len(record.curve) and len({span for _, span in spans}) > 1:  # below each other, for a phone
        panels.append(_panel([("", INK, spans)], "mean span"))
    placed = [f'<g transform="translate(0 {number * HEIGHT})">{panel}</g>' for number, panel in enumerate(panels)]
    box = f"0 0 {WIDTH} {HEIGHT * len(panels)}"
    svg = f'<svg viewBox="{box}" font-size="9" font-family="DejaVu Sans, sans-serif">{"".join(placed)}</svg>'
    return embed_svg(svg, "curve")


def _points(record: Record, name: str) -> list[tuple[float, float]]:
    """Steps and values; those of a run that diverged may be no numbers."""
    values = [(point.step, getattr(point, name)) for point in record.curve]
    return [(step, value) for step, value in values if value is not None and math.isfinite(value)]


def _panel(lines: Sequence[Line], label: str, log: bool = False) -> str:
    """Axes with ticks, a grid, and the lines, whose labels stand above."""
    points = [point for _, _, line in lines for point in line if not log or point[1] > 0]
    across, up = (
        _Axis([x for x, _ in points], LEFT, WIDTH - RIGHT),
        _Axis([y for _, y in points], HEIGHT - BOTTOM, TOP, log),
    )
    floor, middle = HEIGHT - BOTTOM, (HEIGHT - BOTTOM + TOP) / 2
    parts = [_text(across.at(tick), floor + 12, number(tick), "middle") for tick in across.ticks]
    for tick in up.ticks:
        y = up.at(tick)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" style="stroke: #bbbbbb; stroke-width: .4"/>')
        parts.append(_text(LEFT - 5, y + 3, number(tick), "end"))
    parts.append(f'<path d="M{LEFT} {TOP}V{floor}H{WIDTH - RIGHT}" style="fill: none; stroke: {GREY.lower()}"/>')
    parts += [_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "step", "middle")]
    parts.append(f'<g transform="translate(11 {middle}) rotate(-90)">{_text(0, 0, label, "middle")}</g>')
    for place, (name, colour, line) in enumerate(lines):
        drawn = [(across.at(x), up.at(y)) for x, y in line if not log or y > 0]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in drawn)
        style = f"stroke: {colour.lower()}"
        parts.append(f'<polyline points="{path}" style="fill: none; {style}; stroke-width: 1.6"/>')
        if len(drawn) <= MARKED:
            parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.5" style="fill: {colour.lower()}"/>' for x, y in drawn]
        if name:
            x = WIDTH - RIGHT - 45 * (len(lines) - place)
            parts.append(f'<path d="M{x} 6h12" style="{style}; stroke-width: 1.6"/>' + _text(x + 15, 9, name, "start"))
    return "".join(parts)


class _Axis:
    """From values to places between `start` and `stop`, with ticks at round numbers."""

    def __init__(self, values: list[float], start: float, stop: float, log: bool = False):
        self.start, self.stop, self.log = start, stop, log
        low, high = min(values, default=0.0), max(values, default=1.0)
        room = 0.05 * (self._scaled(high) - self._scaled(low)) or 0.5
        self.low, self.high = self._scaled(low) - room, self._scaled(high) + room
        ends = (10**self.low, 10**self.high) if log else (self.low, self.high)
        found = (log_locator(*ends) if log else MaxNLocator(5, min_n_ticks=FEWEST)).tick_values(*ends)
        self.ticks = [float(tick) for tick in found if ends[0] <= tick <= ends[1]]

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def at(self, value: float) -> float:
        share = (self._scaled(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.stop - self.start)


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return str(Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(f"{x:.1f}", f"{y:.1f}", anchor, words))
