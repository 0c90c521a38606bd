"""The figures of a card: its strips, what it costs, scores over length, runs that failed."""

import math
import textwrap
from dataclasses import dataclass, field

import pandas as pd
from matplotlib.figure import Figure as Drawn

from workflow.cards.card import Card, CardPart, Failed
from workflow.report.answers.lines import MARKS
from workflow.report.figures.colours import COLOURS, GREY, shades
from workflow.report.figures.marks import shows
from workflow.report.figures.style import (
    LETTERS,
    WIDTH,
    canvas,
    fold,
    place_names,
    set_log,
    set_powers,
    share_legend,
)
from workflow.report.pages.card_words import (
    form_of_effect,
    in_margins,
    models_of,
    name_known,
    say_difference,
    say_interval,
    write_ratio,
)
from workflow.results.numbers import MINUS
from workflow.tasks.spec import TASKS

OURS = COLOURS["adaptive"]
THIS = "this variant"
COSTS = {"macs": "MACs", "memory": "memory", "train": "training", "predict": "prediction"}
ROW = 0.42  # inches of a part: its title, and its marks below
LEAST_EDGE = 2.5  # margins left and right of no difference that a strip reaches at least
MOST_EDGE = 10.0  # and at most
RATIOS = (0.5, 2.0)  # that an axis of ratios reaches at least
MOST_TICKS = 7
# The costs that quality may be drawn over, and how far from the baseline's one of them must be.
LEAST_CHANGE = {"macs": 0.1, "train": 0.01}
STEEP = 20  # times the least loss from which on losses have a logarithmic axis


@dataclass(frozen=True)
class Marks:
    """A drawing with what its marks say. rows: of numbers, one for each mark, added one by one."""

    drawing: Drawn
    rows: list[dict] = field(default_factory=list)

    def tell(self, drawn, **row) -> None:
        """Let a mark say these values when it is pointed at."""
        shows(drawn, [len(self.rows)])
        self.rows.append(row)

    @property
    def numbers(self) -> pd.DataFrame:
        """Return what the marks say, a row for each."""
        return pd.DataFrame(self.rows)


def is_significant(each: CardPart) -> bool:
    """Say whether a difference is significant after correction."""
    return each.comparison.verdict in ("better", "worse")


# --- differences -----------------------------------------------------------------------------


def draw_strips(card: Card) -> Marks | None:
    """Draw a strip for each part that is compared, in margins of no difference."""
    parts = [each for each in card.parts if each.comparison]
    if not parts:
        return None
    figure, axes = canvas(height=0.75 + ROW * len(parts))
    marks = Marks(figure)
    edge = _edge(parts)
    axes.plot([], [], "o-", color=OURS, lw=2, label=THIS)
    axes.axvspan(-1, 1, color=GREY, alpha=0.15, lw=0, label="within the margin")
    axes.axvline(0, color=GREY, lw=1, ls=":", label="baseline")
    for place, each in enumerate(parts):
        _title_row(axes, place, each.part.title)
        _draw_known(marks, axes, place, each, edge)
        _draw_effect(marks, axes, place, each, edge)
    axes.set_xlim(-1.03 * edge, 1.03 * edge)
    axes.set_xticks(_ticks(edge))
    axes.xaxis.set_major_formatter(lambda tick, _: f"{tick:g}".replace("-", MINUS))
    _set_rows(axes, len(parts))
    axes.set_xlabel("worse  ←  margins of no difference  →  better")
    share_legend(figure)
    return marks


def _edge(parts: list[CardPart]) -> float:
    """Find how many margins a strip reaches: to the ends of all intervals, within limits."""
    ends = []
    for each in parts:
        ends += [in_margins(each, each.comparison.low), in_margins(each, each.comparison.high)]
    farthest = 1.1 * max(map(abs, ends))
    return min(MOST_EDGE, max(LEAST_EDGE, farthest))


def _ticks(edge: float) -> list[int]:
    """List whole margins on both sides of 0, a few of them."""
    step = next(step for step in (1, 2, 5) if edge / step < 4 or step == 5)
    reach = step * int(edge / step)
    return list(range(-reach, reach + 1, step))


def _title_row(axes, place: int, title: str) -> None:
    """Write the title of a row above its marks, so that these have the width of the panel."""
    axes.annotate(
        textwrap.shorten(title, int(LETTERS * WIDTH) - 3, placeholder="…"),
        (0, place - 0.2),
        xycoords=("axes fraction", "data"),
        va="bottom",
        annotation_clip=False,
    )


def _set_rows(axes, rows: int) -> None:
    axes.set_ylim(rows - 0.65, -0.75)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def _draw_known(marks: Marks, axes, place: int, each: CardPart, edge: float) -> None:
    form = form_of_effect(each)
    for known in each.known:
        at = _clip(in_margins(each, known.difference), edge)
        line = axes.plot(
            at, place, "|", color=GREY, ms=9, alpha=0.7, zorder=1, label="known variants"
        )
        marks.tell(
            line,
            label=name_known(known.choice, each.against),
            part=each.part.title,
            difference=say_difference(each, known.difference, form),
            seeds=known.seeds,
        )


def _draw_effect(marks: Marks, axes, place: int, each: CardPart, edge: float) -> None:
    """Draw the difference with its interval; an end beyond the edge is an arrow."""
    compared = each.comparison
    low, high = sorted((in_margins(each, compared.low), in_margins(each, compared.high)))
    axes.plot([_clip(low, edge), _clip(high, edge)], [place, place], color=OURS, lw=2)
    if low < -edge:
        axes.plot(-edge, place, "<", color=OURS, ms=6)
    if high > edge:
        axes.plot(edge, place, ">", color=OURS, ms=6)
    difference = in_margins(each, compared.difference)
    look = _look(each)
    if abs(difference) > edge:
        look["marker"] = ">" if difference > 0 else "<"
    line = axes.plot(_clip(difference, edge), place, ls="", **look)
    form = form_of_effect(each)
    marks.tell(
        line,
        label=THIS,
        part=each.part.title,
        difference=say_difference(each, compared.difference, form),
        interval=say_interval(each, form),
        seeds=len(each.ours),
    )


def _clip(value: float, edge: float) -> float:
    return max(-edge, min(edge, value))


def _look(each: CardPart) -> dict:
    """Fill the mark of a difference that is significant."""
    filling = OURS if is_significant(each) else "white"
    return {"marker": "o", "color": OURS, "markerfacecolor": filling, "ms": 6}


# --- costs -----------------------------------------------------------------------------------


def draw_costs(card: Card) -> Marks | None:
    """Draw the ratios of costs, a row for each part with a model of its own."""
    rows = [each for each in models_of(card.parts) if any(vars(each.costs).values())]
    names = measured_costs(card)
    if not rows:
        return None
    figure, axes = canvas(height=0.75 + ROW * len(rows))
    marks = Marks(figure)
    axes.axvline(1, color=GREY, lw=1, ls=":", label="baseline")
    drawn = []
    looks = _looks()
    for place, each in enumerate(rows):
        _title_row(axes, place, each.part.title)
        for number, name in enumerate(names):
            ratio = getattr(each.costs, name)
            if not ratio:
                continue
            # equal ratios are seen one below the other
            shift = 0.08 + 0.08 * (number - (len(names) - 1) / 2)
            line = axes.plot(ratio, place + shift, ls="", label=COSTS[name], **looks[name])
            marks.tell(line, part=each.part.title, cost=COSTS[name], ratio=f"{write_ratio(ratio)}×")
            drawn.append(ratio)
    _set_ratios(axes.xaxis, drawn)
    _set_rows(axes, len(rows))
    axes.set_xlabel("cheaper  ←  ratio to the baseline  →  costlier")
    share_legend(figure)
    return marks


def _looks() -> dict[str, dict]:
    """Give each cost a mark and a colour."""
    looks = {}
    for name, colour, symbol in zip(COSTS, shades(len(COSTS)), MARKS, strict=False):
        looks[name] = {"marker": symbol, "color": colour, "ms": 5}
    return looks


def draw_limits(card: Card) -> Marks | None:
    """Draw ratios of costs over the limit S, of the first part where they were measured."""
    parts = [part for part in card.parts if any(at.macs or at.memory for at in part.limits)]
    if not parts:
        return None
    each = parts[0]
    figure, axes = canvas(height=2.9)
    marks = Marks(figure)
    axes.axhline(1, color=GREY, lw=1, ls=":", label="baseline")
    drawn = []
    looks = _looks()
    for name in ("macs", "memory"):
        points = [point for point in each.limits if getattr(point, name)]
        if not points:
            continue
        ratios = [getattr(point, name) for point in points]
        line = axes.plot([point.S for point in points], ratios, label=COSTS[name], **looks[name])
        start = len(marks.rows)
        for point, ratio in zip(points, ratios, strict=True):
            marks.rows.append(
                {"cost": COSTS[name], "S": point.S, "ratio": f"{write_ratio(ratio)}×"}
            )
        shows(line, range(start, len(marks.rows)))
        drawn += ratios
    set_powers(axes.xaxis, {point.S: f"{point.S}" for point in each.limits})
    _set_ratios(axes.yaxis, drawn)
    axes.set_xlabel("limit S")
    axes.set_ylabel("ratio to the baseline")
    share_legend(figure)
    return marks


def measured_costs(card: Card) -> list[str]:
    """List the costs that are measured on any part."""
    return [name for name in COSTS if any(getattr(each.costs, name) for each in card.parts)]


def _set_ratios(axis, ratios: list[float]) -> None:
    """Give an axis a scale of powers of two around 1, with few ticks."""
    least = min(RATIOS[0], min(ratios) / 1.2)
    most = max(RATIOS[1], max(ratios) * 1.2)
    powers = list(range(math.ceil(math.log2(least)), math.floor(math.log2(most)) + 1))
    step = math.ceil(len(powers) / MOST_TICKS)
    shown = [power for power in powers if power % step == 0]
    set_powers(axis, {2.0**power: f"{2.0**power:g}×" for power in shown})
    set_limits = getattr(axis.axes, f"set_{axis.axis_name}lim")
    set_limits(least, most)


def draw_quality(card: Card) -> Marks | None:
    """Draw differences over a cost that differs from the baseline's; None where none does."""
    parts = [each for each in card.parts if each.comparison]
    for cost, least in LEAST_CHANGE.items():
        shown = [each for each in parts if getattr(each.costs, cost)]
        if any(abs(getattr(each.costs, cost) - 1) > least for each in shown):
            return _draw_quality(shown, cost)
    return None


def _draw_quality(parts: list[CardPart], cost: str) -> Marks:
    figure, axes = canvas(height=2.9)
    marks = Marks(figure)
    edge = _edge(parts)
    axes.plot([], [], "o", color=OURS, label=THIS)
    axes.axhspan(-1, 1, color=GREY, alpha=0.15, lw=0, label="within the margin")
    # not lines of the axes, whose ends would push the names of points away
    axes.vlines(1, -2 * edge, 2 * edge, color=GREY, lw=1, ls=":", label="baseline")
    axes.hlines(0, 1e-3, 1e3, color=GREY, lw=1, ls=":")
    drawn = []
    for each in parts:
        if cost == "macs":
            drawn += _draw_known_costs(marks, axes, each, edge)
        ratio = getattr(each.costs, cost)
        difference = in_margins(each, each.comparison.difference)
        look = _look(each)
        if abs(difference) > edge:
            look["marker"] = "^" if difference > 0 else "v"
        line = axes.plot(ratio, _clip(difference, edge), ls="", **look)
        axes.annotate(
            textwrap.shorten(each.part.title, 24, placeholder="…"),
            (ratio, _clip(difference, edge)),
            (0, 0),  # until names are placed
            textcoords="offset points",
        )
        size = say_difference(each, each.comparison.difference, form_of_effect(each))
        of_cost = {COSTS[cost]: f"{write_ratio(ratio)}×"}
        marks.tell(line, label=THIS, part=each.part.title, difference=size, **of_cost)
        drawn.append(ratio)
    _set_ratios(axes.xaxis, drawn)
    axes.set_ylim(-1.1 * edge, 1.1 * edge)
    axes.set_yticks(_ticks(edge))
    axes.set_xlabel(f"{COSTS[cost]}{' time' * (cost == 'train')}, ratio to the baseline")
    axes.set_ylabel("difference in margins, up is better")
    share_legend(figure)
    place_names(figure)
    return marks


def _draw_known_costs(marks: Marks, axes, each: CardPart, edge: float) -> list[float]:
    """Draw the known variants whose MACs were counted, and return the ratios of these."""
    drawn = []
    form = form_of_effect(each)
    for known in each.known:
        if known.macs is None:
            continue
        at = _clip(in_margins(each, known.difference), edge)
        style = {"color": GREY, "ms": 4, "alpha": 0.6, "zorder": 1}
        line = axes.plot(known.macs, at, ".", label="known variants", **style)
        marks.tell(
            line,
            label=name_known(known.choice, each.against),
            part=each.part.title,
            difference=say_difference(each, known.difference, form),
            MACs=f"{write_ratio(known.macs)}×",
        )
        drawn.append(known.macs)
    return drawn


# --- over length -----------------------------------------------------------------------------


def draw_lengths(card: Card) -> Marks | None:
    """Draw the score over the task's condition, a colour for each corpus that has it."""
    parts = [each for each in models_of(card.parts) if each.lengths]
    if not parts:
        return None
    first = parts[0]
    parts = [each for each in parts if each.score == first.score]
    figure, axes = canvas(height=2.9)
    marks = Marks(figure)
    axes.plot([], [], "-", color=GREY, label=THIS)
    axes.plot([], [], ":", color=GREY, label="baseline")
    every = set()
    for each, colour, symbol in zip(parts, shades(len(parts)), MARKS, strict=False):
        for name, style in (("ours", "-"), ("baseline", ":")):
            at = [point.at for point in each.lengths]
            scores = [getattr(point, name) for point in each.lengths]
            look = {"ls": style, "marker": symbol, "ms": 4, "color": colour}
            label = {"label": each.part.title} if name == "ours" else {}
            line = axes.plot(at, scores, **look, **label)
            _tell_lengths(marks, line, each, name)
            every.update(at)
    set_powers(axes.xaxis, {at: f"{at:g}" for at in sorted(every)})
    condition = TASKS[first.part.task].condition
    axes.set_xlabel(fold(condition.title if condition else "", WIDTH - 0.6))
    axes.set_ylabel(f"{first.score.title} ({first.score.unit})")
    share_legend(figure)
    return marks


def _tell_lengths(marks: Marks, line, each: CardPart, name: str) -> None:
    """Let each point of a line say its score."""
    start = len(marks.rows)
    for point in each.lengths:
        marks.rows.append(
            {
                "label": THIS if name == "ours" else "baseline",
                "part": each.part.title,
                "length": f"{point.at:g}×",
                "score": f"{getattr(point, name):.1f} {each.score.unit}",
            }
        )
    shows(line, range(start, len(marks.rows)))


# --- failures --------------------------------------------------------------------------------


def failed_runs(card: Card) -> list[tuple[CardPart, Failed]]:
    """List the runs that failed, each once, with the first part that scores it."""
    return [(each, run) for each in models_of(card.parts) for run in each.failed]


def draw_failed(card: Card) -> Marks | None:
    """Draw the learning curves of the runs that failed, a colour for each part."""
    curves = []
    for each, run in failed_runs(card):
        points = [(step, loss) for step, loss in run.curve if math.isfinite(loss)]
        if points:
            curves.append((each.part.title, run.seed, points))
    if not curves:
        return None
    figure, axes = canvas()
    marks = Marks(figure)
    titles = list(dict.fromkeys(title for title, _, _ in curves))
    colours = dict(zip(titles, shades(len(titles)), strict=True))
    losses = []
    for title, seed, points in curves:
        line = axes.plot(*zip(*points, strict=True), ".-", color=colours[title], label=title)
        start = len(marks.rows)
        for step, loss in points:
            marks.rows.append({"part": title, "seed": seed, "update": step, "loss": f"{loss:.4g}"})
            losses.append(loss)
        shows(line, range(start, len(marks.rows)))
    if min(losses) > 0 and max(losses) > STEEP * min(losses):
        set_log(axes.yaxis)
    axes.set_xlabel("updates")
    axes.set_ylabel("training loss")
    share_legend(figure)
    return marks
