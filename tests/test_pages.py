"""Pages as text: nothing unescaped, no address outside, every link resolves, every number beside its published one."""

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests import _site
from tests._runs import run
from workflow.plan.ablations import PAPERS, load_ablation
from workflow.report.pages.contexts import headline, place_in_paper
from workflow.report.pages.numbers import number, percent
from workflow.report.pages.site import own
from workflow.report.pages.status import artefacts
from workflow.results.runs_table import frame
from workflow.scripts import figure, table


class Links(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found, self.ids = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key in ("href", "src", "xlink:href"):
                self.found.append(value)
            if key == "id":
                self.ids.append(value)


@cache
def links(path) -> Links:
    """Of one page, read once."""
    return Links(path.read_text())


def every(site):
    return sorted(site.rglob("*.html"))


def test_every_kind_of_page_is_there(site):
    kinds = {path.relative_to(site).parts[0] for path in every(site)}
    pages = {f"{name}.html" for name in ("index", "analytic", "status", "engine", "pivot")}
    assert kinds == {*pages, "papers", "ablations", "runs"}


def test_every_link_resolves_inside_the_folder(site):
    for path in every(site):
        for link in links(path).found:
            if link.startswith(("data:,", "data:image/png;base64,")):  # no icon; a picture within a figure
                continue
            assert not re.match(r"[a-z]+:", link) and not link.startswith("//"), (path, link)
            target, _, anchor = link.partition("#")
            there = (path.parent / target).resolve() if target else path
            assert there.is_file() and there.is_relative_to(site.resolve()), (path, link)
            assert not anchor or anchor in links(there).ids, (path, link)


def test_no_page_names_an_address_of_the_network(site):
    for path in every(site):
        assert not re.findall(r"https?://|url\((?!#)", path.read_text()), path


def test_ids_are_unique(site):
    for path in every(site):
        ids = links(path).ids
        assert len(ids) == len(set(ids)), path


def test_what_came_from_outside_is_escaped(site):
    for path in every(site):
        text = path.read_text()
        assert _site.EVIL not in text, path
    assert "&lt;script&gt;alert" in (site / "index.html").read_text()


def test_a_failed_cell_shows_its_reason(site):
    text = (site / "ablations" / "normalisers.html").read_text()
    assert re.search(r'class="bad"[^>]*>failed</a> <span class="why">[^<]*diverged', text)


def test_the_published_value_and_the_difference_stand_in_the_cell(site):
    text = (site / "papers" / "adaptive_span.html").read_text()
    assert re.search(r"41\.61M.{0,300}published 42M.{0,80}-0\.9 %", text, re.DOTALL)
    assert re.search(r"2\.150.{0,300}± 0\.635.{0,300}published 1\.050", text, re.DOTALL)


def test_a_page_stays_below_three_megabytes(site):
    assert max(path.stat().st_size for path in every(site)) < 3e6


def test_a_run_page_tells_how_to_repeat_it(site):
    page = next(iter((site / "runs").glob("*.html")))
    text = page.read_text()
    assert f"python -m workflow.scripts.train results/runs/{page.stem}/job.json" in text
    assert "--data results/data/toy.npz --device cpu --anew</pre>" in text
    assert "Learning curve" in text and "sha256:toy" in text


def test_a_run_page_tells_what_was_measured(site):
    text = (site / "runs" / "span_limit-fixed-64-None-1.html").read_text()
    measured = text.partition("<h2>Measured</h2>")[2].partition("</section>")[0]
    told = dict(re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", measured))
    assert told["counted by torch"] == "23.46k" and told["operators that fvcore does not count"] == "aten::topk"
    assert told["its spread"] == "middle half of the rounds within 3.4 % of the median"
    assert told["longest S that fits"] == "256" and told["what ended the search for it"] == "oom"
    assert "memory: error</span> &lt;script&gt;" in measured and "counted by fvcore" not in measured


def test_a_run_page_leads_to_all_that_stands_on_it(site):
    text = (site / "runs" / "span_limit-adaptive-64-None-1.html").read_text()
    stands = text.partition("<h2>What stands on it</h2>")[2].partition("</section>")[0]
    assert 'href="../runs/span_limit-adaptive-64-None-2.html">seed 2' in stands
    assert 'href="../ablations/span_limit.html">span_limit: adaptive' in stands
    assert 'href="../papers/adaptive_span.html#table-adaptive_span_costs"' in stands
    assert 'href="../papers/adaptive_span.html#figure-adaptive_span_figure4"' in stands
    assert 'href="../index.html#claim-flops_stay_flat">The FLOPs of adaptive spans stay flat' in stands


def test_the_index_opens_with_the_ledger(site):
    text = (site / "index.html").read_text()
    assert text.index('id="ledger"') < text.index('id="figure-quality_against_cost"') < text.index("What was asked")
    row = text.partition('id="claim-flops_stay_flat"')[2].partition("</tr>")[0]
    assert re.search(r'class="verdict [\w-]+">(reproduced|consistent|not reproduced|cannot tell)<', row)
    assert 'href="runs/span_limit-adaptive-64-None-1.html"' in row


def test_a_paper_is_told_in_its_own_order_and_then_comes_what_we_ask():
    names = ["sparse_where", "translation_k", "translation_normalisers", "translation"]
    told = sorted(names, key=lambda name: place_in_paper(load_ablation(name)))
    assert told == ["translation", "translation_normalisers", "translation_k", "sparse_where"]  # Tables 1, 4, Figure 3


def test_the_index_keeps_different_k_apart():
    runs = frame([run("top_k", "adaptive_top_k", k=k, dev_bpc=float(k)) for k in (8, 32)] + [run("top_k", "xl")])
    rows = {row["label"]: row["values"][0][0] for row in headline(runs, "top_k")["rows"]}
    assert rows == {"adaptive_top_k, S = 64, k = 8": 8, "adaptive_top_k, S = 64, k = 32": 32, "xl, S = 64": 2.1}


@pytest.mark.parametrize(
    "value, unit, text",
    [
        (41_607_168, "multiply-adds / character", "41.61M"),
        (1.0512, "bpc", "1.051"),
        (314, "characters", "314"),
        (5 << 20, "bytes", "5.0 MiB"),
        (3 << 30, "bytes", "3.00 GiB"),
        (22e9, "", "22G"),
        (2504, "parameters", "2,504"),
        (None, "", ""),
        (float("nan"), "bpc", ""),
    ],
)
def test_numbers_as_people_read_them(value, unit, text):
    assert number(value, unit) == text


def test_percentages():
    assert (percent(-0.94), percent(2.0), percent(None)) == ("-0.9 %", "+2.0 %", "")


def test_ids_in_figures_become_the_figures_own():
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9pt"><g id="a"/>'
    svg += '<use xlink:href="#a"/><b clip-path="url(#a)"/></svg>'
    assert own(svg, "f") == '<svg><g id="f-a"/><use href="#f-a"/><b clip-path="url(#f-a)"/></svg>'


def test_reports_hold_what_they_offer(site):
    files = {Path(path).suffix for path in (site / "files").iterdir()}
    assert files == {".csv", ".tex", ".json", ".svg", ".pdf", ".png"}


def test_the_status_page_has_every_table_and_figure_of_the_papers(site):
    """What the papers number, and nothing of theirs that no artefact names; the cells of a table are counted."""
    numbered = {paper: list(found) for paper, found in artefacts().items()}
    assert [sum(name.startswith("Table") for name in found) for found in numbered.values()] == [3, 5, 4]
    named = {one for found in artefacts().values() for made in found.values() for one in (*made.tables, *made.figures)}
    ours = {one for one in (*table.names(), *figure.names()) if one.startswith(PAPERS)}
    assert named <= {*table.names(), *figure.names()}
    assert ours - named == {"adaptive_span_costs", "adaptive_span_shares"}  # of the text, not of a table
    page = links(site / "status.html")
    assert {link.partition("#")[2].partition("-")[2] for link in page.found if "#" in link} == named
    assert "not asked for at this scale" not in (site / "status.html").read_text()
