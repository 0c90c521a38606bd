"""The numbers of a claim as text: the same in a sentence, in the claim's row of the ledger, and in the forest plot.

evidence: of the set of results whose verdict is shown (`workflow.report.claims.side_by_side`).
"""

from collections import Counter
from collections.abc import Callable
from functools import partial

from workflow.report.answers.words import count
from workflow.report.claims.measures import UNITS
from workflow.report.pages.numbers import Form, form_of, number
from workflow.results.timings import WITHOUT


def _form(evidence: dict, unit: str) -> Form:
    """The digits of the interval."""
    low, high = evidence["low"], evidence["high"]
    return form_of([evidence["effect"]], [] if low is None else [(high - low) / 2], unit)


def write_numbers(evidence: dict, line: dict) -> dict[str, str]:
    """effect, low, high; its size without sign; as a share and as a factor, in the same digits; ours, than.

    line: the claim's, with the unit of the effect.
    """
    unit, effect = line["unit"] or "", evidence["effect"]
    form = _form(evidence, unit)
    written = {key: form.text(evidence[key]) for key in ("effect", "low", "high")}
    written |= {key: _write_side(line, form)(evidence[key]) for key in ("ours", "than")}
    if effect is None:
        return written | dict.fromkeys(("size", "share", "times"), "")
    size = f"{form.text(abs(effect))} {unit}".strip()
    return written | {"size": size, "share": form.text(effect), "times": f"{form.text(effect)} times"}


def _write_side(line: dict, form: Form) -> Callable:
    """How the values of both sides are written: of a ratio in their own unit, else in the digits of the effect."""
    if line["by"] != "ratio":
        return form.text
    (unit, *others) = dict.fromkeys(UNITS[measure] for measure in line["measure"])
    return partial(number, unit="" if others else unit)


def write_details(evidence: dict, unit: str) -> dict:
    """by_text, detectable: the effect on each text, and the smallest that would have shown, in the effect's digits."""
    form = _form(evidence, unit)
    by_text = {text: form.text(effect) for text, effect in (evidence["by_text"] or {}).items()}
    return {"by_text": by_text, "detectable": form.text(evidence["detectable"])}


def write_pairs(evidence: dict, line: dict) -> list[dict]:
    """The pairs with their numbers as text. line: the claim's.

    A turn of a timing is named with the reference step that it was set beside, where there is one.
    """
    form = _form(evidence, line["unit"] or "")
    side = _write_side(line, form)
    forms = {"ours": side, "than": side, "effect": form.text, "turn": _spell_turn}
    return [pair | {key: write(pair[key]) for key, write in forms.items()} for pair in evidence["pairs"]]


def _spell_turn(turn: int | list) -> str:
    """Of a seed or a turn its number; of (clock, turn) with the clock."""
    clock, turn = turn if isinstance(turn, list | tuple) else (WITHOUT, turn)
    return f"{turn}" if clock == WITHOUT else f"{turn}, beside {clock}"


def name_basis(evidence: dict) -> str:
    """What the interval is over: `3 seeds on each of 2 texts`."""
    pairs = Counter(pair["text"] for pair in evidence["pairs"])
    few, many = (function(pairs.values(), default=0) for function in (min, max))
    basis = f"{few} to {many} {evidence['of']}s" if few < many else count(many, evidence["of"] or "pair")
    return f"{basis} on each of {len(pairs)} texts" if len(pairs) > 1 else basis
