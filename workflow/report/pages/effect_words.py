"""Write the numbers of a claim: its effect, interval, sides and pairs, and which scales disagree.

They are written alike in a sentence, in the ledger and in the forest plot. `evidence` is that of
any set of results, `line` the claim.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from workflow.claims.disagreement import disagreeing, opposes, what_differs
from workflow.claims.evidence import Evidence, LedgerLine, Line, Pair, Rung, SetEvidence
from workflow.claims.measures import UNITS, split_of
from workflow.results.numbers import Form, behind, count, form_of, join, number
from workflow.results.timings import WITHOUT
from workflow.results.trained_enough import converged


@dataclass(frozen=True)
class Written:
    """The numbers of a claim as text; empty where there is none.

    ours, than: the means of the sides. said, interval: the effect with its direction in words and
    its interval in that direction. by_text: the effect on each corpus. tuned: the effect and the
    verdict with each variant tuned.
    """

    effect: str
    low: str
    high: str
    ours: str
    than: str
    said: str
    interval: str
    by_text: dict[str, str]
    detectable: str
    tuned: str


@dataclass(frozen=True)
class WrittenClaim:
    """A claim with the evidence that is shown for it, and its numbers as text.

    shown: of one set of results; on the page of a question, the line itself.
    """

    line: Line
    shown: Evidence
    written: Written

    @property
    def unit(self) -> str:
        """The unit of the effect; empty for a number without one."""
        return self.line.unit or ""


def form_of_effect(evidence: Evidence | Rung, unit: str) -> Form:
    """Choose the form of the numbers, with as many digits as the interval allows.

    An interval that excludes no effect has a digit more where one of its ends would be written as
    no effect.
    """
    low = evidence.low
    high = evidence.high
    if low is None:
        return form_of([evidence.effect], [], unit)
    form = form_of([evidence.effect], [(high - low) / 2], unit)
    ends = (form.text(low), form.text(high))
    for null in (0.0, 1.0):  # of a difference, of a ratio
        excludes_null = not low <= null <= high
        if excludes_null and form.text(null) in ends:
            return replace(form, places=form.places + 1)
    return form


def write_numbers(evidence: Evidence, line: Line) -> Written:
    """Write the numbers of a set."""
    unit = line.unit or ""
    form = form_of_effect(evidence, unit)
    write_side = _write_side(line, form)
    said, interval = say_effect(evidence, line)
    by_text = evidence.by_text or {}
    return Written(
        effect=form.text(evidence.effect),
        low=form.text(evidence.low),
        high=form.text(evidence.high),
        ours=write_side(evidence.ours),
        than=write_side(evidence.than),
        said=said,
        interval=interval,
        by_text={text: form.text(effect) for text, effect in by_text.items()},
        detectable=form.text(evidence.detectable),
        tuned=write_tuned(evidence, unit),
    )


def say_effect(evidence: Evidence, line: Line) -> tuple[str, str]:
    """Write an effect with its direction in words, and its interval in this direction.

    `0.026 bpc lower` and `0.007 to 0.044`; two empty strings without an effect. The effect of a
    claim about one side is no difference and has no direction.
    """
    if evidence.effect is None:
        return "", ""
    unit = line.unit or ""
    write = form_of_effect(evidence, unit).text
    if line.by != "difference" or evidence.than is None:
        suffixes = {"ratio": "×", "difference": behind(unit), "slope": ""}
        said = f"{write(evidence.effect)}{suffixes[line.by]}"
        if evidence.low is None:
            return said, ""
        low = write(evidence.low)
        high = write(evidence.high)
        return said, f"{low} to {high}"
    effect = evidence.effect
    way, other = ("higher", "lower") if effect > 0 else ("lower", "higher")
    size = write(abs(effect))
    said = f"{size}{behind(unit)} {way}"
    if evidence.low is None:
        return said, ""
    near, far = evidence.low, evidence.high
    if effect < 0:
        near, far = far, near
    nearest = write(abs(near))
    farthest = write(abs(far))
    if near * effect >= 0:
        return said, f"{nearest} to {farthest}"
    return said, f"{nearest} {other} to {farthest} {way}"


def _write_side(line: Line, form: Form) -> Callable[[float | None], str]:
    """Return what writes a side's value: of a ratio in its own unit, else like the effect."""
    if line.by != "ratio":
        return form.text
    units = {UNITS[measure] for measure in line.measure}
    unit = ""
    if len(units) == 1:
        (unit,) = units
    return partial(number, unit=unit)


def write_tuned(evidence: Evidence, unit: str) -> str:
    """Write the effect and the verdict with each variant tuned; empty if the effect is the same."""
    tuned = evidence.tuned
    if not tuned or tuned.effect == evidence.effect:
        return ""
    write = form_of_effect(tuned, unit).text
    interval = ""
    if tuned.low is not None:
        low = write(tuned.low)
        high = write(tuned.high)
        interval = f" (95 % CI {low} to {high})"
    # on the page of a question nothing is judged yet
    verdict = f", {tuned.verdict}" if tuned.verdict else ""
    effect = f"{write(tuned.effect)}{behind(unit)}"
    return f"tuned: {effect}{interval}{verdict}"


@dataclass(frozen=True)
class WrittenPair:
    """A pair with its numbers as text; turn: the seed or round. runs: as in the pair."""

    text: str
    turn: str
    ours: str
    than: str
    effect: str
    runs: dict[str, tuple[str, ...]]


def write_pairs(evidence: Evidence, line: Line) -> list[WrittenPair]:
    """Write the numbers of the pairs as text."""
    form = form_of_effect(evidence, line.unit or "")
    write_side = _write_side(line, form)
    return [_write_pair(pair, form, write_side) for pair in evidence.pairs]


def _write_pair(pair: Pair, form: Form, write_side: Callable[[float | None], str]) -> WrittenPair:
    return WrittenPair(
        text=pair.text,
        turn=_spell_turn(pair.turn),
        ours=write_side(pair.ours),
        than=write_side(pair.than),
        effect=form.text(pair.effect),
        runs=vars(pair.runs),
    )


def _spell_turn(turn: int | tuple[str, int]) -> str:
    """Write the number of a seed or round; a round with its reference step, if it has one."""
    if not isinstance(turn, tuple):
        return f"{turn}"
    clock, number_of_round = turn
    if clock == WITHOUT:
        return f"{number_of_round}"
    return f"{number_of_round} (reference step {clock})"


def name_basis(evidence: Evidence) -> str:
    """Say what the interval is over: `2 corpora × 3 seeds`."""
    pairs_on = Counter(pair.text for pair in evidence.pairs)
    few = min(pairs_on.values(), default=0)
    many = max(pairs_on.values(), default=0)
    basis = count(many, evidence.of or "pair")
    if few < many:
        basis = f"{few} to {many} {evidence.of}s"
    if len(pairs_on) > 1:
        return f"{len(pairs_on)} corpora × {basis}"
    return basis


def name_disagreeing(line: LedgerLine) -> list[str]:
    """Write a sentence for each scale whose interval excludes the effect that is shown.

    It gives the number of that scale and what differs there.
    """
    sentences = []
    for each in disagreeing(line):
        effect, interval = _write_effect(each, line)
        differences = what_differs(each, line.shown)
        different = [differences.place] if differences.place else []
        for name, value in differences.settings.items():
            different.append(f"{name} {value}")
        about = _in_brackets(interval, ", ".join(different))
        disagrees = " disagrees" if opposes(each, line) else ""
        sentences.append(f"Scale {each.set}{disagrees}: {effect}{about}.")
    return sentences


def summarise_disagreeing(line: LedgerLine) -> str:
    """Write one short sentence on all scales whose intervals exclude the effect that is shown.

    It says that they disagree where one has another direction or verdict. It names what differs
    there and leaves the values to the ledger's row. Empty without such a scale.
    """
    others = disagreeing(line)
    if not others:
        return ""
    parts = []
    disagree = ""
    for each in others:
        parts.append(_summarise(each, line))
        if opposes(each, line):
            disagree = " disagree"
    return f"Other scales{disagree}: {'; '.join(parts)}."


def _summarise(evidence: SetEvidence, line: LedgerLine) -> str:
    effect, interval = _write_effect(evidence, line)
    differences = what_differs(evidence, line.shown)
    names = list(differences.settings)
    if split_of(line.measure) and "device" in names:
        names.remove("device")  # it changes costs; a score it changes by the last bits
    other = f"different {join(names)}" if names else ""
    late = "" if converged(evidence.late_gain) else "not converged"
    about = _in_brackets(interval, differences.place, other, late)
    return f"{effect} at {evidence.set}{about}"


def _in_brackets(*parts: str) -> str:
    """Join what is not empty behind an effect: ` (a; b)`; empty if all are."""
    joined = "; ".join(part for part in parts if part)
    return f" ({joined})" if joined else ""


def _write_effect(evidence: SetEvidence, line: LedgerLine) -> tuple[str, str]:
    """Write an effect with its unit, and its interval; an empty string where there is none."""
    write = form_of_effect(evidence, line.unit or "").text
    suffix = "×" if line.by == "ratio" else behind(line.unit or "")
    effect = f"{write(evidence.effect)}{suffix}"
    if evidence.low is None:
        return effect, ""
    low = write(evidence.low)
    high = write(evidence.high)
    return effect, f"95 % CI {low} to {high}"
