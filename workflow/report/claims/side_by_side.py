"""One claim in several sets of results: a verdict for each, and that of the strongest which can tell.

Where none can, its own, or, where it was not tested, that of the strongest which did.
"""

from workflow.plan.scales import strength

TELLING = ("reproduced", "consistent", "not reproduced")
SHOWN = ("verdict", "why", "effect", "low", "high", "n", "p", "holm", "detectable", "ours", "than")
SHOWN += ("by_text", "texts", "pairs", "of", "at", "digests")


def stand_side_by_side(lines: list[dict], own: tuple[str, str], others: list[dict]) -> list[dict]:
    """The judged claims with `sets`, strongest first, `overall`, the verdict to show, and `strongest`, whose it is.

    own: name and scale of the results that `lines` are about. others: what `workflow.scripts.evidence` wrote, a mapping
    with `set`, `scale` and `claims` for each. Nothing is averaged across sets.
    """
    return [line | _compare(line, own, others) for line in lines]


def _compare(line: dict, own: tuple[str, str], others: list[dict]) -> dict:
    sets = [mine := _of_set(*own, line)]
    for other in others:
        theirs = next((claim for claim in other["claims"] if claim["name"] == line["name"]), None)
        if theirs is not None and theirs["effect"] is not None and theirs["ablation"] is not None:
            sets.append(_of_set(other["set"], other["scale"], theirs))
    sets.sort(key=lambda each: -strength(each["scale"]))  # stable: among equals the own comes first
    telling = [each for each in sets if each["verdict"] in TELLING]
    tested = [each for each in (mine, *sets) if each["verdict"] != "not tested"]
    best = (telling or tested or [mine])[0]
    return {"sets": sets, "overall": best["verdict"], "strongest": best["set"]}


def speaking(line: dict) -> dict:
    """Of a line with its sets, the evidence of the set whose verdict is shown."""
    return next(each for each in line["sets"] if each["set"] == line["strongest"])


def _of_set(name: str, scale: str, line: dict) -> dict:
    shown = {key: line[key] for key in SHOWN}
    return {"set": name, "scale": scale, "otherwise_on": texts_otherwise(line), **shown}


def texts_otherwise(line: dict) -> list[str]:
    """The texts whose own mean is not as the verdict over all of them says."""
    if line["verdict"] not in TELLING or not line["by_text"]:
        return []
    low, high = line["claimed"]
    as_claimed = {
        text: (low is None or effect >= low) and (high is None or effect <= high)
        for text, effect in line["by_text"].items()
    }
    return [text for text, agrees in as_claimed.items() if agrees == (line["verdict"] == "not reproduced")]
