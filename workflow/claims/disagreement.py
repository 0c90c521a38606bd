"""Find the sets of results that disagree with the one shown for a claim, and what differs between
them.

A sentence that gives the number of one scale names every other scale whose interval excludes it.
"""

from workflow.claims.ledger import speaking
from workflow.claims.measures import COUNTED
from workflow.results.numbers import join

PLACE = "place"  # on the grid of the question


def disagreeing(line: dict) -> list[dict]:
    """List the evidence of each set whose interval excludes the effect that is shown. line: of the
    ledger.
    """
    effect = speaking(line)["effect"]
    if effect is None:
        return []
    noise = max((COUNTED.get(name, 0.0) for name in line["measure"]), default=0.0)
    found = []
    for each in line["sets"]:
        if each["set"] == line["speaks"] or _hardly_moved(each):
            continue
        ends = _interval(each, noise)
        if ends is not None and not ends[0] <= effect <= ends[1]:
            found.append(each)
    return found


def opposes(theirs: dict, line: dict) -> bool:
    """Return whether a set has the effect on the other side of no effect than the one shown, or
    another verdict.

    Reproduced and consistent are alike: in both the effect is as claimed. Models that have not
    converged are judged by the side alone.
    """
    ours = speaking(line)
    null = float(line["by"] == "ratio")
    if (theirs["effect"] > null) != (ours["effect"] > null) or (theirs["effect"] < null) != (
        ours["effect"] < null
    ):
        return True
    verdicts = {
        "reproduced" if each["verdict"] == "consistent" else each["verdict"]
        for each in (theirs, ours)
    }
    return len(verdicts - {"not converged"}) > 1


def _hardly_moved(evidence: dict) -> bool:
    """Return whether the learned spans of a set barely moved; its effect then says nothing about
    spans and has no p.
    """
    return evidence["verdict"] == "not converged" and evidence["p"] is None


def _interval(evidence: dict, noise: float) -> tuple[float, float] | None:
    """Return the interval of an effect; for one without variance or measured once, the range over
    corpora.

    noise: the relative difference between two measurements of the same model. None with too few
    seeds.
    """
    if evidence["low"] is not None:
        return evidence["low"], evidence["high"]
    of_text: dict[str, list[float]] = {}
    for pair in evidence["pairs"]:
        of_text.setdefault(pair["text"], []).append(pair["effect"])
    ends = [(min(effects), max(effects)) for effects in of_text.values()]
    if not ends or any(high - low > 1e-9 * abs(high) for low, high in ends):
        return None
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    return low - noise * abs(low), high + noise * abs(high)


def what_differs(theirs: dict, ours: dict) -> dict[str, str]:
    """Map each setting in which another set of results differs to its value there.

    Width, updates and device by name; S, k or the shape of a layer as `PLACE`; the datasets as
    `corpora`.
    """
    own = ours["setting"] or {}
    found = {
        name: value for name, value in (theirs["setting"] or {}).items() if value != own.get(name)
    }
    if theirs["at"] and theirs["at"] != ours["at"]:
        found = {PLACE: theirs["at"].removeprefix("at ")} | found
    if theirs["texts"] and theirs["texts"] != ours["texts"]:
        found["corpora"] = join(theirs["texts"])
    return found
