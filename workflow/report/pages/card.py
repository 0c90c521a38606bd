"""The page of a card: one screen that says what a variant changes and what it costs."""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import dropwhile, takewhile
from pathlib import Path

from workflow.cards.backtest import FEWEST_VARIANTS, AtScale, BackTest, Score
from workflow.cards.card import STEADY, Card, CardPart, Costs, Rate
from workflow.cards.receive import DIGITS, Code, Received
from workflow.config.choices import ATTENTION, AXES, choice_names
from workflow.config.strict import parse_python
from workflow.report.overview.attention import GATED, SHARED_KEYS, choice_name
from workflow.report.pages.artefacts import Figure, embed_drawing
from workflow.report.pages.card_figures import (
    COSTS,
    Marks,
    draw_costs,
    draw_failed,
    draw_lengths,
    draw_limits,
    draw_quality,
    draw_strips,
    failed_runs,
    is_significant,
    measured_costs,
)
from workflow.report.pages.card_words import (
    OF_RATE,
    adds_positions,
    conclude,
    form_of_effect,
    models_of,
    name_added,
    say_back_test,
    say_baseline,
    say_interval,
    say_margin,
    say_scores,
    seeds_to_settle,
    title_of,
    unit_of,
    write_p,
    write_ratio,
)
from workflow.report.pages.mathml import Paragraph, paragraphs_of
from workflow.report.pages.site import Site
from workflow.results.numbers import MINUS, capital, form_of, join
from workflow.results.registry import REGISTRY
from workflow.results.statistics import LEVEL

STRIPS = (
    "Difference from the baseline with its 95 % CI, in units of the margin. Filled: better or "
    "worse. Arrows point to what is out of range. Grey: all known variants, at any S and k."
)
COSTS_CAPTION = "Both on the same backend. Training and prediction: step time."
QUALITY = "Difference from the baseline against cost. Filled: better or worse."
LIMITS = (
    "The trained model at other limits S, reading random text; learned spans keep their length. "
    "Measured separately from the costs above."
)
LENGTHS = "Mean over seeds. No part of the battery judges more than {:g}×."
SUMMARY = ("md", "png")  # what is next to the page
GATE = (
    "A gate on the output of attention (Gated Attention, Qiu et al. 2025).\n\n"
    "    y = sigmoid(W x) * attention(x)\n\n"
    "x: the input of the layer. * is by element."
)
SHARED = (
    "Heads of queries share keys and values (grouped queries, Ainslie et al. 2023).\n\n"
    "    head i reads the keys and values k_j, v_j with j = floor(i g / h)\n\n"
    "h: heads of queries. g = {}: heads of keys and values."
)


@dataclass(frozen=True)
class PartLine:
    """A part as the table of the card lists it; numbers as text, empty where there are none.

    score: what is compared, the mean scores and the margin. note: what is unusual about the
    comparison. verdict: why there is none, if so. told: whether it is better or worse.
    """

    title: str
    score: str
    verdict: str
    difference: str = ""
    interval: str = ""
    p: str = ""
    note: str = ""
    told: bool = False
    seeds: str = ""
    detectable: str = ""
    more: str = ""


@dataclass(frozen=True)
class CostLine:
    """What the variant costs on a part, as ratios to the baseline, as text."""

    part: str
    ratios: tuple[str, ...]


@dataclass(frozen=True)
class BehaviourLine:
    """A fact of the trained models of a part, of the variant and of the baseline, as text."""

    part: str
    fact: str
    ours: str
    baseline: str


@dataclass(frozen=True)
class RateLine:
    """What one run of a part at another learning rate gained, as text. told: it is significant.

    why: it is not compared; gain and p are empty then.
    """

    part: str
    rate: str
    gain: str = ""
    p: str = ""
    told: bool = False
    why: str = ""


@dataclass(frozen=True)
class SizeLine:
    """What the variant changes with models of another size, as text. told: it is significant.

    verdict: why there is none, if so; the numbers are empty then.
    """

    part: str
    size: str
    difference: str
    interval: str
    p: str
    verdict: str
    seeds: str
    told: bool


@dataclass(frozen=True)
class BackTestLine:
    """Which predictors had the sign of a larger scale, of how many variants, as text."""

    scale: str
    of: str
    variants: str
    battery: str
    always_worse: str
    dearer: str = ""
    rank: str = ""
    p: str = ""


@dataclass(frozen=True)
class BackTestTable:
    """The back-test of the battery. sentence: what the card says. note: below the table."""

    sentence: str
    lines: tuple[BackTestLine, ...]
    note: str


@dataclass(frozen=True)
class Formula:
    """A choice of the variant: its axis, its name and what its file says.

    about: the first sentences. formula: the first paragraph of one, and those right after it. rest:
    all others. settings: their values, in words.
    """

    axis: str
    name: str
    about: str
    formula: tuple[Paragraph, ...]
    rest: tuple[Paragraph, ...]
    settings: str = ""


@dataclass(frozen=True)
class CardPage:
    """What the template names.

    received: what is known of a card from elsewhere; code: its files that this project does not
    have. files: next to the page.
    """

    title: str
    conclusion: tuple[str, ...]
    note: str
    formulas: tuple[Formula, ...]
    figures: tuple[Figure, ...]
    lines: tuple[PartLine, ...]
    cost_titles: tuple[str, ...]
    costs: tuple[CostLine, ...]
    rates: tuple[RateLine, ...]
    sizes: tuple[SizeLine, ...]
    behaviour: tuple[BehaviourLine, ...]
    failed: tuple[str, ...]
    back_test: BackTestTable | None
    received: tuple[str, ...] = ()
    code: tuple[Code, ...] = ()
    files: tuple[str, ...] = ()
    steady: float = STEADY


def write_card(site: Site, place: str, card: Card) -> CardPage:
    """Write the page of a card; return what it says. place: under the site's reports.

    It links to its summary (`workflow.report.pages.card_summary`).
    """
    name = Path(place).stem
    files = tuple(f"{name}.{ending}" for ending in SUMMARY)
    told = replace(card_page(card), files=files)
    site.write("card.html.j2", place, told)
    return told


def received_page(received: Received) -> CardPage:
    """Lay out a card that was made elsewhere, with what its check found and its code."""
    page = card_page(received.card, received.code)
    lines = [f"Received from {received.file}, sha256 {received.checksum[:DIGITS]}."]
    lines.append(received.verdict)
    lines += [f"{capital(each)}." for each in (*received.differences, *received.notes)]
    return replace(page, received=tuple(lines))


def card_page(card: Card, code: tuple[Code, ...] = ()) -> CardPage:
    """Lay out a card. code: the files of its choices, of a card from elsewhere."""
    lengths = LENGTHS.format(max(each.part.at or 1 for each in card.parts))
    figures = [
        _embed("strips", "What it changes", STRIPS, draw_strips(card)),
        _embed("costs", "What it costs", COSTS_CAPTION, draw_costs(card)),
        _embed("quality", "Quality and cost", QUALITY, draw_quality(card)),
        _embed("limits", "What it costs over S", LIMITS, draw_limits(card)),
        _embed("lengths", "Over the test length", lengths, draw_lengths(card)),
        _embed("failed", "Loss of the runs that failed", "", draw_failed(card)),
    ]
    costs = measured_costs(card)
    return CardPage(
        title=title_of(card),
        conclusion=tuple(conclude(card)),
        note=_note(card),
        formulas=tuple(formulas_of(card.choices, code, card.settings)),
        figures=tuple(each for each in figures if each),
        lines=tuple(_line(each, card) for each in card.parts),
        cost_titles=tuple(COSTS[name] for name in costs),
        costs=tuple(_cost_lines(card, costs)),
        rates=tuple(_rates(card)),
        sizes=tuple(_sizes(card)),
        behaviour=tuple(_behaviour(card)),
        failed=tuple(_failures(card)),
        back_test=_tabulate(card),
        code=tuple(each for each in code if not each.is_here),
    )


def _embed(name: str, title: str, caption: str, marks: Marks | None) -> Figure | None:
    if marks is None:
        return None
    return embed_drawing(
        name=name,
        title=title,
        caption=caption,
        drawing=marks.drawing,
        numbers=marks.numbers,
        runs_at="",
    )


def _note(card: Card) -> str:
    devices = [each.removeprefix("cpu: ") for each in card.devices]
    on = f", on {join(devices)}" if devices else ""
    said = [
        say_baseline(card),
        f"Scale {card.scale}{on}.",
        "The recipe was tuned for the baseline, not for the variant.",
    ]
    return " ".join(each for each in said if each)


# --- formulas --------------------------------------------------------------------------------


def formulas_of(
    choices: dict, code: Iterable[Code] = (), settings: Mapping[str, str] | None = None
) -> list[Formula]:
    """Read what the file of each choice says: the formula and its source.

    code: files that came with a card, in place of this project's. settings: by axis, in words.
    """
    sent = {each.place: each for each in code}
    found = []
    for axis in AXES:
        choice = choices.get(axis)
        if choice is None:
            continue
        name = choice["name"] if isinstance(choice, dict) else choice
        title = choice_name(axis, name)
        place = f"{AXES[axis]}/{name}"
        docstring = sent[place].docstring if place in sent else _docstring(axis, name)
        formula = _formula(axis.replace("_", " "), title, docstring)
        found.append(replace(formula, settings=(settings or {}).get(axis, "")))
    of_net = choices.get("net", {})
    if of_net.get("gate"):
        found.append(_formula("output", GATED, GATE))
    if of_net.get(SHARED_KEYS):
        name = choice_name(SHARED_KEYS, of_net[SHARED_KEYS])
        found.append(_formula("keys", name, SHARED.format(of_net[SHARED_KEYS])))
    return found


def _docstring(axis: str, name: str) -> str:
    if name not in choice_names(axis):
        return ""
    path = ATTENTION / AXES[axis] / f"{name}.py"
    return ast.get_docstring(parse_python(path)) or ""


def _formula(axis: str, name: str, docstring: str) -> Formula:
    paragraphs = paragraphs_of(docstring)
    about = ""
    if paragraphs and not paragraphs[0].lines:
        about = paragraphs.pop(0).text
    prose = dropwhile(lambda each: not each.lines, paragraphs)
    formula = tuple(takewhile(lambda each: each.lines, prose))
    rest = tuple(each for each in paragraphs if each not in formula)
    return Formula(axis, name, about, formula, rest)


# --- tables ----------------------------------------------------------------------------------


def _line(each: CardPart, card: Card) -> PartLine:
    title = each.score.title
    if each.part.at is not None:
        title += f" at {each.part.at:g}×"
    told = PartLine(title=each.part.title, score=title, verdict=each.why or "")
    compared = each.comparison
    if compared is None:
        return told
    form = form_of_effect(each)
    unit = unit_of(each)
    notes = []
    if compared.scatter.own:
        notes.append("only its own seeds, which vary more than others, give the interval")
    if "position" in card.choices and adds_positions(each.against):
        notes.append(f"{name_added(each.against)} are still added to the input")
    return replace(
        told,
        score=f"{title}: {say_scores(each)}; margin {say_margin(each)}",
        difference=f"{_signed(form.text(compared.difference))} {unit}",
        interval=say_interval(each, form),
        p=write_p(compared.holm),
        verdict=compared.verdict,
        note="; ".join(notes),
        told=is_significant(each),
        seeds=f"{len(each.ours)} and {len(each.baseline)}",
        detectable=_detectable(each),
        more=_more(each),
    )


def _detectable(each: CardPart) -> str:
    """Write the smallest difference that is detectable, if two scores can differ by so much."""
    least = each.comparison.detectable
    if each.score.unit == "%" and least > 100:
        return "none"
    return f"{form_of_effect(each).text(least)} {unit_of(each)}"


def _cost_lines(card: Card, costs: list[str]) -> Iterable[CostLine]:
    for each in models_of(card.parts):
        written = [_write_cost(each.costs, name) for name in costs]
        if any(written):
            yield CostLine(each.part.title, tuple(written))


def _write_cost(costs: Costs, name: str) -> str:
    ratio = getattr(costs, name)
    if not ratio:
        return ""
    unsteady = "" if costs.is_steady(name) else " (unsteady)"
    return f"{write_ratio(ratio)}×{unsteady}"


def _sizes(card: Card) -> Iterable[SizeLine]:
    for each in card.parts:
        for at in each.sizes:
            # written as the part's own comparison is
            scores = {"ours": at.ours, "baseline": at.baseline}
            of_size = replace(each, **scores, comparison=at.comparison, why=at.why)
            line = _line(of_size, card)
            yield SizeLine(
                part=each.part.title,
                size=f"{at.size:g}×",
                difference=line.difference,
                interval=line.interval,
                p=line.p,
                verdict=line.verdict,
                seeds=line.seeds,
                told=line.told,
            )


def _signed(text: str) -> str:
    return text if text.startswith("-") else f"+{text}"


def _more(each: CardPart) -> str:
    """Write how many more seeds would show a difference as large as the margin."""
    if each.comparison.verdict != "inconclusive":
        return ""
    more = seeds_to_settle(each)
    return "too few of the baseline" if more is None else str(more)


def _rates(card: Card) -> Iterable[RateLine]:
    for each in card.parts:
        for rate in each.rates:
            line = RateLine(part=each.part.title, rate=OF_RATE[rate.factor])
            if rate.gain is None:
                yield replace(line, why=_why_no_gain(each, rate))
                continue
            gain = _signed(form_of_effect(each).text(rate.gain))
            yield replace(
                line,
                gain=f"{gain} {unit_of(each)}",
                p=write_p(rate.holm),
                told=rate.holm <= LEVEL,
            )


def _why_no_gain(each: CardPart, rate: Rate) -> str:
    """Say why a run at another rate is not compared, with its score if it has one."""
    if rate.score is None:
        return rate.why
    score = form_of([rate.score], unit=each.score.unit).text(rate.score)
    return f"{rate.why}; {each.score.title} {score} {each.score.unit}".rstrip()


def _behaviour(card: Card) -> Iterable[BehaviourLine]:
    for each in models_of(card.parts):
        for name, (ours, baseline) in each.behaviour.items():
            quantity = REGISTRY.get(name)
            fact = quantity.title if quantity else name.replace("_", " ")
            unit = quantity.unit if quantity else ""
            # what both have alike says nothing
            if ours is None or ours == baseline:
                continue
            form = form_of([ours, baseline], unit=unit)
            yield BehaviourLine(
                part=each.part.title,
                fact=f"{fact}, {unit}" if unit else fact,
                ours=form.text(ours),
                baseline=form.text(baseline),
            )


def _failures(card: Card) -> Iterable[str]:
    for each, run in failed_runs(card):
        reason = f": {run.reason}" if run.reason else ""
        yield f"{each.part.title}, seed {run.seed}: {run.status}{reason}"
    for each in models_of(card.parts):
        for at in each.sizes:
            for run in at.failed:
                reason = f": {run.reason}" if run.reason else ""
                place = f"{each.part.title} at {at.size:g}× the width, seed {run.seed}"
                yield f"{place}: {run.status}{reason}"


# --- back-test -------------------------------------------------------------------------------


def _tabulate(card: Card) -> BackTestTable | None:
    """Lay out the back-test of the battery; None where nothing of it was tested."""
    tested = card.back_test
    if tested is None or not tested.larger:
        return None
    lines: list[BackTestLine] = []
    for each in tested.larger:
        lines += _lines_at(each)
    return BackTestTable(say_back_test(tested), tuple(lines), _note_of_test(tested))


def _lines_at(at: AtScale) -> Iterable[BackTestLine]:
    scores = {
        "all variants": at.score,
        "variants significant on the battery": at.significant,
        "symbol tasks": at.symbols,
    }
    for of, score in scores.items():
        if score.cases:
            yield _line_of_score(at.scale, of, score)
    if at.score.cases:
        cases = str(at.score.cases)
        yield BackTestLine(
            scale=at.scale,
            of="by the best part, leave-one-out",
            variants=cases,
            battery=str(at.left_out),
            always_worse=str(at.score.always_worse),
        )
    for part in at.parts:
        yield BackTestLine(
            scale=at.scale,
            of=f"by {part.title}",
            variants=str(part.cases),
            battery=f"{part.right} (informative)" if part.informs else str(part.right),
            always_worse=str(part.always_worse),
        )


def _line_of_score(scale: str, of: str, score: Score) -> BackTestLine:
    return BackTestLine(
        scale=scale,
        of=of,
        variants=str(score.cases),
        battery=str(score.battery),
        always_worse=str(score.always_worse),
        dearer=str(score.dearer),
        rank="" if score.rank is None else f"{score.rank:.2f}".replace("-", MINUS),
        p="" if score.p is None else write_p(score.p),
    )


def _note_of_test(tested: BackTest) -> str:
    note = (
        "Number of correct signs, over variants whose 95 % CI at the larger scale excludes 0. "
        "Variants are matched by their choices, ignoring S and k. "
        f"p is given for at least {FEWEST_VARIANTS} variants."
    )
    if tested.untested:
        note += f" No runs of known variants ship for {join(list(tested.untested))}."
    return note
