"""Judge all claims by another bundle: `python -m workflow.scripts.evidence NAME PATH OUT`.

PATH: a scale's folder under results/ or results/precomputed/, or an archive. OUT: {"set", "scale",
"provenance", "claims", "overview"}; the ledger shows its claims next to its own, and the index its
overview.
"""

from pathlib import Path

from workflow.claims.collect import collect
from workflow.claims.evidence import OtherSet, as_json
from workflow.claims.ledger import judge_all
from workflow.claims.schema import known_claims, load_claims
from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError
from workflow.report.bundle import read_bundle
from workflow.report.overview.collect import OVERVIEW, as_content, overview_of
from workflow.results.datasets import name_badges
from workflow.results.record import write_text
from workflow.results.runs_table import describe_runs


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="evidence", description="Judge all claims by other results.")
    parser.add_argument("name")
    parser.add_argument("path", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args(argv)
    frames = read_bundle(options.path).frames
    runs = frames.runs
    scale, *others = sorted(set(runs["scale"]))
    if others:
        scales = " and ".join([scale, *others])
        raise ConfigError(f"{options.path}: results of several scales, {scales}; give one of them")
    claims = load_claims(known_claims())
    lines = collect(claims, frames)
    judged = OtherSet(
        set=options.name,
        scale=scale,
        provenance=describe_runs(runs, name_badges(runs)),
        claims=tuple(judge_all(lines, claims)),
    )
    overview = overview_of(frames, options.name)
    content = vars(judged) | {OVERVIEW: as_content(overview)}
    write_text(options.out, as_json(content))


if __name__ == "__main__":
    run(main)
