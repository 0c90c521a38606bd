"""Hold the claims of one group against what was measured: `python -m workflow.scripts.claims GROUP OUT INPUTS...`

GROUP: an ablation, `layers`, or `formulas`. Writes the evidence for each claim; the ledger gives the verdicts.
"""

import json
from pathlib import Path

from workflow.config.command_line import Parser, run
from workflow.config.errors import check_known
from workflow.plan.claims import ablation_of, known_claims
from workflow.report.claims.evidence import collect_evidence
from workflow.report.claims.schema import load_claim
from workflow.report.texts import name_badges
from workflow.results.record import write_text
from workflow.results.runs_table import describe_runs, read_frames


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="claims", description="Hold the claims of one group against what was measured.")
    parser.add_argument("group")
    parser.add_argument("out", type=Path)
    parser.add_argument("inputs", type=Path, nargs="*")
    options = parser.parse_args(argv)
    names = [name for name in known_claims() if ablation_of(name) == options.group]
    check_known("group of claims", options.group, {ablation_of(name) for name in known_claims()})
    frames = read_frames(options.inputs)
    lines = [collect_evidence(name, load_claim(name), frames) for name in names]
    origin = describe_runs(frames.runs, name_badges(frames.runs)) if frames.runs is not None else None
    write_text(options.out, json.dumps({"provenance": origin, "claims": lines}, indent=1))


if __name__ == "__main__":
    run(main)
