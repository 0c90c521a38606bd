"""The ledger as files: all claims judged together, with other sets of results beside, as JSON and CSV."""

import json
from pathlib import Path

import pandas as pd

from workflow.plan.claims import claims_about, known_claims
from workflow.report.claims.ledger import collect_evidence, judge_all
from workflow.report.claims.lines import read_lines
from workflow.report.claims.schema import load_claim
from workflow.report.claims.side_by_side import stand_side_by_side
from workflow.report.texts import name_badges
from workflow.results.csv_text import csv_text
from workflow.results.record import write_text
from workflow.results.runs_table import Frames, describe


def write_evidence(out: Path, ablation: str, frames: Frames) -> None:
    """Compare the claims about an ablation with what was measured; the ledger gives the verdicts."""
    lines = [collect_evidence(name, load_claim(name), frames) for name in claims_about(ablation)]
    origin = describe(frames.runs, name_badges(frames.runs))
    write_text(out, json.dumps({"provenance": origin, "claims": lines}, indent=1))


def write_ledger(out: Path, own: tuple[str, str], evidence: list[Path], layers: pd.DataFrame | None) -> None:
    """Judge every claim; one about what was not run says so, and one about layers or formulas needs no evidence.

    out: of the JSON. own: name and scale of the results that it is about. evidence: files of ablations and of sets.
    """
    lines, origins, others = read_evidence(evidence)
    for name in known_claims():
        lines.setdefault(name, collect_evidence(name, load_claim(name), Frames(None, layers)))
    claims = stand_side_by_side(judge_all([lines[name] for name in sorted(lines)]), own, others)
    beside = [{key: other[key] for key in ("set", "scale", "provenance")} for other in others]
    content = {"set": own[0], "provenance": sorted(set(origins.values())), "beside": beside, "claims": claims}
    write_text(out, json.dumps(content, indent=1))
    write_text(out.with_suffix(".csv"), csv_text(_table(claims, origins)))


def _table(claims: list[dict], origins: dict[str, str]) -> pd.DataFrame:
    """A row for each claim, without its pairs."""
    rows = [{key: value for key, value in line.items() if key != "pairs"} for line in claims]
    rows = [{**row, **{key: " ".join(row[key]) for key in ("measure", "digests", "published")}} for row in rows]
    rows = [{**row, "texts": "; ".join(row["texts"])} for row in rows]
    rows = [{**row, "sets": " ".join(f"{each['set']}: {each['verdict']};" for each in row["sets"])} for row in rows]
    return pd.DataFrame(rows).assign(**{"measured at": [origins.get(line["name"]) for line in claims]})


def read_evidence(paths: list[Path]) -> tuple[dict[str, dict], dict[str, str], list[dict]]:
    """The evidence by claim, where it was measured, and the sets that stand beside."""
    lines, origins, others = {}, {}, []
    for path in paths:
        content = read_lines(path, ["provenance"])
        if "set" in content:
            others.append(content)
            continue
        for line in content["claims"]:
            lines[line["name"]] = line
            if content["provenance"]:
                origins[line["name"]] = content["provenance"]
    return lines, origins, others
