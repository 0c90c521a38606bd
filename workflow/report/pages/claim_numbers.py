"""The numbers of a claim as text: the same in a sentence, in the claim's row of the ledger, and in the forest plot.

evidence: of the set of results whose verdict is shown (`workflow.report.claims.side_by_side`).
"""

from collections import Counter

from workflow.report.answers.words import count
from workflow.report.pages.numbers import Form, form_of, number


def _form(evidence: dict, unit: str) -> Form:
    """The digits of the interval."""
    low, high = evidence["low"], evidence["high"]
    return form_of([evidence["effect"]], [] if low is None else [(high - low) / 2], unit)


def write_numbers(evidence: dict, unit: str) -> dict[str, str]:
    """effect, low, high; its size without sign; as a share and as a factor; ours, than."""
    effect, form = evidence["effect"], _form(evidence, unit)
    written = {key: form.text(evidence[key]) for key in ("effect", "low", "high")}
    written |= {key: number(evidence[key], unit) for key in ("ours", "than")}
    if effect is None:
        return written | dict.fromkeys(("size", "share", "times"), "")
    size = f"{form.text(abs(effect))} {unit}".strip()
    return written | {"size": size, "share": f"{100 * effect:.0f} %", "times": f"{form.text(effect)} times"}


def write_pairs(evidence: dict, by: str, unit: str) -> list[dict]:
    """The pairs with their numbers as text. by: difference | slope | ratio, whose sides have a unit of their own."""
    form = _form(evidence, unit)
    forms = {"ours": number if by == "ratio" else form.text, "effect": form.text}
    forms["than"] = forms["ours"]
    return [pair | {key: write(pair[key]) for key, write in forms.items()} for pair in evidence["pairs"]]


def name_basis(evidence: dict) -> str:
    """What the interval is over: `3 seeds on each of 2 texts`."""
    pairs = Counter(pair["text"] for pair in evidence["pairs"])
    few, many = (function(pairs.values(), default=0) for function in (min, max))
    basis = f"{few} to {many} {evidence['of']}s" if few < many else count(many, evidence["of"] or "pair")
    return f"{basis} on each of {len(pairs)} texts" if len(pairs) > 1 else basis
