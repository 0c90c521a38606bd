"""The page of the ledger: every claim of the papers, its verdict, the evidence in a line, and its
numbers as text.

A claim's numbers are written alike in a sentence, in its row of the ledger, and in the forest plot.
Here `evidence` is that of the set of results whose verdict is shown
(`workflow.claims.ledger`).
"""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from workflow.claims.disagreement import PLACE, disagreeing, opposes, what_differs
from workflow.claims.ledger import VERDICTS, read_lines, speaking
from workflow.claims.measures import LAYERS, UNITS, split_of
from workflow.claims.published import find, studies
from workflow.claims.samples import NOT_ASKED
from workflow.plan.questions import Question
from workflow.plan.reads import reads
from workflow.report.pages.artefacts import runs_at
from workflow.report.pages.site import Site
from workflow.results.numbers import Form, behind, count, form_of, join, number
from workflow.results.store import ships
from workflow.results.timings import WITHOUT
from workflow.results.trained_enough import converged


@dataclass(frozen=True)
class Ledger:
    """set: the results it is about, by name. beside: the sets that stand beside it. claims: those
    that were asked.
    """

    set: str
    beside: list[dict]
    claims: list[dict]

    @property
    def measured(self) -> list[dict]:
        """The claims that rest on measurements, not on formulas alone."""
        return [line for line in self.claims if line["question"] is not None]

    @property
    def by_formula(self) -> list[dict]:
        return [line for line in self.claims if line["question"] is None]

    def elsewhere(self, scale: str) -> str:
        """Write behind a verdict which scale gave it, where that is another one; `frame.js` reads
        it.
        """
        return "" if scale == self.set else f" at scale {scale}"


def read_ledger(path: Path) -> Ledger | None:
    """Read a ledger without the claims whose question was not asked; None where no ledger was
    made.
    """
    if not path.exists():
        return None
    content = read_lines(path, ["set", "beside"], ["overall", "speaks", "sets"])
    lines = sorted(
        content["claims"], key=lambda line: (not line["abstract"], line["where"], line["name"])
    )
    return Ledger(content["set"], content["beside"], [line for line in lines if _was_asked(line)])


def _was_asked(line: dict) -> bool:
    """Check whether the claim's question was run here, or another set of results can tell it."""
    return line["overall"] != "not tested" or line["why"] != NOT_ASKED


def count_verdicts(lines: list[dict]) -> list[tuple[str, int]]:
    """Count each verdict that occurs, from reproduced to not tested."""
    counts = Counter(line["overall"] for line in lines)
    return [(verdict, counts[verdict]) for verdict in VERDICTS if counts[verdict]]


def ledger_page(site: Site, ledger: Ledger, questions: Collection[Question]) -> dict:
    """Collect what the page shows. questions: those that have a page to link to, and whose papers
    have one.
    """
    with_page = {question.paper for question in questions}
    tables = {table for question in questions for table in question.tables}
    lines, path = ledger.claims, site.results / "ledger.json"
    content = {
        "set": ledger.set,
        "beside": ledger.beside,
        "tested": sum(line["holm"] is not None for line in lines),
        "counts": count_verdicts(ledger.measured),
        "by_formula": count_verdicts(ledger.by_formula),
        "papers": [
            {
                "title": study.heading,
                "page": f"papers/{name}.html" if name in with_page else None,
                "lines": [
                    _line(site, line, ledger.set, tables) for line in lines if line["paper"] == name
                ],
            }
            for name, study in studies().items()
        ],
        "files": [site.offer(path.with_suffix(ending)) for ending in (".json", ".csv")],
    }
    return {"title": "Claims of the papers and the evidence for them", "ledger": content}


def _line(site: Site, line: dict, own: str, tables: set[str]) -> dict:
    """Add to a claim what the paper prints, links to its numbers, and the numbers of the set whose
    verdict is shown.

    own: the set that this report is about; runs of another set link to its report where that
    exists. tables: the names of those on the pages of this report.
    """
    values = [find(key) for key in line["published"]]
    printed = "; ".join(f"{_label(value)}: {value.text}" for value in values)
    about = {"printed": printed, "anchor": f"claim-{line['name']}", "page": _page(line, tables)}
    evidence, unit = speaking(line), line["unit"] or ""
    about |= {"rank": VERDICTS.index(line["overall"]), "basis": name_basis(evidence), "unit": unit}
    about |= {"written": write_numbers(evidence, line) | write_details(evidence, unit)}
    mine, pairs = evidence["set"] == own, write_pairs(evidence, line)
    about |= {"pairs": pairs, "came": not mine and any(map(ships, evidence["digests"]))}
    about |= {"sets": [each | {"written": write_numbers(each, line)} for each in line["sets"]]}
    about["disagreeing"] = name_disagreeing(line)
    return (
        line
        | evidence
        | about
        | {"run_pages": run_pages(site, evidence, runs_at(line["question"]), mine)}
    )


def run_pages(site: Site, evidence: dict, place: str, mine: bool) -> dict[str, str]:
    """Map each run's digest to its page, relative to this report; runs of another scale only where
    the page exists.
    """
    digests = {
        digest
        for pair in evidence["pairs"]
        for digests in pair["runs"].values()
        for digest in digests
    }
    if mine:
        return {digest: f"{place}{digest}.html" for digest in digests}
    folder = f"{evidence['set']}/{place}"
    there = {
        digest for digest in digests if (site.reports.parent / folder / f"{digest}.html").exists()
    }
    return {digest: f"../{folder}{digest}.html" for digest in there}


def _page(line: dict, tables: set[str]) -> str | None:
    """Return the page with the claim's numbers: that of its question, the table of layers, or the
    formulas.
    """
    if line["question"] == LAYERS:
        table = next((name for name in sorted(tables) if "layers" in reads("tables", name)), None)
        return f"papers/{line['paper']}.html#table-{table}" if table else None
    if line["question"] is None:
        return "formulas.html"
    return f"{runs_at(line['question'])}index.html" if line["digests"] else None


def _label(value) -> str:
    return value.column if value.row == "text" else f"{value.row}, {value.column}"


def form_of_effect(evidence: dict, unit: str) -> Form:
    """Choose the form of the numbers, with as many digits as the interval allows.

    An interval that excludes no effect has a digit more where one of its ends would be written as
    no effect.
    """
    low, high = evidence["low"], evidence["high"]
    form = form_of([evidence["effect"]], [] if low is None else [(high - low) / 2], unit)
    if low is None:
        return form
    for null in (0.0, 1.0):  # of a difference, of a ratio
        if not low <= null <= high and form.text(null) in (form.text(low), form.text(high)):
            return replace(form, places=form.places + 1)
    return form


def write_numbers(evidence: dict, line: dict) -> dict[str, str]:
    """Write the effect and its interval, its absolute size, its share in per cent, its factor, and
    both sides.

    line: the claim's, with the unit of the effect.
    """
    unit, effect = line["unit"] or "", evidence["effect"]
    form = form_of_effect(evidence, unit)
    written = {key: form.text(evidence[key]) for key in ("effect", "low", "high")}
    written |= {key: _write_side(line, form)(evidence[key]) for key in ("ours", "than")}
    written |= dict(zip(("said", "interval"), say_effect(evidence, line), strict=True))
    if effect is None:
        return written | dict.fromkeys(("size", "share", "times"), "")
    # a share has as many digits as its ratio
    percent = replace(form, places=max(0, form.places - 2))
    size = f"{form.text(abs(effect))}{behind(unit)}"
    return written | {
        "size": size,
        "share": f"{percent.text(100 * effect)} %",
        "times": f"{form.text(effect)}×",
    }


def say_effect(evidence: dict, line: dict) -> tuple[str, str]:
    """Write an effect with its direction in words, and its interval in this direction; two empty
    texts without one.

    evidence: with `effect`, `low` and `high`; without `than` the effect is no difference and has no
    direction. line: the claim's, with what its effect is in.

    >>> say_effect({"effect": -0.026, "low": -0.044, "high": -0.007}, {"by": "difference", "unit":
    "bpc"}) ('0.026 bpc lower', '0.007 to 0.044')
    >>> share = {"effect": 0.0907, "low": 0.0835, "high": 0.0978, "than": None}
    >>> say_effect(share, {"by": "difference", "unit": "of S"})
    ('0.0907 of S', '0.0835 to 0.0978')
    """
    effect, low, high = (evidence[key] for key in ("effect", "low", "high"))
    if effect is None:
        return "", ""
    unit = line["unit"] or ""
    write = form_of_effect(evidence, unit).text
    if line["by"] != "difference" or evidence.get("than", 0.0) is None:
        sign = {"ratio": "×", "difference": behind(unit)}.get(line["by"], "")
        return f"{write(effect)}{sign}", "" if low is None else f"{write(low)} to {write(high)}"
    way, other = ("higher", "lower") if effect > 0 else ("lower", "higher")
    text = f"{write(abs(effect))}{behind(unit)} {way}"
    if low is None:
        return text, ""
    near, far = sorted((low, high), key=lambda end: end * effect)
    if near * effect >= 0:
        return text, f"{write(abs(near))} to {write(abs(far))}"
    return text, f"{write(abs(near))} {other} to {write(abs(far))} {way}"


def _write_side(line: dict, form: Form) -> Callable:
    """Return the function that writes a side's value: for a ratio in its own unit, else in the
    digits of the effect.
    """
    if line["by"] != "ratio":
        return form.text
    (unit, *others) = dict.fromkeys(UNITS[measure] for measure in line["measure"])
    return partial(number, unit="" if others else unit)


def name_disagreeing(line: dict) -> list[str]:
    """Write a sentence for each scale whose interval excludes the effect that is shown: its number
    and what differs.
    """
    ours, sentences = speaking(line), []
    for each in disagreeing(line):
        effect, interval = _write_effect(each, line)
        differs = what_differs(each, ours)
        other = [value if name == PLACE else f"{name} {value}" for name, value in differs.items()]
        about = "; ".join(filter(None, [interval, ", ".join(other)]))
        scale = f"Scale {each['set']}{' disagrees' if opposes(each, line) else ''}"
        sentences.append(f"{scale}: {effect}" + (f" ({about})." if about else "."))
    return sentences


def summarise_disagreeing(line: dict) -> str:
    """Write one short sentence on all scales whose intervals exclude the effect that is shown;
    empty without any.

    It says that they disagree where one has another direction or verdict. It names what differs
    there and leaves the values to the ledger's row.
    """
    ours, others, parts = speaking(line), disagreeing(line), []
    for each in others:
        effect, interval = _write_effect(each, line)
        differs = what_differs(each, ours)
        place = differs.pop(PLACE, "")
        if split_of(line["measure"]):
            differs.pop("device", None)  # it changes costs; a score it changes by the last bits
        other = f"different {join([*differs])}" if differs else ""
        late = "" if converged(each["late_gain"]) else "not converged"
        about = "; ".join(filter(None, [interval, place, other, late]))
        parts.append(f"{effect} at {each['set']}" + (f" ({about})" if about else ""))
    disagree = " disagree" if any(opposes(each, line) for each in others) else ""
    return f"Other scales{disagree}: {'; '.join(parts)}." if parts else ""


def _write_effect(evidence: dict, line: dict) -> tuple[str, str]:
    """Write an effect with its unit, and its interval; an empty text where there is none."""
    written = write_numbers(evidence, line)
    effect = (
        written["times"]
        if line["by"] == "ratio"
        else f"{written['effect']}{behind(line['unit'] or '')}"
    )
    interval = "" if evidence["low"] is None else f"95 % CI {written['low']} to {written['high']}"
    return effect, interval


def write_details(evidence: dict, unit: str) -> dict:
    """Write the effect on each text and the smallest detectable effect, in the digits of the
    effect.
    """
    form = form_of_effect(evidence, unit)
    by_text = {text: form.text(effect) for text, effect in (evidence["by_text"] or {}).items()}
    detectable = form.text(evidence["detectable"])
    return {"by_text": by_text, "detectable": detectable, "tuned": write_tuned(evidence, unit)}


def write_tuned(evidence: dict, unit: str) -> str:
    """Write the effect and the verdict with each variant tuned; empty if tuning did not change the
    effect.
    """
    tuned = evidence.get("tuned")
    if not tuned or tuned["effect"] == evidence["effect"]:
        return ""
    form = form_of_effect(tuned, unit)
    interval = (
        ""
        if tuned["low"] is None
        else f" (95 % CI {form.text(tuned['low'])} to {form.text(tuned['high'])})"
    )
    # on the page of a question nothing is judged yet
    verdict = f", {tuned['verdict']}" if tuned["verdict"] else ""
    return f"tuned: {form.text(tuned['effect'])}{behind(unit)}{interval}{verdict}"


def write_pairs(evidence: dict, line: dict) -> list[dict]:
    """Write the numbers of the pairs as text. line: the claim's.

    A round of a timing is named with its reference step, if it has one.
    """
    form = form_of_effect(evidence, line["unit"] or "")
    side = _write_side(line, form)
    forms = {"ours": side, "than": side, "effect": form.text, "turn": _spell_turn}
    return [
        pair | {key: write(pair[key]) for key, write in forms.items()} for pair in evidence["pairs"]
    ]


def _spell_turn(turn: int | list) -> str:
    """Write the number of a seed or round; a pair (clock, round) with its reference step."""
    clock, turn = turn if isinstance(turn, list | tuple) else (WITHOUT, turn)
    return f"{turn}" if clock == WITHOUT else f"{turn} (reference step {clock})"


def name_basis(evidence: dict) -> str:
    """Say what the interval is over: `2 corpora × 3 seeds`."""
    pairs = Counter(pair["text"] for pair in evidence["pairs"])
    few, many = (function(pairs.values(), default=0) for function in (min, max))
    basis = (
        f"{few} to {many} {evidence['of']}s"
        if few < many
        else count(many, evidence["of"] or "pair")
    )
    return f"{len(pairs)} corpora × {basis}" if len(pairs) > 1 else basis
