"""The evidence for claims, and the JSON files that keep it: of a question, a set, and the ledger.

The fields of these classes are the keys of the files, and are listed nowhere else. A *set* is the
results of one scale, or a bundle of results.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TypeVar

import pandas as pd
from pydantic import TypeAdapter, ValidationError

from workflow.claims.schema import Objection
from workflow.config.errors import ConfigError
from workflow.config.renamed import renew_evidence
from workflow.config.strict import read_json
from workflow.results.record import write_text
from workflow.results.runs_table import csv_text

# of the tuned evidence, in the table
TUNED = ("verdict", "effect", "low", "high", "n", "p", "holm")
NOT_IN_TABLE = ("pairs", "tuned", "sizes")
NOT_ASKED = "the question was not run"
Read = TypeVar("Read")


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
    """The effect that the paper prints; None for a ratio to 0. text: as it is printed."""

    printed: float | None
    text: str


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
    def was_asked(self) -> bool:
        """Whether the question of the claim was run, here or elsewhere."""
        return self.overall != "not tested" or self.why != NOT_ASKED

    @property
    def shown(self) -> SetEvidence:
        """The evidence of the set whose verdict is shown."""
        return next(each for each in self.sets if each.set == self.speaks)


@dataclass(frozen=True)
class QuestionEvidence:
    """The evidence for the claims about a question; the ledger adds the verdicts.

    provenance: a line on what was measured. sizes: claim -> its effect at each model size, for the
    claims that are tested on the sizes of this question.
    """

    provenance: str
    claims: tuple[Line, ...]
    sizes: dict[str, tuple[Rung, ...]]


@dataclass(frozen=True)
class OtherSet:
    """Another set of results and its evidence. provenance: a line on what was measured."""

    set: str
    scale: str
    provenance: str
    claims: tuple[Line, ...]


@dataclass(frozen=True)
class SetOrigin:
    """Where the evidence of another set comes from."""

    set: str
    scale: str
    provenance: str


@dataclass(frozen=True)
class Ledger:
    """All claims with their verdicts.

    set: the name of these results. others: the sets that they are compared with. claims: those
    whose question was run here or elsewhere.
    """

    set: str
    others: tuple[SetOrigin, ...]
    claims: tuple[LedgerLine, ...]

    @property
    def measured(self) -> list[LedgerLine]:
        """The claims that need measurements, not formulas alone."""
        return [line for line in self.claims if line.question is not None]

    @property
    def by_formula(self) -> list[LedgerLine]:
        return [line for line in self.claims if line.question is None]

    def elsewhere(self, scale: str) -> str:
        """Write which scale gave a verdict, if it is another one; `frame.js` reads it."""
        return "" if scale == self.set else f" at scale {scale}"


@dataclass(frozen=True)
class GivenEvidence:
    """What several files of evidence say.

    lines: by claim. origins: claim -> what was measured for it. others: other sets of results.
    """

    lines: dict[str, Line]
    origins: dict[str, str]
    others: tuple[OtherSet, ...]


# --- files -------------------------------------------------------------------------------------


def as_json(content: dict | list) -> str:
    """Write evidence as JSON: the fields of each class are its keys."""
    return json.dumps(content, indent=1, default=vars)


@cache
def _reader(kind: type) -> TypeAdapter:
    return TypeAdapter(kind)


def _read(kind: type[Read], content, where: str) -> Read:
    """Read a part of a file; `ConfigError` with the first key that is missing or wrong."""
    try:
        return _reader(kind).validate_python(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        wrong = f"'{key}': {first['msg']}"
        if first["type"] == "missing":
            wrong = f"no '{key}'"
        expected = "expected evidence as the workflow writes it"
        raise ConfigError(f"{where}: {expected}: {wrong}") from None


def _read_file(path: Path, *keys: str) -> dict:
    """Read a file of evidence with at least these keys, whose claims are a list."""
    content = renew_evidence(read_json(path))
    missing = {"claims", *keys} - set(content if isinstance(content, dict) else ())
    if missing or not isinstance(content["claims"], list):
        key = min(missing, default="claims")
        raise ConfigError(f"{path}: expected evidence as the workflow writes it: no '{key}'")
    return content


def _read_claims(path: Path, content: dict, kind: type[Read]) -> tuple[Read, ...]:
    claims = []
    for number, line in enumerate(content["claims"]):
        claims.append(_read(kind, line, f"{path}: claim {number}"))
    return tuple(claims)


def write_evidence(out: Path, evidence: QuestionEvidence) -> None:
    """Write the evidence for the claims about a question."""
    write_text(out, as_json(vars(evidence)))


def read_claims(path: Path) -> tuple[Line, ...]:
    """Read the claims about a question, as `write_evidence` wrote them."""
    return _read_claims(path, _read_file(path, "provenance"), Line)


def read_evidence(paths: list[Path]) -> GivenEvidence:
    """Read files of evidence, of questions and of other sets."""
    lines: dict[str, Line] = {}
    origins: dict[str, str] = {}
    sizes: dict[str, tuple[Rung, ...]] = {}
    others: list[OtherSet] = []
    for path in paths:
        content = _read_file(path, "provenance")
        claims = _read_claims(path, content, Line)
        if "set" in content:
            about = _read(SetOrigin, content, str(path))
            others.append(OtherSet(about.set, about.scale, about.provenance, claims))
            continue
        of_file = content.get("sizes", {})
        sizes |= _read(dict[str, tuple[Rung, ...]], of_file, f"{path}: sizes")
        for line in claims:
            lines[line.name] = line
            if content["provenance"]:
                origins[line.name] = content["provenance"]
    for name, line in lines.items():
        lines[name] = replace(line, sizes=sizes.get(name, ()))
    return GivenEvidence(lines, origins, tuple(others))


def write_ledger_files(out: Path, ledger: Ledger, origins: dict[str, str]) -> None:
    """Write a ledger as JSON, and next to it as a table. origins: see `GivenEvidence`."""
    content = {
        "set": ledger.set,
        "provenance": sorted(set(origins.values())),
        "beside": ledger.others,
        "claims": ledger.claims,
    }
    text = as_json(content)
    write_text(out, text)
    table = _table(ledger.claims, json.loads(text)["claims"], origins)
    write_text(out.with_suffix(".csv"), csv_text(table))


def read_ledger(path: Path) -> Ledger | None:
    """Read a ledger without claims whose question was not run anywhere; None without a ledger.

    Headlines come first.
    """
    if not path.exists():
        return None
    content = _read_file(path, "set", "beside")
    lines = _read_claims(path, content, LedgerLine)
    others = _read(tuple[SetOrigin, ...], content["beside"], f"{path}: beside")
    asked = [line for line in lines if line.was_asked]
    asked.sort(key=lambda line: (not line.abstract, line.where, line.name))
    return Ledger(content["set"], others, tuple(asked))


def _table(
    claims: tuple[LedgerLine, ...], as_written: list[dict], origins: dict[str, str]
) -> pd.DataFrame:
    """Make a table with a row per claim, without pairs. as_written: the claims as in the JSON."""
    rows = []
    for line, content in zip(claims, as_written, strict=True):
        row = dict(content)
        for key in NOT_IN_TABLE:
            del row[key]
        for key in TUNED:
            row[f"tuned {key}"] = getattr(line.tuned, key, None)
        for key in ("measure", "digests", "published"):
            row[key] = " ".join(row[key])
        row["texts"] = "; ".join(line.texts)
        row["signed"] = " ".join(line.signed.values())
        row["sets"] = " ".join(f"{each.set}: {each.verdict};" for each in line.sets)
        row["measured at"] = origins.get(line.name)
        rows.append(row)
    return pd.DataFrame(rows)
