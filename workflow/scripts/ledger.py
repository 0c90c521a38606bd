"""Judge all claims together: `python -m workflow.scripts.ledger OUT.json EVIDENCE...` writes OUT.json and OUT.csv.

EVIDENCE: what `workflow.scripts.claims` wrote, a file for each group. Claims about what was not asked for stand in the
ledger, too, and say so.
"""

import argparse
import json
from pathlib import Path

import pandas as pd

from workflow.config.command_line import run
from workflow.config.strict import parse_json
from workflow.plan.claims import known_claims
from workflow.report.claims.ledger import evidence, ledger
from workflow.report.claims.schema import load_claim
from workflow.results.record import write_text
from workflow.results.runs_table import Frames


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="ledger", description="Judge all claims together.")
    parser.add_argument("out", type=Path)
    parser.add_argument("evidence", type=Path, nargs="*")
    options = parser.parse_args(argv)
    contents = [parse_json(path.read_bytes(), str(path)) for path in options.evidence]
    lines = {line["name"]: line for content in contents for line in content["claims"]}
    for name in known_claims():
        lines.setdefault(name, evidence(name, load_claim(name), Frames(None, None)))
    origin = "; ".join(sorted({content["provenance"] for content in contents if content["provenance"]}))
    judged = ledger([lines[name] for name in sorted(lines)])
    write_text(options.out, json.dumps({"provenance": origin, "claims": judged}, indent=1))
    tidy = [{**line, **{key: " ".join(line[key]) for key in ("digests", "published")}} for line in judged]
    table = pd.DataFrame(tidy).assign(**{"measured at": origin})
    write_text(options.out.with_suffix(".csv"), table.to_csv(index=False))


if __name__ == "__main__":
    run(main)
