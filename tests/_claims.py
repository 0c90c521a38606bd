"""Claims about a table of runs that a test writes, and the evidence for them."""

import pandas as pd

from tests._costs import split_costs
from tests._runs import run
from workflow.claims.evidence import collect_evidence
from workflow.claims.ledger import judge
from workflow.claims.schema import Claim
from workflow.config.strict import parse
from workflow.results.runs_table import Frames, as_frame

CLAIM = {
    "claim": "It is so.",
    "paper": "adaptive_span",
    "where": "section 3",
    "question": "span_limit",
}
CLAIM |= {
    "measure": "dev_bpc",
    "ours": {"variant": "adaptive"},
    "than": {"variant": "fixed"},
    "expect": "less",
}


def claim(**changes) -> Claim:
    return parse(Claim, CLAIM | changes, "c")


def both(ours=(2.0, 2.1, 2.05), than=(2.3, 2.4, 2.33), **changes):
    rows = [run(variant="adaptive", seed=seed, dev_bpc=value) for seed, value in enumerate(ours)]
    rows += [run(variant="fixed", seed=seed, dev_bpc=value) for seed, value in enumerate(than)]
    return as_table([row | changes for row in rows])


FIXED, LONGEST = {"variant": "fixed"}, {"measure": "longest_S", "by": "ratio"}


def as_table(rows: list[dict]) -> pd.DataFrame:
    return as_frame(*split_costs(rows))


def evidence_of(
    asserted: Claim, runs: pd.DataFrame | None, apart: pd.DataFrame | None = None
) -> dict:
    return collect_evidence("a", asserted, Frames(runs, apart))


def judge_alone(asserted: Claim, runs: pd.DataFrame) -> dict:
    """The line of a claim that is the only one."""
    line = evidence_of(asserted, runs)
    return line if line["verdict"] else line | judge(line | {"holm": line["p"]}, asserted)
