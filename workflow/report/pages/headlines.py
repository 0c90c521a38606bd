"""The headline claims of each paper as a forest plot. Written from the ledger."""

import math

from workflow.report.claims.ledger import speaking
from workflow.report.claims.measures import split_of
from workflow.report.numbers import number
from workflow.report.pages.claims import Ledger, name_basis, summarise_disagreeing, write_numbers, write_tuned
from workflow.report.published import studies
from workflow.results.trained_enough import converged

MARGIN = 0.08  # of an axis, on either side of what it shows


def list_headlines(lines: list[dict]) -> list[dict]:
    """Select what papers claim in their abstracts, each with the `evidence` of the set that speaks."""
    return [line | {"evidence": speaking(line)} for line in lines if line["abstract"]]


def _of_paper(lines: list[dict], paper: str) -> list[dict]:
    return [line for line in lines if line["paper"] == paper]


def forest_of(ledger: Ledger) -> list[dict]:
    """Lay out the forest plot: by paper a row for each headline claim, with its marks on an axis of its own."""
    headlines = list_headlines(ledger.claims)
    by_paper = [(study.heading, _of_paper(headlines, name)) for name, study in studies().items()]
    return [{"title": title, "rows": [_row(line) for line in rows]} for title, rows in by_paper if rows]


def _row(line: dict) -> dict:
    """Place the marks of a claim between 0 and 100: low, effect, high, printed, and the claimed `span`."""
    evidence, printed = line["evidence"], line["finding"]["printed"]
    numbers = {"low": evidence["low"], "effect": evidence["effect"], "high": evidence["high"], "printed": printed}
    axis = _Axis([*numbers.values(), *line["claimed"]], log=line["by"] == "ratio")
    low, high = line["claimed"]
    claimed = (0.0 if low is None else axis.place(low), 100.0 if high is None else axis.place(high))
    places = {name: axis.place(value) for name, value in numbers.items()}
    # evidence that an earlier version wrote has no digits of what is printed
    text = line["finding"].get("text", number(printed, line["unit"]))
    written = write_numbers(evidence, line) | {"printed": text, "tuned": write_tuned(evidence, line["unit"] or "")}
    shown = {"numbers": numbers, "places": places, "span": claimed, "written": written, "asked": _asked(line)}
    shown["disagreeing"] = summarise_disagreeing(line)
    about = {"texts": "; ".join(evidence["texts"]), "basis": name_basis(evidence), "split": split_of(line["measure"])}
    return line | shown | about | {"converged": converged(evidence["late_gain"])}


def _asked(line: dict) -> str:
    """Say what the paper claims, in a word or two."""
    low, high = line["claimed"]
    neutral = float(line["by"] == "ratio")
    bound, word = (high, "lower") if low is None else (low, "higher")
    return "equal" if None not in (low, high) else word if bound == neutral else f"{word} than {number(bound)}"


class _Axis:
    """A scale from numbers to places between 0 and 100."""

    def __init__(self, values: list[float | None], *, log: bool):
        self.scale = math.log if log else float
        known = [self.scale(value) for value in values if value is not None]
        low, high = (min(known), max(known)) if known else (0.0, 0.0)
        room = (high - low) * MARGIN or 1.0
        self.low, self.high = low - room, high + room

    def place(self, value: float | None) -> float | None:
        return None if value is None else round(100 * (self.scale(value) - self.low) / (self.high - self.low), 1)
