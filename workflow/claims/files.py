"""Write and read the evidence for claims as JSON: of a question, of another set, and the ledger.

The keys are the fields of `workflow.claims.evidence`.
"""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypeVar

import pandas as pd
from pydantic import TypeAdapter, ValidationError

from workflow.claims.collect import collect_evidence
from workflow.claims.evidence import LedgerLine, Line, Rung
from workflow.claims.ledger import (
    Ledger,
    OtherSet,
    SetOrigin,
    collect,
    compare_sets,
    judge_all,
)
from workflow.claims.robustness import collect_sizes
from workflow.claims.schema import claims_about, known_claims, load_claim, sized_claims
from workflow.claims.verdict import NOT_ASKED
from workflow.config.errors import ConfigError
from workflow.config.renamed import renew_evidence
from workflow.config.strict import read_json
from workflow.plan.questions import load_question
from workflow.results.datasets import name_badges
from workflow.results.record import write_text
from workflow.results.runs_table import Frames, csv_text, describe_runs

# of the tuned evidence, in the table
TUNED = ("verdict", "effect", "low", "high", "n", "p", "holm")
NOT_IN_TABLE = ("pairs", "tuned", "sizes")
Read = TypeVar("Read")


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


def write_evidence(out: Path, question: str, frames: Frames) -> None:
    """Write the evidence for the claims about a question; the ledger adds the verdicts.

    A question with several model sizes also has the evidence of claims tested on these sizes.
    """
    sizes = {}
    if len(load_question(question).sizes) > 1:
        for name in sized_claims(question):
            sizes[name] = collect_sizes(name, load_claim(name), frames)
    content = {
        "provenance": describe_runs(frames.runs, name_badges(frames.runs)),
        "claims": collect(claims_about(question), frames),
        "sizes": sizes,
    }
    write_text(out, as_json(content))


def read_claims(path: Path) -> tuple[Line, ...]:
    """Read the claims about a question, as `write_evidence` wrote them."""
    return _read_claims(path, _read_file(path, "provenance"), Line)


def write_ledger(
    out: Path, own: tuple[str, str], evidence: list[Path], layers: pd.DataFrame | None
) -> None:
    """Judge every claim. Claims without runs say so; claims about layers or formulas need no
    evidence.

    out: the JSON file. own: name and scale of these results. evidence: files of questions and of
    other sets.
    """
    lines, origins, others = _read_evidence(evidence)
    without_runs = Frames(None, layers)
    for name in known_claims():
        if name not in lines:
            lines[name] = collect_evidence(name, load_claim(name), without_runs)
    set_name, scale = own
    judged = judge_all([lines[name] for name in sorted(lines)])
    claims = compare_sets(judged, set_name, scale, others)
    compared_with = []
    for other in others:
        compared_with.append(SetOrigin(other.set, other.scale, other.provenance))
    content = {
        "set": set_name,
        "provenance": sorted(set(origins.values())),
        "beside": compared_with,
        "claims": claims,
    }
    write_text(out, as_json(content))
    write_text(out.with_suffix(".csv"), csv_text(_table(claims, origins)))


def read_ledger(path: Path) -> Ledger | None:
    """Read a ledger without claims whose question was not run anywhere; None without a ledger.

    Headlines come first.
    """
    if not path.exists():
        return None
    content = _read_file(path, "set", "beside")
    lines = _read_claims(path, content, LedgerLine)
    others = _read(tuple[SetOrigin, ...], content["beside"], f"{path}: beside")
    asked = []
    for line in lines:
        if line.overall != "not tested" or line.why != NOT_ASKED:
            asked.append(line)
    asked.sort(key=lambda line: (not line.abstract, line.where, line.name))
    return Ledger(content["set"], others, tuple(asked))


def _read_evidence(
    paths: list[Path],
) -> tuple[dict[str, Line], dict[str, str], list[OtherSet]]:
    """Read the evidence by claim, the provenance of each, and the other sets of results."""
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
    return lines, origins, others


def _table(claims: list[LedgerLine], origins: dict[str, str]) -> pd.DataFrame:
    """Make a table with a row per claim, without pairs."""
    rows = []
    as_written = json.loads(as_json(claims))
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
