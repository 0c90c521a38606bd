"""What the records that came with the project say: the same on every page, and what is quoted can be followed."""

import html
import json
import math
import re
from collections import defaultdict

import pytest

from workflow.compare.result_set import read_set
from workflow.config.files import PRECOMPUTED
from workflow.plan.ablations import load_ablation
from workflow.plan.claims import known_claims
from workflow.report.answers.effects import beside
from workflow.report.answers.variants import variant_table
from workflow.report.claims.measures import CLAIMABLE, LAYERS, split_of, title_of_measure
from workflow.report.claims.schema import load_claim
from workflow.report.claims.side_by_side import speaking
from workflow.report.claims.together import write_ledger
from workflow.report.pages import headlines
from workflow.report.pages.ledger import ledger_page, read_ledger
from workflow.report.pages.site import Site, render
from workflow.report.texts import with_titles
from workflow.results.precomputed import precomputed
from workflow.results.record import write_text
from workflow.results.statistics import mean_interval, mean_of
from workflow.scripts import evidence
from workflow.tasks.spec import TASKS

SCALES = [folder.name for folder in sorted(PRECOMPUTED.glob("*")) if folder.is_dir()]
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
TAG = re.compile(r"<[^>]+>")


@pytest.fixture(scope="module")
def judged(tmp_path_factory) -> dict:
    """By scale: the folder of its results, with its ledger beside the evidence of the other scales."""
    folders = {scale: tmp_path_factory.mktemp("results") / scale for scale in SCALES}
    for scale, folder in folders.items():
        evidence.main([scale, str(PRECOMPUTED / scale), str(folder / "evidence.json")])
        content = json.loads((folder / "evidence.json").read_text())
        own = [line | {"verdict": line["verdict"] if line["p"] is None else None} for line in content["claims"]]
        write_text(folder / "claims.json", json.dumps({"provenance": content["provenance"], "claims": own}))
    for scale, folder in folders.items():
        others = [other / "evidence.json" for name, other in folders.items() if name != scale]
        write_ledger(folder / "ledger.json", (scale, scale), [folder / "claims.json", *others], None)
    return folders


def lines_of(folder) -> list[dict]:
    return json.loads((folder / "ledger.json").read_text())["claims"]


def test_what_came_with_the_project_is_evidence(judged):
    for scale, folder in judged.items():
        content = json.loads((folder / "evidence.json").read_text())
        assert content["scale"] == scale and [line["name"] for line in content["claims"]] == known_claims()
    lines = {line["name"]: line for line in lines_of(judged["laptop"])}
    for claim in ("span_far_below_limit", "attention_is_faster_than_recurrence"):  # of runs, and of layers
        assert lines[claim]["strongest"] == "overnight", claim
    assert [each["set"] for each in lines["span_far_below_limit"]["sets"]] == ["overnight", "laptop"]


def said_of_questions(runs) -> list[tuple]:
    """(page, measure, configuration, the other, mean, n, low, high) of every difference in a question's table."""
    said = []
    for name, mine in runs.groupby("ablation"):
        measure = TASKS[load_ablation(name).task].columns[0][0]
        texts = with_titles(mine)
        for line in variant_table(mine, measure, {})["lines"]:
            if line["effect"] is not None:
                base = beside(texts, line["S"], line["k"])
                than = base.loc[base["text"] == line["text"], "configuration"].unique()
                ours, effect = line["runs"]["configuration"].unique(), line["effect"]
                said.append((name, measure, ours, than, effect.mean, effect.n, effect.low, effect.high))
    return said


def said_of_claims(lines: list[dict], configurations: dict[str, str]) -> list[tuple]:
    """The same of every claim on a difference, text by text; of several texts their claim gives no interval."""
    said = []
    for line in lines:
        by_text = defaultdict(list)
        for pair in line["pairs"] if line["by"] == "difference" and line["than"] is not None else ():
            by_text[pair["text"]].append(pair)
        for pairs in by_text.values():
            sides = [{configurations.get(digest) for pair in pairs for digest in pair["runs"][side]} for side in SIDES]
            bounds = (line["low"], line["high"]) if len(by_text) == 1 else (None, None)
            mean = mean_of([pair["effect"] for pair in pairs])
            said.append((f"claim {line['name']}", line["measure"][0], *sides, mean, len(pairs), *bounds))
    return said


SIDES = ("ours", "than")


@pytest.mark.parametrize("scale", SCALES)
def test_two_pages_that_speak_of_the_same_difference_say_the_same(scale, judged):
    """Of the same two configurations, which name the text, by the same measure: the number, its pairs, its interval."""
    runs = read_set(PRECOMPUTED / scale).runs
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
                known,
                numbers,
            )
    assert shared > 3  # that many are spoken of twice


@pytest.mark.parametrize("scale", SCALES)
def test_the_numbers_of_every_headline_stand_in_the_row_that_it_links_to(scale, judged, monkeypatch):
    """Of the set that speaks, whichever it is, in the same digits; and its pairs, by which they can be made again."""
    monkeypatch.setattr(headlines, "MOST", 1000)
    found = read_ledger(judged[scale] / "ledger.json")
    context = ledger_page(Site(judged[scale], judged[scale] / "pages"), found, [])
    page = render("ledger.html.j2", "ledger.html", shared=[], **context)
    rows = {row.partition('"')[0]: row for row in page.split('<tr id="claim-')[1:]}
    findings = headlines.list_findings(found.claims)
    assert findings and {each["set"] for each in findings} == {*SCALES}
    for finding in findings:
        shown = set(NUMBER.findall(html.unescape(TAG.sub(" ", rows[finding["name"]]))))
        assert set(NUMBER.findall(finding["text"])) <= shown, (finding, shown)


@pytest.mark.parametrize("scale", SCALES)
def test_the_ledger_speaks_in_titles(scale, judged):
    """Not in the names that measures, texts and variants have in files; and not in lists of the language."""
    context = ledger_page(Site(judged[scale], judged[scale] / "pages"), read_ledger(judged[scale] / "ledger.json"), [])
    page = render("ledger.html.j2", "ledger.html", shared=[], **context).partition('<section id="ledger">')[2]
    shown = html.unescape(
        TAG.sub("\n", re.sub(r"<(style|script|code)\b.*?</\1>|<p class=\"files.*?</p>", "", page, flags=re.S))
    )
    texts = {name for name in read_set(PRECOMPUTED / scale).runs["corpus"] if "-" in name}  # the others are plain words
    assert texts and not [name for name in texts if name in shown]
    measures = {name.replace("_", " ") for name in CLAIMABLE} - {title_of_measure(name) for name in CLAIMABLE}
    claimed = [line["compared"] for paper in context["ledger"]["papers"] for line in paper["lines"]]
    assert not [(name, what) for name in measures for what in claimed if re.search(rf"\b{name}\b", what)]
    assert not re.findall(r"\['|', |None", shown)
    assert not [line["why"] for paper in context["ledger"]["papers"] for line in paper["lines"] if "_" in line["why"]]


@pytest.mark.parametrize("scale", SCALES)
def test_a_claim_says_on_what_it_was_tested(scale, judged):
    """dev or test, S and k, in the sentence, the forest plot and the ledger alike."""
    found = read_ledger(judged[scale] / "ledger.json")
    split = {line["name"]: split_of(line["measure"]) for line in found.claims}
    assert {"dev", "test", ""} == set(split.values())
    for finding in headlines.list_findings(found.claims):
        assert not split[finding["name"]] or f"({split[finding['name']]})" in finding["text"]
    for row in (row for paper in headlines.forest_of(found) for row in paper["rows"]):
        assert row["split"] == split[row["name"]]
    for line in found.measured:
        told, sides = speaking(line), load_claim(line["name"]).sides
        for axis in ("S", "k") if told["pairs"] and line["ablation"] != LAYERS else ():
            if any(getattr(side, axis) is not None for side in sides):
                assert f"{axis} = " in told["at"], line["name"]
        assert not split[line["name"]] or split[line["name"]] in line["compared"]


@pytest.mark.parametrize("scale", SCALES)
def test_a_verdict_contains_the_pairs_that_it_stands_on(scale, judged):
    for line in lines_of(judged[scale]):
        told = speaking(line)
        pairs, texts = told["pairs"], [pair["text"] for pair in told["pairs"]]
        if told["effect"] is None or line["ablation"] is None:
            continue
        assert len(pairs) == told["n"], line["name"]
        ratio = line["by"] == "ratio"
        values = [math.log(pair["effect"]) if ratio else pair["effect"] for pair in pairs]
        mean, low, high = (value and (math.exp(value) if ratio else value) for value in mean_interval(values, texts))
        assert told["effect"] == pytest.approx(mean), line["name"]
        assert told["low"] is None or (told["low"], told["high"]) == pytest.approx((low, high)), line["name"]
        digests = {digest for pair in pairs for side in SIDES for digest in pair["runs"][side]}
        assert digests <= set(told["digests"]) and all(precomputed(digest) for digest in digests), line["name"]
