"""Judge all claims together: `python -m workflow.scripts.ledger OUT.json --set NAME --scale SCALE EVIDENCE...`

EVIDENCE: what `workflow.scripts.claims` wrote, a file for each group, and `workflow.scripts.evidence`, one for each set
that stands beside. Writes OUT.json and OUT.csv. The ledger holds every claim; one about what was not run says so.
"""

import json
from pathlib import Path

import pandas as pd

from workflow.config.command_line import Parser, run
from workflow.plan.claims import known_claims
from workflow.report.claims.ledger import collect_evidence, judge_all
from workflow.report.claims.lines import read_lines
from workflow.report.claims.schema import load_claim
from workflow.report.claims.side_by_side import stand_side_by_side
from workflow.results.csv_text import csv_text
from workflow.results.record import write_text
from workflow.results.runs_table import Frames


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="ledger", description="Judge all claims together.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--set", required=True, help="the name of these results")
    parser.add_argument("--scale", required=True, help="that they were made at")
    parser.add_argument("evidence", type=Path, nargs="*")
    options = parser.parse_intermixed_args(argv)
    lines, origins, others = read_evidence(options.evidence)
    for name in known_claims():
        lines.setdefault(name, collect_evidence(name, load_claim(name), Frames(None, None)))
    claims = judge_all([lines[name] for name in sorted(lines)])
    claims = stand_side_by_side(claims, (options.set, options.scale), others)
    beside = [{key: other[key] for key in ("set", "scale", "provenance")} for other in others]
    content = {"set": options.set, "provenance": sorted(set(origins.values())), "beside": beside, "claims": claims}
    write_text(options.out, json.dumps(content, indent=1))
    rows = [{**line, **{key: " ".join(line[key]) for key in ("measure", "digests", "published")}} for line in claims]
    rows = [{**row, "sets": " ".join(f"{each['set']}: {each['verdict']};" for each in row["sets"])} for row in rows]
    table = pd.DataFrame(rows).assign(**{"measured at": [origins.get(line["name"]) for line in claims]})
    write_text(options.out.with_suffix(".csv"), csv_text(table))


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


if __name__ == "__main__":
    run(main)
