"""The evidence for a claim, as it is written to JSON and read again (`workflow.claims.files`).

The fields of these classes are the keys of the files, and are listed nowhere else. A *set* is the
results of one scale, or a bundle of results.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from workflow.claims.schema import Objection


@dataclass(frozen=True)
class Verdict:
    """What is concluded about a claim.

    name: one of `workflow.claims.verdict.VERDICTS`. why: the reason in a few words.
    """

    name: str
    why: str


@dataclass(frozen=True)
class RunsOfPair:
    """The digests of the runs behind the two values of a pair; none for measured layers."""

    ours: tuple[str, ...]
    than: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The values of both sides on one corpus and seed.

    text: the corpus. turn: the seed, the round of a timing, or (reference step, round).
    than: None where the claim is about one side alone.
    """

    text: str
    turn: int | tuple[str, int]
    ours: float
    than: float | None


@dataclass(frozen=True, kw_only=True)
class Pair(Scores):
    """A pair with its effect (difference, ratio, or the value itself) and its runs."""

    effect: float
    runs: RunsOfPair


@dataclass(frozen=True)
class Parameters:
    """The mean number of parameters of the models on each side."""

    ours: float
    than: float


@dataclass(frozen=True, kw_only=True)
class Rung:
    """The effect at one model size of a ladder.

    size: relative to the scale's own. most: the upper bound of the score, None without one.
    The other fields are as in `Evidence`.
    """

    size: float
    parameters: Parameters
    most: float | None
    pairs: tuple[Scores, ...]
    effect: float | None
    low: float | None
    high: float | None
    n: int | None
    p: float | None
    ours: float | None
    than: float | None
    verdict: str | None
    why: str | None
    digests: tuple[str, ...]
    signed: dict[str, str]
    of: str | None
    texts: tuple[str, ...]
    late_gain: float | None


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What one set of results says about a claim; None where it says nothing.

    verdict, why: None until all claims are judged together. effect, low, high: the mean over pairs
    with its 95 % interval. n: number of pairs. p: of the test against the claimed value. holm: p
    corrected for the number of claims. detectable: the smallest effect detected with 80 % power.
    ours, than: the mean of each side. late_gain: what the last quarter of training still improved,
    in bits, at most over the runs. by_text: the mean effect on each corpus, by badge. of: what a
    pair shares: `seed`, `round` or `measurement`. at: the S and k that the claim names. looks: how
    many planned interim analyses the seeds complete. setting: width, updates and device. digests,
    signed: the runs of both sides, and the signatures of their records. texts: the badges of the
    corpora. tuned: the same with each variant tuned. sizes: the effect at each model size.
    """

    effect: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    p: float | None = None
    holm: float | None = None
    detectable: float | None = None
    ours: float | None = None
    than: float | None = None
    verdict: str | None = None
    why: str | None = None
    late_gain: float | None = None
    by_text: dict[str, float] | None = None
    of: str | None = None
    at: str | None = None
    looks: int | None = None
    setting: dict[str, str] | None = None
    digests: tuple[str, ...] = ()
    signed: dict[str, str] = field(default_factory=dict)
    pairs: tuple[Pair, ...] = ()
    texts: tuple[str, ...] = ()
    tuned: Line | None = None
    sizes: tuple[Rung, ...] | None = None

    def judged(self, verdict: Verdict):
        """Return the same evidence with a verdict."""
        return replace(self, verdict=verdict.name, why=verdict.why)


@dataclass(frozen=True)
class PrintedFinding:
    """What the paper prints of the effect, and the sentences that tell what was found here.

    printed, text: the effect and how it is written; None and empty where the paper prints none.
    seen, failed: see `workflow.claims.schema.Finding`.
    """

    printed: float | None
    text: str
    seen: str
    failed: str | None


@dataclass(frozen=True, kw_only=True)
class Line(Evidence):
    """A claim with its evidence.

    The first fields are those of `workflow.claims.schema.Claim`. expected: what the claim expects,
    in words. compared: the measure, in words. measure: the names of the measures. unit: of the
    effect. claimed: the range in which the effect is as claimed; None is an open end. p_none: p of
    the test that the effect is negligible.
    """

    name: str
    claim: str
    paper: str
    where: str
    question: str | None
    published: tuple[str, ...]
    by: str
    caveat: str | None
    tried: str | None
    abstract: str | None
    disputed: Objection | None
    expected: str
    compared: str
    measure: tuple[str, ...]
    claimed: tuple[float | None, float | None]
    finding: PrintedFinding | None
    unit: str | None = None
    p_none: float | None = None

    @property
    def null(self) -> float:
        """The effect that means no effect."""
        return 1.0 if self.by == "ratio" else 0.0


@dataclass(frozen=True, kw_only=True)
class SetEvidence(Evidence):
    """The evidence of one set of results.

    otherwise_on: the corpora whose own mean contradicts the verdict.
    """

    set: str
    scale: str
    otherwise_on: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LedgerLine(Line):
    """A claim in the ledger, with the evidence of these results and of all sets.

    sets: strongest scale first. speaks: the set whose verdict is shown. overall: that verdict.
    """

    sets: tuple[SetEvidence, ...]
    overall: str
    speaks: str

    @property
    def shown(self) -> SetEvidence:
        """The evidence of the set whose verdict is shown."""
        return next(each for each in self.sets if each.set == self.speaks)
