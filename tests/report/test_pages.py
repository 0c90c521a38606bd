"""Pages as text: nothing unescaped, no address outside, every link resolves."""

import json
import re
from functools import cache
from html import unescape
from pathlib import Path
from types import SimpleNamespace

from markupsafe import Markup

from tests import _site
from tests._jobs import job, translation
from tests._training import origin
from workflow.claims.published import studies
from workflow.config.missing import Missing
from workflow.config.studies import study_files
from workflow.report.pages.index import RootPage
from workflow.report.pages.not_run import why_not_run
from workflow.report.pages.papers import coverage_page
from workflow.report.pages.run import Value, learning_curves
from workflow.report.pages.site import Site, with_minus
from workflow.report.tables.cells import NO_RUN, Cell, make_cell
from workflow.results.numbers import MINUS
from workflow.results.precomputed import NOT_MEASURED, NOT_RUN
from workflow.results.record import Point, Record
from workflow.results.registry import REGISTRY
from workflow.settings.questions import load_question


@cache
def links(path: Path) -> SimpleNamespace:
    """The addresses and ids of a page, without what its scripts hold."""
    page = re.sub(r"(<script[^>]*>).*?</script>", r"\1", path.read_text(), flags=re.DOTALL)
    found = re.findall(r'\s(id|href|src|xlink:href)="([^"]*)"', page)
    ids = [value for key, value in found if key == "id"]
    addresses = [unescape(value) for key, value in found if key != "id"]
    return SimpleNamespace(ids=ids, addresses=addresses)


def check_links(reports: Path) -> None:
    """Every link of every page leads to a file, and to an id where it names one, inside the
    reports.
    """
    for path in reports.rglob("*.html"):
        for link in links(path).addresses:
            # no icon; a picture within a figure
            if link.startswith(("data:,", "data:image/png;base64,")):
                continue
            assert not re.match(r"[a-z]+:", link), (path, link)
            assert not link.startswith("//"), (path, link)
            address, _, anchor = link.partition("#")
            target = (path.parent / address).resolve() if address else path
            assert target.is_file(), (path, link)
            assert target.is_relative_to(reports.resolve()), (path, link)
            assert not anchor or anchor in links(target).ids, (path, link)


def test_every_kind_of_page_is_there(reports, site):
    shared = {"index", "headline_claims", "model_selection", "ledger", "formulas", "coverage"}
    shared |= {"pivot", "audit"}
    kinds = {path.relative_to(site).parts[0] for path in site.rglob("*.html")}
    assert kinds == {*(f"{name}.html" for name in shared), "papers", "questions"}
    assert {path.stem for path in (site / "papers").iterdir()} == set(studies())
    check_links(reports)
    addresses = set(links(reports / "index.html").addresses)
    for place in ("index", "papers/aiayn", "questions/top_k/index", "pivot"):
        assert f"{_site.SCALE}/{place}.html" in addresses


def test_no_page_names_the_network_an_id_twice_or_has_text_from_outside_unescaped(reports, site):
    for path in reports.rglob("*.html"):
        text = path.read_text()
        ids = links(path).ids
        assert not re.findall(r"https?://|url\((?!#)", text), path
        assert _site.EVIL not in text, path
        assert len(ids) == len(set(ids)), path
        assert "data-page=" not in text, path  # nothing is named that could be linked
    assert "&lt;script&gt;alert" in (site / "index.html").read_text()
    failed = (site / "questions" / "translation_normalisers" / "index.html").read_text()
    mark = re.search(r'class="bad"[^>]*>failed</a><sup><a href="#(why-[\w-]+)"', failed)
    assert re.search(rf'<li id="{mark[1]}">[^<]*diverged', failed)


def test_a_number_has_the_minus_sign_that_it_has_in_figures():
    said = with_minus("by -0.5 (-.1 to 2), look-2, 1-3, 2026-11-27; start = -4")
    assert said == "by ~0.5 (~.1 to 2), look-2, 1-3, 2026-11-27; start = ~4".replace("~", MINUS)
    assert with_minus(Markup("<path d='M -1'>")) == "<path d='M -1'>"
    assert with_minus(-0.5) == -0.5


def empty_cell(status: str, reason: str) -> Cell:
    return make_cell("r", "c", Missing(reason), "", "measured", status=status)


def test_cells_that_were_not_run_have_one_footnote_with_the_command_that_runs_them(tmp_path):
    """Scale smoke plans what this table lacks; what it does not plan belongs to the papers'
    scale.
    """
    missing = empty_cell(NOT_RUN, NO_RUN)
    unmeasured = empty_cell(NOT_RUN, NOT_MEASURED)
    site = Site(tmp_path / "results" / "smoke", tmp_path / "reports")
    (own,) = why_not_run(site, "span_limit", [missing, missing])
    assert own.command == "snakemake --config scale=smoke questions=[span_limit]"
    # it does not plan this question
    other = Site(tmp_path / "results" / "overnight", tmp_path / "reports")
    (papers,) = why_not_run(other, "captioning", [missing])
    assert papers.command == "snakemake --config scale=paper questions=[captioning]"
    (again,) = why_not_run(site, "span_limit", [unmeasured])
    assert again.command.endswith("train=everything")
    assert why_not_run(site, "span_limit", [empty_cell("failed", "diverged")]) == []


def test_a_page_that_says_the_same_is_not_rewritten(tmp_path):
    site = Site(tmp_path / "results", tmp_path)
    times = set()
    for _ in range(2):
        site.write("root.html.j2", "index.html", RootPage("Reports", [], [], None))
        times.add((tmp_path / "index.html").stat().st_mtime_ns)
    assert len(times) == 1


RUN = "questions/span_limit/span_limit-{}-64-None-1.html"


def test_the_ledger_leads_to_the_runs_behind_each_claim(suite, site):
    """Runs of other results are named, for they have no page here."""
    ledger = suite / "results" / _site.SCALE / "ledger.json"
    lines = json.loads(ledger.read_text())["claims"]
    rows = {}
    for row in (site / "ledger.html").read_text().split('<tr id="claim-')[1:]:
        rows[row.partition('"')[0]] = row
    speaks = set()
    for line in lines:
        row = rows.get(line["name"])
        if row is None:
            continue
        is_ours = line["speaks"] == _site.SCALE
        speaks.add(line["speaks"])
        for digest in line["pairs"][0]["runs"]["ours"] if line["pairs"] else []:
            address = f'href="questions/{line["question"]}/{digest}.html"'
            assert (address in row) == is_ours, line["name"]
            assert digest in row
    assert speaks == {_site.SCALE, "overnight"}


def curves_of(small, points: list[dict], status="ok") -> list[dict]:
    record = Record(
        status=status,
        reason=None,
        job=small,
        curve=[Point(**point, tokens_per_s=1.0) for point in points],
        digest=small.digest,
        origin=origin(),
    )
    return learning_curves(record)


def test_what_is_no_number_or_has_no_logarithm_is_no_point():
    points = [
        {"step": 0, "dev_ppl": 100.0},
        {"step": 50, "dev_ppl": float("nan")},
        {"step": 100, "dev_ppl": 0.0},
    ]
    (scores,) = curves_of(translation(), points, "diverged")
    train, dev = (each.points for each in scores.series)
    assert train == [None] * 3
    assert dev == [Value(100.0), None, None]
    assert scores.log
    assert curves_of(job(), []) == []


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
    assert used <= set(links(site / RUN.format("adaptive")).addresses)


def test_the_coverage_page_has_every_table_and_figure_of_the_papers(suite, site):
    """What the papers number, and nothing of theirs that no artefact names."""
    named = set()
    for paper in studies().values():
        for artefact in paper.artefacts.values():
            named.update(artefact.tables, artefact.figures)
    assert named <= {*study_files("tables"), *study_files("figures")}
    anchors = [
        link.partition("#")[2]
        for link in links(site / "coverage.html").addresses
        if link.startswith("papers/")
    ]
    assert {anchor.partition("-")[2] for anchor in anchors} == named
    of_one = Site(suite / "results" / _site.SCALE, suite)
    section = coverage_page(of_one, [load_question("adaptive_vs_xl")]).sections[0]
    lines = {line.title: line for line in section.lines}
    assert len(lines["Table 1"].links) == 1
    assert lines["Table 1"].absent == []
    assert len(lines["Table 3"].links) == 0
    assert len(lines["Table 3"].absent) == 1
