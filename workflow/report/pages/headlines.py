"""What was found, in sentences, and the headline claims of each paper as a forest plot. Written from the ledger."""

import math

from workflow.report.claims.disagreement import is_single
from workflow.report.claims.ledger import order, speaking
from workflow.report.claims.measures import split_of
from workflow.report.layout import list_columns, text_of
from workflow.report.numbers import capital, count, join, number
from workflow.report.pages.artefacts import read_table
from workflow.report.pages.claims import Ledger, name_basis, summarise_disagreeing, write_numbers, write_tuned
from workflow.report.pages.site import Site
from workflow.report.published import studies
from workflow.results.trained_enough import UNMOVED, converged

SEEN = ("reproduced", "consistent")
# a row of the table `known_entropy`, and columns of the rows of adaptive spans
BEST = "optimal predictor, full context"
ADAPTIVE = {"ours": "test", "difference": "difference to fixed", "work": "executed, to fixed", "span": "avg. span"}
MOST = 5  # sentences of an opening
MARGIN = 0.08  # of an axis, on either side of what it shows


def list_headlines(lines: list[dict]) -> list[dict]:
    """Select what papers claim in their abstracts, each with the `evidence` of the set that speaks."""
    return [line | {"evidence": speaking(line)} for line in lines if line["abstract"]]


def list_findings(lines: list[dict]) -> list[dict]:
    """Write what was found in at most `MOST` sentences: name, paper, text, verdict, set, texts, `at` (S and k).

    The best evidence comes first. Each paper's surest claim is followed by those that were not reproduced, then by
    the rest, paper by paper in turn. Claims that no set of results can tell, or that rest on one measurement, are left
    out.
    """
    told = [line | {"evidence": speaking(line)} for line in lines if line["finding"] and _sentence(line)]
    told = [line for line in told if not is_single(line["evidence"])]  # one measurement is no headline
    papers = list(dict.fromkeys(line["paper"] for line in sorted(told, key=_surest)))
    by_turn = [(turn, line) for paper in papers for turn, line in enumerate(_in_turn(_of_paper(told, paper)))]
    by_turn.sort(key=lambda each: (each[0], each[0] > 0 and each[1]["overall"] in SEEN))  # stable
    chosen = [line for _, line in by_turn[:MOST]]
    return [_finding(line) for line in sorted(chosen, key=lambda line: papers.index(line["paper"]))]


def _in_turn(lines: list[dict]) -> list[dict]:
    """Sort the claims of one paper: the surest first, then those that do not hold, then those that do."""
    first, *others = sorted(lines, key=_surest)
    return [first, *sorted(others, key=lambda line: (order(line["evidence"]), line["overall"] in SEEN))]


def _surest(line: dict) -> tuple:
    return order(line["evidence"]), line["overall"] not in SEEN, line["overall"] != "reproduced"


def _of_paper(lines: list[dict], paper: str) -> list[dict]:
    return [line for line in lines if line["paper"] == paper]


def _sentence(line: dict) -> str | None:
    if line["overall"] in SEEN:
        return line["finding"]["seen"]
    return line["finding"]["failed"] if line["overall"] == "not reproduced" else None


def _finding(line: dict) -> dict:
    evidence = line["evidence"]
    text = _sentence(line).format(**write_numbers(evidence, line))
    if split := split_of(line["measure"]):
        text = f"{text.removesuffix('.')} ({split})."
    if not converged(evidence["late_gain"]):
        text = f"{text.removesuffix('.')}, not converged."
    if tuned := write_tuned(evidence, line["unit"] or ""):
        text += f" {capital(tuned)}."
    if evidence["otherwise_on"]:
        text += f" Not so on {join(evidence['otherwise_on'])}."
    if elsewhere := summarise_disagreeing(line, as_size=True):
        text += f" {elsewhere}"
    return {key: line[key] for key in ("name", "paper")} | {
        "text": text,
        "verdict": line["overall"],
        "set": line["speaks"],
        "texts": "; ".join(evidence["texts"]),
        "at": evidence["at"],
    }


def read_limit(site: Site) -> str | None:
    """Read the sentence on the text whose best prediction is known; None where its table was not made."""
    path = site.results / "tables" / "known_entropy.json"
    return find_limit(read_table(path)["cells"]) if path.exists() else None


def find_limit(cells: list[dict]) -> str | None:
    """Write what the table `known_entropy` says of adaptive and fixed spans at the largest S.

    None where it lacks a cell, and where the adaptive spans have hardly moved from their start.
    """
    forms = {column.title: column.form for column in list_columns(cells)}
    shown = {(cell["row"], cell["column"]): cell for cell in cells if cell["value"] is not None}
    spans = [int(row.removeprefix("adaptive, S = ")) for row, _ in shown if row.startswith("adaptive, S = ")]
    S = max(spans, default=0)
    places = {name: (f"adaptive, S = {S}", column) for name, column in ADAPTIVE.items()}
    places |= {"theirs": (f"fixed, S = {S}", "test"), "best": (BEST, "test")}
    if not set(places.values()) <= shown.keys():
        return None
    used = [shown[place] for place in places.values()]
    if any(UNMOVED in (cell.get("note") or "") for cell in used):
        return None
    trained = "" if all(converged(cell.get("late_gain")) for cell in used) else ", not converged"
    said = {name: forms[place[1]].text(shown[place]["value"]) for name, place in places.items()}
    difference = shown[places["difference"]]
    return (
        f"On a text whose best possible prediction is known, {said['best']} bits per character, adaptive spans of at "
        f"most {S} characters score {said['ours']} on test and fixed ones {said['theirs']}, {_tell(difference, forms)} "
        f"over {count(int(difference['n']), 'seed')}{trained}. The adaptive ones take {said['work']} times the "
        f"executed multiply-adds of the fixed ones, and reach {said['span']} characters on average."
    )


def _tell(difference: dict, forms: dict) -> str:
    """Say whether a difference can be told from chance, and its size with half its interval."""
    text, low, high = text_of(difference, forms[difference["column"]]), difference["low"], difference["high"]
    if low is None or low <= 0 <= high:
        return f"which cannot be told apart ({text} bpc)"
    return f"{text.removeprefix('-')} bpc {'worse' if low > 0 else 'better'}"


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
