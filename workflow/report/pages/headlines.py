"""What was found, in sentences, and the headline claims of each paper as a forest plot. Written from the ledger."""

import math

import pandas as pd

from workflow.papers.published import papers
from workflow.plan.other_results import strength
from workflow.report.claims.measures import TURNS
from workflow.report.pages.artefacts import read_table
from workflow.report.pages.ledger import Ledger
from workflow.report.pages.numbers import form_of, number
from workflow.report.pages.site import Site
from workflow.report.texts import name_badges

SEEN = ("reproduced", "consistent")
BEST = "best reader, all of the past"  # a row of the table `limit`
MOST = 5  # sentences of an opening
MARGIN = 0.08  # of an axis, on either side of what it shows


def list_headlines(lines: list[dict]) -> list[dict]:
    """The headline claims of a ledger, each with `evidence`: the effect in the strongest set that can tell."""
    headlines = [line for line in lines if line["headline"]]
    return [line | {"evidence": _evidence(line)} for line in headlines]


def list_findings(lines: list[dict]) -> list[dict]:
    """What was found, in at most `MOST` sentences: name, paper, text, verdict, set.

    From the strongest scale first: what of each paper is surest, then what was not reproduced, then the rest by turns.

    Silent about claims that no set of results can tell.
    """
    told = [line for line in list_headlines(lines) if _sentence(line)]
    papers = list(dict.fromkeys(line["paper"] for line in sorted(told, key=_surest)))
    by_turn = [(turn, line) for paper in papers for turn, line in enumerate(_in_turn(_of_paper(told, paper)))]
    by_turn.sort(key=lambda each: (each[0], each[0] > 0 and each[1]["overall"] in SEEN))  # stable
    chosen = [line for _, line in by_turn[:MOST]]
    return [_finding(line) for line in sorted(chosen, key=lambda line: papers.index(line["paper"]))]


def _in_turn(lines: list[dict]) -> list[dict]:
    """The claims of one paper: the surest first; of the others those that do not hold before those that do."""
    first, *others = sorted(lines, key=_surest)
    return [first, *sorted(others, key=lambda line: (-_strength(line), line["overall"] in SEEN))]


def _surest(line: dict) -> tuple:
    return -_strength(line), line["overall"] not in SEEN, line["overall"] != "reproduced"


def _strength(line: dict) -> float:
    """Of the scale whose evidence is shown."""
    return strength(line["evidence"].get("scale", ""))


def _of_paper(lines: list[dict], paper: str) -> list[dict]:
    return [line for line in lines if line["paper"] == paper]


def _evidence(line: dict) -> dict:
    """Of the strongest set that can tell; of the own one where none can, or where there is only a formula."""
    return next((each for each in line["sets"] if each["set"] == line["strongest"]), line)


def _sentence(line: dict) -> str | None:
    if line["overall"] in SEEN:
        return line["headline"]["seen"]
    return line["headline"]["failed"] if line["overall"] == "not reproduced" else None


def _finding(line: dict) -> dict:
    evidence, unit = line["evidence"], line["unit"]
    effect, low, high = (evidence[key] for key in ("effect", "low", "high"))
    form = form_of([effect], [] if low is None else [(high - low) / 2], unit)
    figures = {
        "size": "" if effect is None else f"{form.text(abs(effect))} {unit}",
        "share": "" if effect is None else f"{100 * effect:.0f} %",
        "times": "" if effect is None else f"{_two_digits(effect)} times",
        "ours": number(evidence["ours"], unit),
        "than": number(evidence["than"], unit),
    }
    text = _sentence(line).format(**figures)
    if evidence["otherwise_on"]:
        text += f" Not so on {' and '.join(evidence['otherwise_on'])}."
    return {key: line[key] for key in ("name", "paper")} | {
        "text": text,
        "verdict": line["overall"],
        "set": line["strongest"],
    }


def _two_digits(value: float) -> str:
    """6.7, 12, 0.13"""
    digits = max(0, 1 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:.{digits}f}"


def read_limit(site: Site) -> str | None:
    """The sentence on the text of known limit; None where its table was not made."""
    path = site.results / "tables" / "limit.json"
    return find_limit(read_table(path)["cells"]) if path.exists() else None


def find_limit(cells: list[dict]) -> str | None:
    """What the table `limit` says of adaptive and fixed spans at the largest S; None where it has no such rows."""
    values = {(cell["row"], cell["column"]): cell["value"] for cell in cells}
    rows = [row for row, _ in values if row.startswith("adaptive, S = ")]
    if not rows:
        return None
    S = max(int(row.removeprefix("adaptive, S = ")) for row in rows)
    adaptive, fixed = f"adaptive, S = {S}", f"fixed, S = {S}"
    figures = [values.get((row, column)) for row in (adaptive, fixed) for column in ("test", "executed")]
    span, best = values.get((adaptive, "avg. span")), values.get((BEST, "test"))
    if None in (*figures, span, best):
        return None
    ours, our_work, theirs, their_work = figures
    return (
        f"On a text whose best possible prediction is known, {number(best, 'bpc')} bits per character, adaptive spans "
        f"of at most {S} characters score {number(ours, 'bpc')} and fixed ones {number(theirs, 'bpc')}. The adaptive "
        f"ones take {100 * our_work / their_work:.0f} % of the multiply-adds of the fixed ones, and reach "
        f"{span:.0f} characters on average."
    )


def forest_of(ledger: Ledger, runs: pd.DataFrame) -> list[dict]:
    """By paper: its title, and a row for each headline claim with the places of its marks along an axis of its own."""
    headlines = [line | {"is_own": line["strongest"] == ledger.set} for line in list_headlines(ledger.claims)]
    by_paper = [(paper.title, _of_paper(headlines, name)) for name, paper in papers().items()]
    return [{"title": title, "rows": [_row(line, runs) for line in rows]} for title, rows in by_paper if rows]


def _row(line: dict, runs: pd.DataFrame) -> dict:
    """low, effect, high, printed: places from 0 to 100. span: (from, to), the stretch that the paper claims."""
    evidence, printed = line["evidence"], line["headline"]["printed"]
    numbers = {"low": evidence["low"], "effect": evidence["effect"], "high": evidence["high"], "printed": printed}
    axis = _Axis([*numbers.values(), *line["claimed"]], log=line["by"] == "ratio")
    low, high = line["claimed"]
    claimed = (0.0 if low is None else axis.place(low), 100.0 if high is None else axis.place(high))
    places = {name: axis.place(value) for name, value in numbers.items()}
    shown = {"numbers": numbers, "places": places, "span": claimed, "written": _write(numbers, line["unit"])}
    return line | shown | _basis(line, runs[runs["digest"].isin(line["digests"])])


def _write(numbers: dict, unit: str) -> dict[str, str]:
    """The numbers as text, with the digits of their interval."""
    low, high = numbers["low"], numbers["high"]
    form = form_of([numbers["effect"]], [] if low is None else [(high - low) / 2], unit)
    printed = number(numbers["printed"], unit)
    return {name: printed if name == "printed" else form.text(value) for name, value in numbers.items()}


def _basis(line: dict, runs: pd.DataFrame) -> dict:
    """texts: what was really read. basis: what the interval is over. asked: what the paper claims, in a word or two."""
    low, high = line["claimed"]
    neutral = float(line["by"] == "ratio")
    bound, word = (high, "lower") if low is None else (low, "higher")
    asked = "equal" if None not in (low, high) else word if bound == neutral else f"{word} than {number(bound)}"
    pairs, seeds, texts = line["evidence"]["n"] or 0, runs["seed"].nunique(), runs["paper_corpus"].nunique()
    if not line["is_own"]:
        return {"texts": "", "basis": f"{pairs:.0f} pairs", "asked": asked}
    if not len(runs) or any(measure in TURNS for measure in line["measure"]):
        basis = f"{pairs:.0f} turns of timing"
    else:
        basis = f"{seeds} seed{'s' * (seeds != 1)}" + (f" on each of {texts} texts" if texts > 1 else "")
    return {"texts": name_badges(runs), "basis": basis, "asked": asked}


class _Axis:
    """From numbers to places between 0 and 100."""

    def __init__(self, values: list[float | None], *, log: bool):
        self.scale = math.log if log else float
        known = [self.scale(value) for value in values if value is not None]
        low, high = (min(known), max(known)) if known else (0.0, 0.0)
        room = (high - low) * MARGIN or 1.0
        self.low, self.high = low - room, high + room

    def place(self, value: float | None) -> float | None:
        return None if value is None else round(100 * (self.scale(value) - self.low) / (self.high - self.low), 1)
