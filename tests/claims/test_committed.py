"""What the records that ship with the project say: claims name their runs, and pages agree."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from tests._records import SCALES, recorded
from workflow.claims.evidence import LedgerLine, read_ledger
from workflow.claims.ledger import Ledger, write_ledger
from workflow.claims.schema import known_claims, load_claims
from workflow.config.files import PRECOMPUTED, ROOT
from workflow.report.answers.effects import baselines, matching_runs
from workflow.report.answers.variants import variant_table
from workflow.report.figures.colours import as_named
from workflow.report.pages.headline_claims import headline_claims_page
from workflow.results.datasets import with_titles
from workflow.results.record import write_text
from workflow.results.statistics import mean_interval, mean_of
from workflow.results.store import ships
from workflow.scripts import evidence
from workflow.settings.questions import load_question


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    """Judge every scale: the folder of its results, its ledger next to the other scales."""
    folders = {scale: tmp_path_factory.mktemp("results") / scale for scale in SCALES}
    for scale, folder in folders.items():
        evidence.main([scale, str(PRECOMPUTED / scale), str(folder / "evidence.json")])
        content = json.loads((folder / "evidence.json").read_text())
        own = []
        sizes = {}
        for line in content["claims"]:
            undecided = {} if line["p"] is None else {"verdict": None}
            own.append(line | undecided)
            sizes[line["name"]] = line["sizes"] or []
        of_questions = {"provenance": content["provenance"], "claims": own, "sizes": sizes}
        write_text(folder / "claims.json", json.dumps(of_questions))
    for scale, folder in folders.items():
        others = [other / "evidence.json" for name, other in folders.items() if name != scale]
        files = [folder / "claims.json", *others]
        write_ledger(
            folder / "ledger.json", (scale, scale), files, None, load_claims(known_claims())
        )
    return folders


@pytest.fixture(scope="module")
def ledgers(folders) -> dict[str, Ledger]:
    return {scale: read_ledger(folder / "ledger.json") for scale, folder in folders.items()}


def test_what_ships_with_the_project_is_evidence(folders, ledgers):
    for scale, folder in folders.items():
        content = json.loads((folder / "evidence.json").read_text())
        assert content["scale"] == scale
        assert [line["name"] for line in content["claims"]] == known_claims()
    lines = {line.name: line for line in ledgers["laptop"].claims}
    of_runs = [each.set for each in lines["span_far_below_limit"].sets]
    assert of_runs == ["small", "overnight", "laptop"]
    of_layers = [each.set for each in lines["attention_is_faster_than_recurrence"].sets]
    assert of_layers == ["overnight", "laptop"]


@dataclass(frozen=True)
class Said:
    """A difference that a page gives.

    sides: the configurations of both. numbers: mean, n, and the interval or None.
    """

    page: str
    measure: str
    sides: tuple[set[str], set[str]]
    numbers: tuple[float, int, float | None, float | None]

    def turned(self) -> "Said":
        """Say the same of the other side."""
        mean, n, low, high = self.numbers
        ends = (None, None) if low is None else (-high, -low)
        return Said(self.page, self.measure, self.sides[::-1], (-mean, n, *ends))


def said_of_questions(runs: pd.DataFrame) -> Iterator[Said]:
    """List every difference in a question's table."""
    for name, mine in runs.groupby("question"):
        measure = load_question(name).spec.columns[0].quantity
        titled = with_titles(as_named(mine))
        of = baselines(titled)
        for line in variant_table(mine, measure, {}).lines:
            effect = line.effect
            if effect is None:
                continue
            same_variant = titled[titled["variant"] == of[line.variant]]
            base = matching_runs(same_variant, line.S, line.k)
            than = set(base.loc[base["title"] == line.text, "configuration"])
            digests = {run.digest for run in line.points}
            ours = set(mine.loc[mine["digest"].isin(digests), "configuration"])
            numbers = (effect.mean, effect.n, effect.low, effect.high)
            yield Said(name, measure, (ours, than), numbers)


def said_of_claims(lines: Iterable[LedgerLine], configurations: dict[str, str]) -> Iterator[Said]:
    """List the difference of every claim, corpus by corpus; over several it gives no interval."""
    for line in lines:
        if line.by != "difference" or line.than is None:
            continue
        by_corpus = defaultdict(list)
        for pair in line.pairs:
            by_corpus[pair.text].append(pair)
        ends = (line.low, line.high) if len(by_corpus) == 1 else (None, None)
        for pairs in by_corpus.values():
            ours = set()
            than = set()
            for pair in pairs:
                ours |= set(map(configurations.get, pair.runs.ours))
                than |= set(map(configurations.get, pair.runs.than))
            mean = mean_of([pair.effect for pair in pairs])
            numbers = (mean, len(pairs), *ends)
            yield Said(f"claim {line.name}", line.measure[0], (ours, than), numbers)


@pytest.mark.parametrize("scale", SCALES)
def test_two_pages_give_the_same_difference_with_the_same_numbers(scale, ledgers):
    """Two configurations and a measure have one number, one count of pairs and one interval."""
    runs = recorded(scale).runs
    configurations = dict(zip(runs["digest"], runs["configuration"], strict=True))
    claims = said_of_claims(ledgers[scale].claims, configurations)
    first_of = {}
    shared = 0
    for said in (*said_of_questions(runs), *claims):
        if any(len(side) != 1 for side in said.sides):  # a mean over a grid
            continue
        (ours,), (than,) = said.sides
        if ours > than:
            said = said.turned()
        first = first_of.setdefault((said.measure, *sorted((ours, than))), said)
        shared += first.page != said.page
        for here, there in zip(said.numbers, first.numbers, strict=True):
            if here is not None and there is not None:
                assert here == pytest.approx(there, abs=1e-9), (first.page, said.page)
    assert shared > 3  # that many are given twice


def test_the_findings_have_the_numbers_of_the_ledger(ledgers):
    """The scores of the predictors, and the effects over sizes."""
    findings = (ROOT / "docs/findings.md").read_text(encoding="utf-8")
    scores = headline_claims_page(ledgers["overnight"]).scores
    for both in zip(scores["all"], scores["bpc"], strict=True):
        numbers = []
        for each in both:
            numbers += [str(each.ladders), str(each.sign), str(each.covered)]
        assert " | ".join([both[0].predictor, *numbers]) in findings
    lines = {line.name: line for line in ledgers["overnight"].claims}
    # the findings compare the other way round
    for name, sign in (
        ("adaptive_as_good_as_fixed", 1),
        ("large_adaptive_better_than_large_xl", -1),
    ):
        (rungs,) = (each.sizes for each in lines[name].sets if each.set == "overnight")
        for rung in rungs:
            effect = sign * rung.effect
            low, high = sorted((sign * rung.low, sign * rung.high))
            assert f"{effect:.3f} ({low:.3f} to {high:.3f})" in findings


@pytest.mark.parametrize("scale", SCALES)
def test_a_verdict_contains_the_pairs_behind_it(scale, ledgers):
    for line in ledgers[scale].measured:
        shown = line.shown
        if shown.effect is None:
            continue
        is_ratio = line.by == "ratio"
        from_axis = math.exp if is_ratio else float
        effects = [pair.effect for pair in shown.pairs]
        values = [math.log(effect) for effect in effects] if is_ratio else effects
        mean, low, high = mean_interval(values, [pair.text for pair in shown.pairs])
        assert shown.n == len(values)
        assert shown.effect == pytest.approx(from_axis(mean)), line.name
        if shown.low is not None:
            ends = (from_axis(low), from_axis(high))
            assert (shown.low, shown.high) == pytest.approx(ends), line.name
        for pair in shown.pairs:
            digests = {*pair.runs.ours, *pair.runs.than}
            assert digests <= set(shown.digests)
            assert all(map(ships, digests)), line.name
