"""What the records that ship with the project say: claims name their runs, and pages agree."""

import json
import math
from collections import defaultdict
from dataclasses import astuple, dataclass
from pathlib import Path

import pandas as pd
import pytest

from tests._records import SCALES, recorded
from workflow.claims.evidence import LedgerLine, read_ledger
from workflow.claims.ledger import Ledger, write_ledger
from workflow.claims.measures import FORMULAS, LAYERS
from workflow.claims.schema import known_claims, load_claims
from workflow.config.files import PRECOMPUTED, ROOT
from workflow.report.answers.effects import baselines, matching_runs
from workflow.report.answers.variants import variant_table
from workflow.report.figures.colours import as_named
from workflow.report.pages.headline_claims import headline_claims_page
from workflow.results.datasets import with_titles
from workflow.results.record import write_text
from workflow.results.statistics import mean_interval
from workflow.results.store import ships
from workflow.scripts import evidence
from workflow.settings.questions import load_question


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    """Judge every scale: the folder of its results, its ledger next to the other scales."""
    folders = {}
    evidence_files = {}
    for scale in SCALES:
        folder = tmp_path_factory.mktemp("results") / scale
        folders[scale] = folder
        found = folder / "evidence.json"
        evidence_files[scale] = found
        evidence.main([scale, str(PRECOMPUTED / scale), str(found)])
        content = json.loads(found.read_text())
        claims = content["claims"]
        sizes = {}
        for line in claims:
            name = line["name"]
            sizes[name] = line["sizes"] or []
            if line["p"] is not None:
                line["verdict"] = None
        of_questions = {
            "provenance": content["provenance"],
            "claims": claims,
            "sizes": sizes,
        }
        write_text(folder / "claims.json", json.dumps(of_questions))
    claims = load_claims(known_claims())
    for scale, folder in folders.items():
        files = [folder / "claims.json"]
        for other, found in evidence_files.items():
            if other != scale:
                files.append(found)
        write_ledger(folder / "ledger.json", (scale, scale), files, None, claims)
    return folders


@pytest.fixture(scope="module")
def ledgers(folders) -> dict[str, Ledger]:
    ledgers = {}
    for scale, folder in folders.items():
        ledgers[scale] = read_ledger(folder / "ledger.json")
    return ledgers


def names_of_sets(line: LedgerLine) -> list[str]:
    return [each.set for each in line.sets]


def claims_with_records() -> list[str]:
    """Name the claims about layers, formulas, or tasks whose records ship."""
    shipped = {path.stem for path in PRECOMPUTED.glob("*/*.jsonl")}
    names = []
    for name, claim in load_claims(known_claims()).items():
        if claim.about in (LAYERS, FORMULAS) or load_question(claim.about).task in shipped:
            names.append(name)
    return names


def test_what_ships_with_the_project_is_evidence(ledgers):
    lines = {line.name: line for line in ledgers["laptop"].claims}
    assert sorted(lines) == claims_with_records()
    of_runs = lines["span_far_below_limit"]
    assert names_of_sets(of_runs) == ["small", "overnight", "laptop"]
    of_layers = lines["attention_is_faster_than_recurrence"]
    assert names_of_sets(of_layers) == ["overnight", "laptop"]


@dataclass(frozen=True)
class Numbers:
    """A difference as a page gives it."""

    mean: float
    n: int
    low: float | None
    high: float | None


def configurations_of(runs: pd.DataFrame, chosen: pd.Series) -> set[str]:
    return set(runs.loc[chosen, "configuration"])


def differences_of_questions(runs: pd.DataFrame) -> dict[tuple, list[Numbers]]:
    """List each difference in questions' tables that has one configuration on each side.

    Keys are the measure and both configurations.
    """
    found = defaultdict(list)
    for name, mine in runs.groupby("question"):
        measure = load_question(name).spec.columns[0].quantity
        titled = with_titles(as_named(mine))
        baseline_of = baselines(titled)
        for line in variant_table(mine, measure, {}).lines:
            effect = line.effect
            if effect is None:
                continue
            same_variant = titled[titled["variant"] == baseline_of[line.variant]]
            base = matching_runs(same_variant, line.S, line.k)
            digests = [run.digest for run in line.points]
            ours = configurations_of(mine, mine["digest"].isin(digests))
            than = configurations_of(base, base["title"] == line.text)
            if len(ours) == len(than) == 1:
                numbers = Numbers(
                    mean=effect.mean,
                    n=effect.n,
                    low=effect.low,
                    high=effect.high,
                )
                found[measure, *ours, *than].append(numbers)
    return found


def sides_of_claim(line: LedgerLine, configurations: dict[str, str]) -> tuple | None:
    """Name measure and configurations of a claim; None unless each side has one."""
    if line.by != "difference":
        return None
    ours = set()
    than = set()
    for pair in line.pairs:
        ours.update(map(configurations.get, pair.runs.ours))
        than.update(map(configurations.get, pair.runs.than))
    if len(ours) == len(than) == 1:
        return line.measure[0], *ours, *than
    return None


@pytest.mark.parametrize("scale", SCALES)
def test_two_pages_give_the_same_difference_with_the_same_numbers(scale, ledgers):
    """Two configurations and a measure have one number, one count of pairs and one interval."""
    runs = recorded(scale).runs
    configurations = dict(zip(runs["digest"], runs["configuration"], strict=True))
    differences = differences_of_questions(runs)
    for line in ledgers[scale].claims:
        sides = sides_of_claim(line, configurations)
        if sides in differences:
            numbers = Numbers(
                mean=line.effect,
                n=line.n,
                low=line.low,
                high=line.high,
            )
            differences[sides].append(numbers)
    given_twice = 0
    for first, *others in differences.values():
        expected = pytest.approx(astuple(first), abs=1e-9)
        for other in others:
            given_twice += 1
            assert astuple(other) == expected
    assert given_twice


def test_the_findings_have_the_numbers_of_the_ledger(ledgers):
    """The scores of the predictors, and the effects over sizes."""
    page = ROOT / "docs/findings.md"
    findings = page.read_text(encoding="utf-8")
    scores = headline_claims_page(ledgers["overnight"]).scores
    for both in zip(scores["all"], scores["bpc"], strict=True):
        row = [both[0].predictor]
        for each in both:
            row.append(str(each.ladders))
            row.append(str(each.sign))
            row.append(str(each.covered))
        assert " | ".join(row) in findings
    lines = {line.name: line for line in ledgers["overnight"].claims}
    sets = {each.set: each for each in lines["adaptive_as_good_as_fixed"].sets}
    for rung in sets["overnight"].sizes:
        interval = f"({rung.low:.3f} to {rung.high:.3f})"
        assert f"{rung.effect:.3f} {interval}" in findings


@pytest.mark.parametrize("scale", SCALES)
def test_a_verdict_contains_the_pairs_behind_it(scale, ledgers):
    for line in ledgers[scale].measured:
        shown = line.shown
        if shown.effect is None:
            continue
        is_ratio = line.by == "ratio"
        to_axis = math.log if is_ratio else float
        from_axis = math.exp if is_ratio else float
        effects = [to_axis(pair.effect) for pair in shown.pairs]
        texts = [pair.text for pair in shown.pairs]
        found = [shown.effect]
        expected = mean_interval(effects, texts)
        if shown.low is None:
            expected = expected[:1]
        else:
            found += [shown.low, shown.high]
        expected = [from_axis(value) for value in expected]
        assert shown.n == len(effects)
        assert found == pytest.approx(expected), line.name
        for pair in shown.pairs:
            digests = {*pair.runs.ours, *pair.runs.than}
            assert digests <= set(shown.digests)
            for digest in digests:
                assert ships(digest), line.name
