"""Pages as text: nothing unescaped, no address outside, every link resolves."""

import json
import re
from functools import cache
from html import unescape
from pathlib import Path
from typing import NamedTuple

from tests import _site
from tests._runs import translated
from workflow.claims.schema import known_claims, load_claim
from workflow.config.missing import Missing
from workflow.report.pages.index import RootPage
from workflow.report.pages.not_run import why_not_run
from workflow.report.pages.run import Value, learning_curves
from workflow.report.pages.site import Site
from workflow.report.tables.cells import NO_RUN, Cell, make_cell
from workflow.results.precomputed import NOT_MEASURED, NOT_RUN
from workflow.results.record import Point
from workflow.results.registry import REGISTRY
from workflow.settings.questions import known_questions, load_question

RUN = "questions/span_limit/span_limit-{}-64-None-1.html"

SCRIPT = re.compile(r"(<script[^>]*>).*?</script>", flags=re.DOTALL)


class Links(NamedTuple):
    """The ids and addresses of a page."""

    ids: list[str]
    addresses: list[str]


@cache
def links(path: Path) -> Links:
    """Read the links of a page, without what its scripts hold."""
    page = SCRIPT.sub(r"\1", path.read_text())
    found = Links([], [])
    for key, value in re.findall(r'\s(id|href|src|xlink:href)="([^"]*)"', page):
        if key == "id":
            found.ids.append(value)
        else:
            found.addresses.append(unescape(value))
    return found


@cache
def sources() -> set[str]:
    """Collect the addresses of those who dispute a claim, the only ones outside the reports."""
    claims = map(load_claim, known_claims())
    return {claim.disputed.link for claim in claims if claim.disputed}


def check_links(reports: Path) -> None:
    """Check that each link leads to a file inside the reports, and to an id where it names one."""
    inside = reports.resolve()
    for path in reports.rglob("*.html"):
        for link in links(path).addresses:
            # no icon; a picture within a figure
            if link.startswith(("data:,", "data:image/png;base64,")):
                continue
            if link in sources():
                continue
            assert not re.match(r"[a-z]+:|//", link), (path, link)
            address, _, anchor = link.partition("#")
            target = path
            if address:
                target = (path.parent / address).resolve()
            assert target.is_file(), (path, link)
            assert target.resolve().is_relative_to(inside), (path, link)
            if anchor:
                assert anchor in links(target).ids, (path, link)


def test_pages_lead_to_each_other_and_to_sources_and_escape_what_is_from_outside(reports, site):
    check_links(reports)
    papers = {path.stem for path in (site / "papers").iterdir()}
    asked = map(load_question, known_questions())
    assert papers == {question.paper for question in asked if not question.by_name}
    for path in reports.rglob("*.html"):
        text = path.read_text()
        ids = links(path).ids
        outside = re.findall(r"https?://[^\"<]*|url\((?!#)", text)
        assert set(outside) <= sources(), path
        assert _site.EVIL not in text, path
        assert len(ids) == len(set(ids)), path
    assert "&lt;script&gt;alert" in (site / "index.html").read_text()


def test_a_failed_cell_has_a_footnote_with_its_reason(site):
    page = (site / "questions" / "translation_normalisers" / "index.html").read_text()
    mark = re.search(r'class="bad"[^>]*>failed</a><sup><a href="#(why-[\w-]+)"', page)
    assert re.search(rf'<li id="{mark[1]}">[^<]*diverged', page)


def empty_cell(status: str, reason: str) -> Cell:
    return make_cell("r", "c", Missing(reason), "", "measured", status=status)


def test_cells_that_were_not_run_have_one_footnote_with_the_command_that_runs_them(tmp_path):
    """What a scale does not plan belongs to the papers' scale."""
    missing = empty_cell(NOT_RUN, NO_RUN)
    smoke = Site(tmp_path / "results" / "smoke", tmp_path / "reports")
    (own,) = why_not_run(smoke, "span_limit", [missing, missing])
    assert own.command == "snakemake --config scale=smoke questions=[span_limit]"
    overnight = Site(tmp_path / "results" / "overnight", tmp_path / "reports")
    (papers,) = why_not_run(overnight, "captioning", [missing])
    assert papers.command == "snakemake --config scale=paper questions=[captioning]"
    unmeasured = empty_cell(NOT_RUN, NOT_MEASURED)
    (again,) = why_not_run(smoke, "span_limit", [unmeasured])
    assert again.command.endswith("train=everything")
    failed = empty_cell("failed", "diverged")
    assert why_not_run(smoke, "span_limit", [failed]) == []


def test_a_page_that_says_the_same_is_not_rewritten(tmp_path):
    site = Site(tmp_path / "results", tmp_path)
    content = RootPage("Reports", [], [], None, [])
    page = tmp_path / "index.html"
    site.write("root.html.j2", "index.html", content)
    before = page.stat()
    site.write("root.html.j2", "index.html", content)
    after = page.stat()
    assert after.st_mtime_ns == before.st_mtime_ns


def test_the_ledger_leads_to_the_runs_behind_each_claim(suite, site):
    """Runs of other results are named, for they have no page here."""
    ledger = suite / "results" / _site.SCALE / "ledger.json"
    claims = json.loads(ledger.read_text())["claims"]
    lines = {line["name"]: line for line in claims}
    page = (site / "ledger.html").read_text()
    _, *rows = page.split('<tr id="claim-')
    speaks = set()
    for row in rows:
        name, _, _ = row.partition('"')
        line = lines[name]
        speaks.add(line["speaks"])
        if not line["pairs"]:
            continue
        first = line["pairs"][0]
        is_here = line["speaks"] == _site.SCALE
        for digest in first["runs"]["ours"]:
            address = f"questions/{line['question']}/{digest}.html"
            assert (f'href="{address}"' in row) == is_here, name
            assert digest in row
    assert speaks == {_site.SCALE, "overnight"}


def test_what_is_no_number_or_has_no_logarithm_is_no_point():
    curve = []
    for step, ppl in ((0, 100.0), (50, float("nan")), (100, 0.0)):
        point = Point(step=step, dev_ppl=ppl, tokens_per_s=1.0)
        curve.append(point)
    record = _site.record(translated()).model_copy(update={"curve": curve})
    (scores,) = learning_curves(record)
    train, dev = scores.series
    assert train.points == [None] * 3
    assert dev.points == [Value(100.0), None, None]
    assert scores.log


def test_a_run_page_says_how_to_reproduce_it_what_was_measured_and_where_it_is_used(site):
    text = (site / RUN.format("fixed")).read_text()
    assert "results/runs/span_limit-fixed-64-None-1/job.json" in text
    assert "--data results/data/toy.npz --device cpu" in text
    values = dict(re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", text))
    assert values[REGISTRY["macs_torch"].title] == "23,456"
    assert values[REGISTRY["train_ms"].title].startswith("64.0 ± 2.5")
    used = {
        "index.html#table-adaptive_span_costs",
        "index.html#figure-adaptive_span_figure3_left",
        "span_limit-adaptive-64-None-2.html",
    }
    page = site / RUN.format("adaptive")
    assert used <= set(links(page).addresses)
