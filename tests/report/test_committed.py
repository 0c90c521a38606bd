"""What the records that came with the project say: what is quoted can be followed, and claims say
what they rest on.
"""

import html
import json
import math
import re
from collections import defaultdict

import pytest

from tests._records import SCALES, recorded
from workflow.claims.ledger import speaking, write_ledger
from workflow.claims.measures import CLAIMABLE, LAYERS, split_of, title_of_measure
from workflow.claims.schema import known_claims, load_claim
from workflow.config.files import PRECOMPUTED, ROOT
from workflow.plan.questions import load_question
from workflow.report.answers.effects import baselines, matching_runs
from workflow.report.answers.variants import variant_table
from workflow.report.figures.colours import as_named
from workflow.report.pages.claims import ledger_page, read_ledger
from workflow.report.pages.headline_claims import headline_claims_page
from workflow.report.pages.site import Site, render
from workflow.report.pages.strips import forest_of
from workflow.results.datasets import with_titles
from workflow.results.record import write_text
from workflow.results.statistics import mean_interval, mean_of
from workflow.results.store import ships
from workflow.scripts import evidence

NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
SIDES = ("ours", "than")
TAG = re.compile(r"<[^>]+>")


@pytest.fixture(scope="module")
def judged(tmp_path_factory) -> dict:
    """Judge every scale: the folder of its results, with its ledger beside the evidence of the
    others.
    """
    folders = {scale: tmp_path_factory.mktemp("results") / scale for scale in SCALES}
    for scale, folder in folders.items():
        evidence.main([scale, str(PRECOMPUTED / scale), str(folder / "evidence.json")])
        content = json.loads((folder / "evidence.json").read_text())
        own = [
            line | {"verdict": line["verdict"] if line["p"] is None else None}
            for line in content["claims"]
        ]
        sizes = {line["name"]: line["sizes"] for line in own if line["sizes"]}
        told = {"provenance": content["provenance"], "claims": own, "sizes": sizes}
        write_text(folder / "claims.json", json.dumps(told))
    for scale, folder in folders.items():
        others = [other / "evidence.json" for name, other in folders.items() if name != scale]
        write_ledger(
            folder / "ledger.json", (scale, scale), [folder / "claims.json", *others], None
        )
    return folders


def lines_of(folder) -> list[dict]:
    return json.loads((folder / "ledger.json").read_text())["claims"]


def test_what_came_with_the_project_is_evidence(judged):
    for scale, folder in judged.items():
        content = json.loads((folder / "evidence.json").read_text())
        assert (
            content["scale"] == scale
            and [line["name"] for line in content["claims"]] == known_claims()
        )
    sets = {
        line["name"]: [each["set"] for each in line["sets"]] for line in lines_of(judged["laptop"])
    }
    assert sets["span_far_below_limit"] == ["small", "overnight", "laptop"]  # of runs
    assert sets["attention_is_faster_than_recurrence"] == ["overnight", "laptop"]  # of layers


def said_of_questions(runs) -> list[tuple]:
    """(page, measure, configuration, the other, mean, n, low, high) of every difference in a
    question's table.
    """
    said = []
    for name, mine in runs.groupby("question"):
        measure = load_question(name).spec.columns[0].quantity
        texts = with_titles(as_named(mine))
        of = baselines(texts)
        for line in variant_table(mine, measure, {}).lines:
            if line.effect is not None:
                base = matching_runs(texts[texts["variant"] == of[line.variant]], line.S, line.k)
                than = base.loc[base["title"] == line.text, "configuration"].unique()
                effect = line.effect
                digests = {run.digest for run in line.points}
                ours = mine.loc[mine["digest"].isin(digests), "configuration"].unique()
                said.append(
                    (name, measure, ours, than, effect.mean, effect.n, effect.low, effect.high)
                )
    return said


def said_of_claims(lines: list[dict], configurations: dict[str, str]) -> list[tuple]:
    """List the same for every claim on a difference, text by text; over several texts it gives no
    interval.
    """
    said = []
    for line in lines:
        by_text = defaultdict(list)
        for pair in (
            line["pairs"] if line["by"] == "difference" and line["than"] is not None else ()
        ):
            by_text[pair["text"]].append(pair)
        for pairs in by_text.values():
            sides = [
                {configurations.get(digest) for pair in pairs for digest in pair["runs"][side]}
                for side in SIDES
            ]
            bounds = (line["low"], line["high"]) if len(by_text) == 1 else (None, None)
            mean = mean_of([pair["effect"] for pair in pairs])
            said.append(
                (f"claim {line['name']}", line["measure"][0], *sides, mean, len(pairs), *bounds)
            )
    return said


@pytest.mark.parametrize("scale", SCALES)
def test_two_pages_that_speak_of_the_same_difference_say_the_same(scale, judged):
    """Two configurations, which name the text, and a measure have one number, one count of pairs
    and one interval.
    """
    runs = recorded(scale).runs
    configurations = dict(zip(runs["digest"], runs["configuration"], strict=True))
    said, shared = {}, 0
    everything = said_of_questions(runs) + said_of_claims(lines_of(judged[scale]), configurations)
    for page, measure, ours, than, mean, n, low, high in everything:
        if len(ours) != 1 or len(than) != 1:  # a mean over a grid
            continue
        (ours,), (than,) = ours, than
        turned = ours > than
        low, high = (-high, -low) if turned and low is not None else (low, high)
        numbers = (-mean if turned else mean, n, low, high)
        first, known = said.setdefault((measure, min(ours, than), max(ours, than)), (page, numbers))
        shared += first != page
        for here, there in zip(numbers, known, strict=True):
            assert here is None or there is None or here == pytest.approx(there, abs=1e-9), (
                first,
                page,
            )
    assert shared > 3  # that many are spoken of twice


def ledger_of(folder) -> tuple[dict, str]:
    """Build what the page of the ledger is made of, and the page."""
    context = ledger_page(Site(folder, folder / "pages"), read_ledger(folder / "ledger.json"), [])
    return context, render("ledger.html.j2", "ledger.html", context, shared=[])


def test_the_findings_score_the_predictors_as_the_page_of_headlines_does(judged):
    scores = headline_claims_page(read_ledger(judged["overnight"] / "ledger.json"))["scores"]
    findings = (ROOT / "docs/findings.md").read_text(encoding="utf-8").splitlines()
    for both in zip(scores["all"], scores["bpc"], strict=True):
        numbers = [number for each in both for number in (each.ladders, each.sign, each.covered)]
        assert f"| {both[0].predictor} | {' | '.join(map(str, numbers))} |" in findings


def test_the_findings_have_the_effects_over_sizes_of_the_ledger(judged):
    """A row for each size: adaptive less fixed spans, and Transformer-XL less adaptive spans."""
    of = {line["name"]: line for line in lines_of(judged["overnight"])}
    own = [
        next(each["sizes"] for each in of[name]["sets"] if each["set"] == "overnight")
        for name in ("adaptive_as_good_as_fixed", "large_adaptive_better_than_large_xl")
    ]
    findings = (ROOT / "docs/findings.md").read_text(encoding="utf-8").splitlines()
    for less_fixed, less_xl in zip(*own, strict=True):
        effects = [less_fixed["effect"], less_fixed["low"], less_fixed["high"]]
        turned = [-less_xl["effect"], -less_xl["high"], -less_xl["low"]]
        cells = ["{:.3f} ({:.3f} to {:.3f})".format(*numbers) for numbers in (effects, turned)]
        assert [row for row in findings if row.endswith(f"| {' | '.join(cells)} |")], cells


@pytest.mark.parametrize("scale", SCALES)
def test_the_ledger_speaks_in_titles(scale, judged):
    """Not in the names that measures, texts and variants have in files; and not in lists of the
    language.
    """
    context, page = ledger_of(judged[scale])
    told = page.partition('<section id="ledger">')[2]
    told = re.sub(r'<(style|script|code)\b.*?</\1>|<p class="files.*?</p>', "", told, flags=re.S)
    shown = html.unescape(TAG.sub("\n", told))
    texts = {name for name in recorded(scale).runs["corpus"] if "-" in name}
    assert (
        texts
        and not [name for name in texts if name in shown]
        and not re.findall(r"\['|', |None", shown)
    )
    measures = {name.replace("_", " ") for name in CLAIMABLE} - {
        title_of_measure(name) for name in CLAIMABLE
    }
    for line in (line for paper in context["ledger"]["papers"] for line in paper["lines"]):
        assert not [name for name in measures if re.search(rf"\b{name}\b", line["compared"])]
        assert "_" not in line["why"]


@pytest.mark.parametrize("scale", SCALES)
def test_a_claim_says_on_what_it_was_tested(scale, judged):
    """dev or test, S and k, in the sentence, the forest plot and the ledger alike."""
    found = read_ledger(judged[scale] / "ledger.json")
    split = {line["name"]: split_of(line["measure"]) for line in found.claims}
    rows = [row for group in forest_of(found) for row in group.rows if row.strip]
    assert rows and all(split[row.name] in row.at for row in rows)
    for line in found.measured:
        told, sides = speaking(line), load_claim(line["name"]).sides
        for axis in ("S", "k") if told["pairs"] and line["question"] != LAYERS else ():
            assert f"{axis} = " in told["at"] or all(
                getattr(side, axis) is None for side in sides
            ), line["name"]
        assert split[line["name"]] in line["compared"]


@pytest.mark.parametrize("scale", SCALES)
def test_a_verdict_contains_the_pairs_that_it_stands_on(scale, judged):
    for line in lines_of(judged[scale]):
        told, of = speaking(line), line["name"]
        if told["effect"] is None or line["question"] is None:
            continue
        there, back = (math.log, math.exp) if line["by"] == "ratio" else (float, float)
        values = [there(pair["effect"]) for pair in told["pairs"]]
        mean, *ends = mean_interval(values, [pair["text"] for pair in told["pairs"]])
        assert (told["n"], told["effect"]) == (len(values), pytest.approx(back(mean))), of
        assert told["low"] is None or [told["low"], told["high"]] == pytest.approx(
            [*map(back, ends)]
        ), of
        digests = {
            digest for pair in told["pairs"] for side in SIDES for digest in pair["runs"][side]
        }
        assert digests <= set(told["digests"]) and all(map(ships, digests)), of
