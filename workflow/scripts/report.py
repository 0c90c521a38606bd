"""Judge all claims together: `python -m workflow.scripts.ledger OUT.json --set NAME --scale SCALE EVIDENCE...`

EVIDENCE: what `workflow.scripts.claims` wrote, a file for each group, and `workflow.scripts.evidence`, one for each set
that stands beside. Writes OUT.json and OUT.csv. The ledger holds every claim; one about what was not run says so.
"""

from pathlib import Path

from workflow.config.command_line import Parser, run
from workflow.report.claims.together import write_ledger


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="ledger", description="Judge all claims together.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--set", required=True, help="the name of these results")
    parser.add_argument("--scale", required=True, help="that they were made at")
    parser.add_argument("evidence", type=Path, nargs="*")
    options = parser.parse_intermixed_args(argv)
    write_ledger(options.out, (options.set, options.scale), options.evidence)


if __name__ == "__main__":
    run(main)
