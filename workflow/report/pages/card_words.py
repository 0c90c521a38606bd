"""What a card says in words: its title, its conclusion, and the sizes of effects and costs."""

import json
import math
from collections.abc import Callable, Iterable
from statistics import fmean

from workflow.cards.backtest import BackTest
from workflow.cards.card import ADDED, AS_BASELINE, Card, CardPart, Rate
from workflow.config.choices import AXES
from workflow.report.overview.attention import GATED, SHARED_KEYS, USUAL, Attention, choice_name
from workflow.results.numbers import BITS, MINUS, Form, capital, count, form_of, join, name_places
from workflow.results.statistics import LEVEL

MOST_EFFECTS = 3  # that the conclusion tells with their size
MOST_NAMES = 3  # of parts that the conclusion lists; of more it gives the number
OF_RATE = {0.5: "half", 2.0: "twice"}
# the first option that a conclusion names
UNTUNED = "untuned: half or twice the learning rate may change this (card_rates=true)"
ABOUT_EQUAL = 0.005  # a ratio of costs this near to 1 is 1
LEAST_P = 0.001  # that is written as it is
EVERYWHERE = ("encoder", "decoder", "cross")
OF_GRID = {"limit": "S", "k": "k"}  # settings of a choice that its name tells


def title_of(card: Card) -> str:
    """Name a variant by its choices, unless a title was given."""
    if card.title != card.name.replace("_", " "):
        return card.title
    names = []
    for axis in AXES:
        choice = card.choices.get(axis)
        if isinstance(choice, dict):
            names.append(_with_settings(axis, choice))
        elif choice is not None:
            names.append(choice_name(axis, choice))
    if card.choices.get("net", {}).get("gate"):
        names.append(GATED)
    return ", ".join(names) or card.title


def _with_settings(axis: str, choice: dict) -> str:
    settings = [f"{OF_GRID.get(key, key)} = {choice[key]}" for key in choice if key != "name"]
    name = choice_name(axis, choice["name"])
    return f"{name} ({', '.join(settings)})" if settings else name


def name_known(choice: str, against: dict[str, str]) -> str:
    """Name a known variant: `fixed span, top-k, k = 8`.

    choice: what it chooses, as JSON. against: what the baseline does, as `CardPart.against`.
    """
    chosen = json.loads(choice)
    axes = {axis: each for axis, each in chosen["attention"].items() if axis in AXES}
    attention = Attention(
        model="",
        gate=bool(chosen["gate"]),
        key_heads=chosen.get(SHARED_KEYS),
        **{axis: each["name"] for axis, each in axes.items()},
    )
    limit = axes["span"].get("limit")
    k = axes["selection"].get("k")
    words = [attention.name]
    position = attention.position
    # usual positions are in a name where the baseline has others
    if position in USUAL["position"] and position != against.get("position", position):
        words.append(choice_name("position", position))
    words += name_places(limit, k)
    applied = chosen["attention"].get("apply_to", EVERYWHERE)
    if set(applied) != set(EVERYWHERE):
        words.append(f"in {join(list(applied))} only")
    return ", ".join(words)


def say_baseline(card: Card) -> str:
    """Say what the baseline chooses, and on which parts; empty where the card does not know."""
    parts_of: dict[tuple[str, str], list[str]] = {}
    for each in card.parts:
        if each.against:
            normaliser = choice_name("normaliser", each.against["normaliser"])
            words = (normaliser, _in_words(each.against))
            parts_of.setdefault(words, []).append(each.part.title)
    if not parts_of:
        return ""
    last = [*parts_of][-1]
    said = []
    before = None
    for (normaliser, words), titles in parts_of.items():
        is_rest = (normaliser, words) == last and len(parts_of) > 1 and len(titles) > 1
        where = "the other parts" if is_rest else join(titles)
        told = words if normaliser == before else f"{normaliser}, {words}"
        said.append(f"{told} on {where}")
        before = normaliser
    return f"Baseline: {'; '.join(said)}."


def _in_words(against: dict[str, str]) -> str:
    """Write choices as `full attention, NAPE`."""
    said = [choice_name("span", against["span"])]
    for axis in ("selection", "score_scale"):
        if against[axis] not in USUAL[axis]:
            said.append(choice_name(axis, against[axis]))
    if adds_positions(against):
        said.append(f"{name_added(against)} in the input")
    if against["position"] != "none":
        said.append(choice_name("position", against["position"]))
    return ", ".join(said)


def adds_positions(against: dict[str, str]) -> bool:
    """Say whether models have positions in their input, whatever their attention has."""
    return against.get(ADDED, "none") != "none"


def name_added(against: dict[str, str]) -> str:
    """Name the positions in the input."""
    return "sinusoids" if against[ADDED] == "sinusoid" else f"{against[ADDED]} positions"


def models_of(parts: Iterable[CardPart]) -> list[CardPart]:
    """Pick a part for each model: parts of one corpus score the same one."""
    found: dict[tuple[str, str], CardPart] = {}
    for each in parts:
        found.setdefault((each.part.task, each.part.corpus), each)
    return list(found.values())


# --- sizes -----------------------------------------------------------------------------------


def unit_of(each: CardPart) -> str:
    """Return the unit of differences: of shares in % it is points."""
    return "points" if each.score.unit == "%" else each.score.unit


def form_of_effect(each: CardPart) -> Form:
    """Find the form of the difference and of all that is compared with it."""
    unit = unit_of(each)
    if unit in BITS:
        return Form(3)
    compared = each.comparison
    half = (compared.high - compared.low) / 2
    return form_of([compared.difference], [half], unit)


def say_difference(each: CardPart, difference: float, form: Form) -> str:
    """Write a difference with its direction: `0.095 bpc higher`."""
    size = form.text(abs(difference))
    direction = "higher" if difference > 0 else "lower"
    return f"{size} {unit_of(each)} {direction}"


def say_interval(each: CardPart, form: Form) -> str:
    """Write the interval of a difference: `−4.6 to −1.0`."""
    low, high = map(form.text, possible_interval(each))
    return f"{low} to {high}".replace("-", MINUS)


def possible_interval(each: CardPart) -> tuple[float, float]:
    """Return the interval of a difference, as far as two scores can differ."""
    compared = each.comparison
    if each.score.unit != "%":
        return compared.low, compared.high
    base = fmean(each.baseline.values())
    return max(compared.low, -base), min(compared.high, 100 - base)


def say_scores(each: CardPart) -> str:
    """Write the mean scores of the variant and of the baseline: `98.7, baseline 99.6`."""
    means = [fmean(each.ours.values()), fmean(each.baseline.values())]
    form = form_of_effect(each)
    ours, theirs = map(form.text, means)
    return f"{ours}, baseline {theirs}"


def say_margin(each: CardPart) -> str:
    """Write the margin of no difference with its unit: `0.02 bpc`, `1 point`."""
    unit = unit_of(each)
    if each.part.margin == 1:
        unit = unit.removesuffix("s")
    return f"{each.part.margin:g} {unit}"


def say_sizes(each: CardPart, form: Form) -> str:
    """Write the interval of a difference whose direction is told in words: `1.0 to 4.6`."""
    low, high = possible_interval(each)
    if high >= 0:
        return say_interval(each, form)
    return f"{form.text(-high)} to {form.text(-low)}"


def in_margins(each: CardPart, difference: float) -> float:
    """Measure a difference in margins of no difference; it is positive where it is better."""
    sign = 1 if each.score.better == "higher" else -1
    return sign * difference / each.part.margin


def seeds_to_settle(each: CardPart) -> int | None:
    """Count the further seeds that show a difference as large as the margin; None: none do."""
    needed = each.comparison.seeds
    return None if needed is None else max(0, needed - len(each.ours))


def say_ratio(ratios: Iterable[float], write: Callable[[float], str]) -> str:
    """Write ratios of several parts: one where all read the same, else their range."""
    ordered = sorted(ratios)
    low = write(ordered[0])
    high = write(ordered[-1])
    return low if low == high else f"{low} to {high}"


def write_ratio(value: float) -> str:
    """Write a ratio: 0.016, 0.35, 1.70, 12."""
    if value >= 10:
        return f"{value:.0f}"
    decimals = max(2, 1 - math.floor(math.log10(value)))
    return f"{value:.{decimals}f}"


# --- conclusion ------------------------------------------------------------------------------


def conclude(card: Card) -> list[str]:
    """Say in one to four short sentences what the card shows: effects, whether another rate could
    change them, what is open, costs.
    """
    if all(each.why == AS_BASELINE for each in card.parts):
        return ["The same as the baseline."]
    sentences = [_findings(card), _rates(card), _open(card), _costs(card)]
    # a line does not break before a %
    return [f"{capital(each)}.".replace(" %", "\N{NO-BREAK SPACE}%") for each in sentences if each]


def _findings(card: Card) -> str:
    significant = card.with_verdict("better") + card.with_verdict("worse")
    significant.sort(key=_size, reverse=True)
    told = significant[:MOST_EFFECTS]
    rest = significant[MOST_EFFECTS:]
    said = []
    for verdict in dict.fromkeys(each.comparison.verdict for each in significant):
        effects = []
        for each in told:
            if each.comparison.verdict == verdict:
                effects.append(_effect(each, with_title=each is told[0]))
        others = [each.part.title for each in rest if each.comparison.verdict == verdict]
        if len(others) > MOST_NAMES:
            others = [count(len(others), "other part" if effects else "part")]
        said.append(f"{verdict} on {join(effects + others)}")
    if not significant and any(each.comparison for each in card.parts):
        said.append("not shown to be better or worse on any part")
    failed = [each.part.title for each in card.parts if each.failed and not each.ours]
    if failed:
        said.append(f"no run finished on {_names(failed)}")
    partly = [each for each in models_of(card.parts) if each.failed and each.ours]
    if partly:
        failures = sum(len(each.failed) for each in partly)
        finished = sum(len(each.ours) for each in partly)
        where = _names([each.part.title for each in partly])
        said.append(f"{failures} of {failures + finished} runs failed on {where}")
    return "; ".join([*said, *_failed_sizes(card)])


def _failed_sizes(card: Card) -> Iterable[str]:
    """Say on which parts no run of models of another size finished."""
    titles: dict[float, list[str]] = {}
    for each in models_of(card.parts):
        for at in each.sizes:
            if not at.ours:
                titles.setdefault(at.size, []).append(each.part.title)
    for size, found in titles.items():
        yield f"at {size:g}× the width no run finished on {_names(found)}"


def _size(each: CardPart) -> float:
    return abs(in_margins(each, each.comparison.difference))


def _effect(each: CardPart, *, with_title: bool) -> str:
    """Write an effect with its interval. with_title: whether it says that this is a 95 % CI."""
    form = form_of_effect(each)
    difference = say_difference(each, each.comparison.difference, form)
    title = "95 % CI " if with_title else ""
    return f"{each.part.title} ({difference}, {title}{say_sizes(each, form)})"


def _rates(card: Card) -> str:
    """Say on which parts another rate is better, of those where the variant is not, and where runs
    at other rates failed.

    Without such runs, name them as the first option, if there is a verdict that they could turn.
    """
    tried = [each for each in card.parts if each.rates]
    if not tried:
        return UNTUNED if _could_turn(card) else ""
    said = [_better_rates(tried)]
    alone = [each for each in models_of(tried) if not each.ours]
    for factor, words in OF_RATE.items():
        trained = []
        failed = {}
        for each in models_of(tried):
            for rate in each.rates:
                if rate.factor == factor and rate.score is None:
                    failed[each.part.title] = rate.why
                elif rate.factor == factor and each in alone:
                    trained.append(each.part.title)
        if trained:
            said.append(f"a run finished at {words} the rate on {_names(trained)}")
        if failed:
            where = f"{_names(list(failed))}{_one_reason(failed)}"
            said.append(f"the run at {words} the rate failed on {where}")
    return "; ".join(each for each in said if each)


def _could_turn(card: Card) -> bool:
    """Say whether a part is not better, or has no run that finished."""
    for each in card.parts:
        is_open = each.comparison and each.comparison.verdict != "better"
        if is_open or (each.failed and not each.ours):
            return True
    return False


def _one_reason(reasons: dict[str, str]) -> str:
    """Write the reason that all have, in brackets."""
    shared = set(reasons.values())
    return f" ({shared.pop()})" if len(shared) == 1 else ""


def _better_rates(tried: list[CardPart]) -> str:
    found = []
    compared = [each for each in tried if any(rate.gain is not None for rate in each.rates)]
    for each in compared:
        gains = [rate for rate in each.rates if is_gain(each, rate)]
        if gains and each.comparison.verdict != "better":
            most = max(gains, key=lambda rate: abs(rate.gain))
            gain = say_difference(each, most.gain, form_of_effect(each))
            found.append(f"{each.part.title} ({gain} at {OF_RATE[most.factor]} the rate, one seed)")
    if found:
        return f"another learning rate is better on {join(found)}"
    return "half and twice the learning rate improve no part significantly" if compared else ""


def is_gain(each: CardPart, rate: Rate) -> bool:
    """Say whether a run at another rate is significantly better."""
    if rate.gain is None:
        return False
    return rate.holm <= LEVEL and in_margins(each, rate.gain) > 0


def _open(card: Card) -> str:
    said = []
    same = [each.part.title for each in card.parts if each.why == AS_BASELINE]
    if same:
        said.append(f"the same as the baseline on {_names(same)}")
    equal = [each.part.title for each in card.with_verdict("no difference")]
    if equal:
        said.append(f"no difference beyond the margin on {_names(equal)}")
    unclear = card.with_verdict("inconclusive")
    if unclear:
        names = _names([each.part.title for each in unclear])
        said.append(f"inconclusive on {names}{_more_seeds(unclear)}")
    left_out = {}
    for each in card.parts:
        if each.comparison is None and each.why != AS_BASELINE and not each.failed:
            left_out[each.part.title] = each.why
    if left_out:
        said.append(f"not compared on {_names(list(left_out))}{_one_reason(left_out)}")
    return "; ".join(said)


def _more_seeds(unclear: list[CardPart]) -> str:
    """Say how many more seeds would settle the parts that are inconclusive."""
    needed = [seeds_to_settle(each) for each in unclear]
    known = [each for each in needed if each]
    if not known:
        is_short = None in needed
        return ", which also needs more seeds of the baseline" if is_short else ""
    most = max(known)
    names = "it" if len(unclear) == 1 else "all of these"
    if len(known) < len(unclear):
        names = f"{len(known)} of these"
    have = max(len(each.ours) for each in unclear)
    option = f"card_seeds={have + most}"
    return f" ({count(most, 'more seed')} would probably settle {names}: {option})"


def _names(titles: list[str]) -> str:
    if len(titles) > MOST_NAMES:
        return count(len(titles), "part")
    return join(titles)


def _costs(card: Card) -> str:
    said = []
    macs = _ratios(card, "macs")
    if macs and _are_equal(macs):
        said.append("as many MACs as the baseline")
    elif macs:
        said.append(f"{say_ratio(macs, write_ratio)}× the baseline\u2019s MACs")
    times = _ratios(card, "train")
    if times:
        whose = "its" if said else "the baseline\u2019s"
        said.append(f"{say_ratio(times, write_ratio)}× {whose} training time")
    return f"it needs {join(said)}" if said else ""


def _ratios(card: Card, name: str) -> list[float]:
    steady = [each.costs for each in card.parts if each.costs.is_steady(name)]
    return [ratio for costs in steady if (ratio := getattr(costs, name))]


def _are_equal(ratios: list[float]) -> bool:
    return all(abs(ratio - 1) <= ABOUT_EQUAL for ratio in ratios)


# --- back-test -------------------------------------------------------------------------------


def say_back_test(tested: BackTest | None) -> str:
    """Say how often the battery had the sign of a larger scale; empty where nothing can be said."""
    scored = [each for each in tested.larger if each.score.cases] if tested else []
    if not scored:
        return ""
    said = []
    for each in scored:
        score = each.score
        variants = f"{score.cases} known variants" if not said else f"{score.cases}"
        worse = f"\u201calways worse\u201d: {score.always_worse}"
        if score.dearer is not None:
            worse += f", \u201ccostlier is better\u201d: {score.dearer}"
        p = "" if score.p is None else f"; {equals_p(score.p)}"
        said.append(f"with scale {each.scale} for {score.battery} of {variants} ({worse}{p})")
    sentence = f"The battery\u2019s sign agreed {join(said)}."
    if all(each.score.p is None for each in scored):
        sentence += " Too few for a p-value."
    return sentence


def equals_p(p: float) -> str:
    """Write `p = 0.042`, or `p < 0.001`."""
    return f"p {write_p(p)}" if p < LEAST_P else f"p = {write_p(p)}"


def write_p(p: float) -> str:
    """Write p with two digits, or that it is small."""
    return f"< {LEAST_P:g}" if p < LEAST_P else f"{p:.2g}"
