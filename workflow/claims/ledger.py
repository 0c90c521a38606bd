"""The ledger: judge the evidence for all claims together, next to other sets of results, and write
it to files.
"""

import json
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from workflow.claims.evidence import ALWAYS, CLAIMED, EMPTY, collect_evidence
from workflow.claims.robustness import collect_sizes, collect_tuned
from workflow.claims.schema import Claim, claims_about, is_as_claimed, known_claims, load_claim
from workflow.config.errors import ConfigError
from workflow.config.renamed import renew_evidence
from workflow.config.strict import read_json
from workflow.plan.questions import load_question
from workflow.plan.scales import strength
from workflow.results.datasets import name_badges
from workflow.results.record import write_text
from workflow.results.runs_table import Frames, csv_text, describe_runs
from workflow.results.statistics import LEVEL, holm
from workflow.results.trained_enough import converged

OUTSIDE = "the interval excludes the claim"
VERDICTS = (
    "reproduced",
    "consistent",
    "equivalent",
    "not reproduced",
    "not converged",
    "inconclusive",
    "not tested",
)
# kept of the verdict with tuned variants
BESIDE = ("verdict", "effect", "low", "high", "n", "p", "holm")
LINE = frozenset({*EMPTY, *CLAIMED, *ALWAYS})
TELLING = ("reproduced", "consistent", "equivalent", "not reproduced")
SHOWN = ("verdict", "why", "effect", "low", "high", "n", "p", "holm", "detectable", "ours", "than")
SHOWN += (
    "by_text",
    "texts",
    "pairs",
    "of",
    "at",
    "digests",
    "signed",
    "looks",
    "late_gain",
    "tuned",
    "sizes",
    "setting",
)


def judge_all(lines: list[dict]) -> list[dict]:
    """Judge all claims together, sorted by name: p is corrected for the number of claims tested.

    Claims with tuned variants are judged a second time, with the tuned evidence in place of that on
    one recipe.
    """
    tuned = _judge_family([line["tuned"] or line for line in lines])
    judged = [
        line | {"tuned": line["tuned"] and tuned[line["name"]]}
        for line in _judge_family(lines).values()
    ]
    return sorted(judged, key=lambda line: line["name"])


def _judge_family(lines: list[dict]) -> dict[str, dict]:
    """Judge claims by name."""
    corrected = iter(holm([line["p"] for line in lines if line["p"] is not None]))
    lines = [line if line["p"] is None else line | {"holm": next(corrected)} for line in lines]
    return {
        line["name"]: line if line["verdict"] else line | judge(line, load_claim(line["name"]))
        for line in lines
    }


def judge(line: dict, claim: Claim) -> dict:
    """Judge one claim that was tested."""
    toward = is_as_claimed(claim, line["effect"])
    clear, likely = line["holm"] <= LEVEL, line["p"] <= LEVEL
    gain = line["late_gain"]
    still = (
        ""
        if converged(gain)
        else f"but dev still improved by {gain:.2g} bits in the last quarter of training"
    )
    if toward and clear and not still:
        return {"verdict": "reproduced", "why": "as claimed, significant after Holm correction"}
    if toward and likely:
        weaker = still or "significant individually, not after Holm correction"
        return {"verdict": "consistent", "why": f"as claimed, {weaker}"}
    if line["p_none"] is not None and line["p_none"] <= LEVEL:
        return {
            "verdict": "equivalent",
            "why": f"within ±{claim.negligible:g} {line['unit']} of no effect",
        }
    if _contradicts(line, claim):
        if likely or claim.expect == "equal":
            if still:
                return {"verdict": "not converged", "why": f"{OUTSIDE}, {still}"}
            return {"verdict": "not reproduced", "why": OUTSIDE}
        return {"verdict": "inconclusive", "why": f"{OUTSIDE}, but p > 0.05"}
    if is_as_claimed(claim, line["low"]) and is_as_claimed(claim, line["high"]):
        alone = (
            "the interval agrees with the claim, but p > 0.05 (adjusted for three interim analyses)"
        )
        return {"verdict": "inconclusive", "why": alone}
    return {"verdict": "inconclusive", "why": "the interval includes both sides of the claim"}


def _contradicts(line: dict, claim: Claim) -> bool:
    """Check whether no value in the interval is as claimed."""
    outside = not is_as_claimed(claim, line["low"]) and not is_as_claimed(claim, line["high"])
    if claim.expect != "equal":
        return outside
    return outside and (line["low"] > claim.against) == (line["high"] > claim.against)


def read_lines(path: Path, keys: Iterable[str], more: Iterable[str] = ()) -> dict:
    """Read a file of evidence, or the ledger. It has `keys` and "claims", a claim the keys `LINE`
    and `more`.
    """
    content = renew_evidence(read_json(path))
    missing = {"claims", *keys} - set(content if isinstance(content, dict) else ())
    if missing:
        raise ConfigError(
            f"{path}: expected evidence as the workflow writes it: no '{min(missing)}'"
        )
    for number, line in enumerate(
        content["claims"] if isinstance(content["claims"], list) else ["?"]
    ):
        if missing := {*LINE, *more} - set(line if isinstance(line, dict) else ()):
            where = f"{path}: claim {number}"
            raise ConfigError(
                f"{where}: expected evidence as the workflow writes it: no '{min(missing)}'"
            )
    return content


def stand_side_by_side(lines: list[dict], own: tuple[str, str], others: list[dict]) -> list[dict]:
    """Add to each claim its `sets`, strongest first, the verdict to show (`overall`) and the set
    that `speaks`.

    own: name and scale of the results that `lines` are about. others: the files that
    `workflow.scripts.evidence` wrote, each a mapping with `set`, `scale` and `claims`. Nothing is
    averaged across sets.
    """
    return [line | _compare(line, own, others) for line in lines]


def _compare(line: dict, own: tuple[str, str], others: list[dict]) -> dict:
    sets = [mine := _of_set(*own, line)]
    for other in others:
        theirs = next((claim for claim in other["claims"] if claim["name"] == line["name"]), None)
        if theirs is not None and theirs["question"] is not None and _is_told(theirs):
            sets.append(_of_set(other["set"], other["scale"], theirs))
    sets.sort(key=lambda each: -strength(each["scale"]))  # stable: among equals the own comes first
    telling = sorted((each for each in sets if each["verdict"] in TELLING), key=order)
    tested = [each for each in (mine, *sets) if each["verdict"] != "not tested"]
    best = (telling or tested or [mine])[0]
    return {"sets": sets, "overall": best["verdict"], "speaks": best["set"]}


def order(evidence: dict) -> tuple[float, float]:
    """Sort key for evidence, best first: closest to convergence, then the strongest scale."""
    gain = evidence["late_gain"]
    return 0.0 if converged(gain) else gain, -strength(evidence["scale"])


def _is_told(line: dict) -> bool:
    """Return whether a set has an effect, of the claim itself or at some model size."""
    return any(each["effect"] is not None for each in (line, *(line["sizes"] or ())))


def speaking(line: dict) -> dict:
    """Return the evidence of the set whose verdict is shown."""
    return next(each for each in line["sets"] if each["set"] == line["speaks"])


def _of_set(name: str, scale: str, line: dict) -> dict:
    shown = {key: line[key] for key in SHOWN}
    return {"set": name, "scale": scale, "otherwise_on": texts_otherwise(line), **shown}


def texts_otherwise(line: dict) -> list[str]:
    """List the corpora whose own mean contradicts the overall verdict."""
    if line["verdict"] not in TELLING or not line["by_text"]:
        return []
    low, high = line["claimed"]
    as_claimed = {
        text: (low is None or effect >= low) and (high is None or effect <= high)
        for text, effect in line["by_text"].items()
    }
    return [
        text
        for text, agrees in as_claimed.items()
        if agrees == (line["verdict"] == "not reproduced")
    ]


def collect(names: Iterable[str], frames: Frames) -> list[dict]:
    """Collect the evidence for claims, with tuned variants and other sizes."""
    claims = {name: load_claim(name) for name in names}
    return [
        collect_evidence(name, claim, frames)
        | {"tuned": collect_tuned(name, claim, frames), "sizes": collect_sizes(name, claim, frames)}
        for name, claim in claims.items()
    ]


def write_evidence(out: Path, question: str, frames: Frames) -> None:
    """Write the evidence for the claims about a question; the ledger adds the verdicts.

    A question with several model sizes also has the evidence of claims tested on these sizes.
    """
    origin = describe_runs(frames.runs, name_badges(frames.runs))
    content = {"provenance": origin, "claims": collect(claims_about(question), frames), "sizes": {}}
    if len(load_question(question).sizes) > 1:
        asked = {name: claim.sizes for name in known_claims() if (claim := load_claim(name)).sizes}
        here = [name for name, ladder in asked.items() if ladder.question == question]
        content["sizes"] = {name: collect_sizes(name, load_claim(name), frames) for name in here}
    write_text(out, json.dumps(content, indent=1))


def write_ledger(
    out: Path, own: tuple[str, str], evidence: list[Path], layers: pd.DataFrame | None
) -> None:
    """Judge every claim. Claims without runs say so; claims about layers or formulas need no
    evidence.

    out: the JSON file. own: name and scale of these results. evidence: files of questions and of
    other sets.
    """
    lines, origins, others = read_evidence(evidence)
    for name in known_claims():
        lines.setdefault(name, collect_evidence(name, load_claim(name), Frames(None, layers)))
    claims = stand_side_by_side(judge_all([lines[name] for name in sorted(lines)]), own, others)
    beside = [{key: other[key] for key in ("set", "scale", "provenance")} for other in others]
    content = {
        "set": own[0],
        "provenance": sorted(set(origins.values())),
        "beside": beside,
        "claims": claims,
    }
    write_text(out, json.dumps(content, indent=1))
    write_text(out.with_suffix(".csv"), csv_text(_table(claims, origins)))


def _table(claims: list[dict], origins: dict[str, str]) -> pd.DataFrame:
    """Make a table with a row per claim, without pairs."""
    rows = [
        {key: value for key, value in line.items() if key not in ("pairs", "tuned", "sizes")}
        for line in claims
    ]
    tuned = [line["tuned"] or {} for line in claims]
    rows = [
        {**row, **{f"tuned {key}": each.get(key) for key in BESIDE}}
        for row, each in zip(rows, tuned, strict=True)
    ]
    rows = [
        {**row, **{key: " ".join(row[key]) for key in ("measure", "digests", "published")}}
        for row in rows
    ]
    rows = [{**row, "texts": "; ".join(row["texts"])} for row in rows]
    rows = [{**row, "signed": " ".join(row["signed"].values())} for row in rows]
    rows = [
        {**row, "sets": " ".join(f"{each['set']}: {each['verdict']};" for each in row["sets"])}
        for row in rows
    ]
    return pd.DataFrame(rows).assign(
        **{"measured at": [origins.get(line["name"]) for line in claims]}
    )


def read_evidence(paths: list[Path]) -> tuple[dict[str, dict], dict[str, str], list[dict]]:
    """Read the evidence by claim, the provenance of each, and the other sets of results."""
    lines, origins, sizes, others = {}, {}, {}, []
    for path in paths:
        content = read_lines(path, ["provenance"])
        if "set" in content:
            others.append(content)
            continue
        sizes |= content.get("sizes", {})
        for line in content["claims"]:
            lines[line["name"]] = line
            if content["provenance"]:
                origins[line["name"]] = content["provenance"]
    return (
        {name: line | {"sizes": sizes.get(name, [])} for name, line in lines.items()},
        origins,
        others,
    )
