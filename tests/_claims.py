"""Claims about a table of runs that a test writes, and the evidence for them."""

from dataclasses import replace

import pandas as pd

from tests._costs import split_costs
from tests._runs import run
from workflow.claims.collect import collect_evidence, describe_claim
from workflow.claims.evidence import LedgerLine, Line, Pair, RunsOfPair, SetEvidence
from workflow.claims.schema import Claim
from workflow.claims.verdict import judge
from workflow.config.strict import parse
from workflow.results.runs_table import Frames, as_frame

CLAIM = {
    "claim": "It is so.",
    "paper": "adaptive_span",
    "where": "section 3",
    "question": "span_limit",
    "measure": "dev_bpc",
    "ours": {"variant": "adaptive"},
    "than": {"variant": "fixed"},
    "expect": "less",
}


def claim(**changes) -> Claim:
    return parse(Claim, CLAIM | changes, "c")


def line_of(asserted: Claim | None = None, **evidence) -> Line:
    """Make a line with evidence that a test writes."""
    line = describe_claim("a", asserted or claim())
    return replace(line, unit="bpc", **evidence)


def in_ledger(*sets: SetEvidence, **changes) -> LedgerLine:
    """Make a line of the ledger, of which the first set is these results and speaks."""
    own = sets[0]
    content = vars(line_of()) | {
        "verdict": own.verdict,
        "why": own.why,
        "effect": own.effect,
        "sets": sets,
        "speaks": own.set,
        "overall": own.verdict,
    }
    return LedgerLine(**content | changes)


def evidence_at(scale: str, effect: float | None = -0.16, **changes) -> SetEvidence:
    """Make the evidence of a scale with an interval of 0.2."""
    content = {"verdict": "reproduced", "why": "", "n": 3, "p": 0.01, "ours": 2.0, "than": 2.16}
    if effect is not None:
        content |= {"effect": effect, "low": effect - 0.1, "high": effect + 0.1}
    return SetEvidence(set=scale, scale=scale, **content | changes)


def pair(effect: float = 0.0, runs: RunsOfPair | None = None) -> Pair:
    runs = runs or RunsOfPair(("b",), ("c",))
    return Pair(text="a", turn=1, ours=effect, than=0.0, effect=effect, runs=runs)


def both(ours=(2.0, 2.1, 2.05), than=(2.3, 2.4, 2.33), **changes) -> pd.DataFrame:
    """Make a run for each score of both variants, with seeds from 0."""
    rows = []
    for variant, scores in (("adaptive", ours), ("fixed", than)):
        for seed, bpc in enumerate(scores):
            row = run(variant=variant, seed=seed, dev_bpc=bpc)
            rows.append(row | changes)
    return as_table(rows)


def as_table(rows: list[dict]) -> pd.DataFrame:
    return as_frame(*split_costs(rows))


def evidence_of(
    asserted: Claim,
    runs: pd.DataFrame | None,
    apart: pd.DataFrame | None = None,
) -> Line:
    return collect_evidence("a", asserted, Frames(runs, apart))


def judge_alone(asserted: Claim, runs: pd.DataFrame) -> Line:
    """Judge a claim that is the only one."""
    line = evidence_of(asserted, runs)
    if line.verdict:
        return line
    verdict = judge(replace(line, holm=line.p), asserted)
    return line.judged(verdict)
