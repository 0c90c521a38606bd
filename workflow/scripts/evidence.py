"""Judge all claims by another set of results: `python -m workflow.scripts.evidence NAME PATH OUT`.

PATH: a scale's folder under results/, a folder of results/precomputed, or a bundle. OUT: {"set", "scale", "provenance",
"claims"}; the ledger shows them next to its own.
"""

import json
from pathlib import Path

from workflow.compare.result_set import read_set
from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError
from workflow.plan.claims import known_claims
from workflow.report.claims.evidence import collect_evidence
from workflow.report.claims.ledger import judge_all
from workflow.report.claims.schema import load_claim
from workflow.report.texts import name_badges
from workflow.results.record import write_text
from workflow.results.runs_table import Frames, describe


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="evidence", description="Judge all claims by another set of results.")
    parser.add_argument("name")
    parser.add_argument("path", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args(argv)
    found = read_set(options.path)
    runs, frames = found.runs, Frames(found.runs, found.layers)
    scales = sorted(set(runs["scale"]))
    if len(scales) > 1:
        raise ConfigError(f"{options.path}: results of several scales, {' and '.join(scales)}; name one of them")
    claims = judge_all([collect_evidence(name, load_claim(name), frames) for name in known_claims()])
    content = {
        "set": options.name,
        "scale": scales[0],
        "provenance": describe(runs, name_badges(runs)),
        "claims": claims,
    }
    write_text(options.out, json.dumps(content, indent=1))


if __name__ == "__main__":
    run(main)
