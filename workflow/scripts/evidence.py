"""Judge all claims by another bundle: `python -m workflow.scripts.evidence NAME PATH OUT`.

PATH: a scale's folder under results/ or results/precomputed/, or an archive. OUT: {"set", "scale",
"provenance", "claims", "overview"}; the ledger shows its claims next to its own, and the index its
overview.
"""

import gc
from pathlib import Path

from workflow.claims.collect import collect
from workflow.claims.evidence import as_json
from workflow.claims.ledger import judge_all
from workflow.claims.schema import known_claims, load_claims
from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError
from workflow.report.bundle import read_bundle
from workflow.report.overview.files import OVERVIEW, as_content, overview_of
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
    runs, scales = frames.runs, sorted(set(frames.runs["scale"]))
    if len(scales) > 1:
        raise ConfigError(
            f"{options.path}: results of several scales, {' and '.join(scales)}; give one of them"
        )
    claims = load_claims(known_claims())
    judged = judge_all(collect(claims, frames), claims)
    origin = describe_runs(runs, name_badges(runs))
    content = {"set": options.name, "scale": scales[0], "provenance": origin, "claims": judged}
    content[OVERVIEW] = as_content(overview_of(frames, options.name))
    write_text(options.out, as_json(content))


if __name__ == "__main__":
    # what it makes lives until it ends, and looking for garbage takes a tenth of its time
    gc.disable()
    run(main)
