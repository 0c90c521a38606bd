"""From every page to the index and the ledger of its report, and from a claim to its verdict."""

from tests.report.test_pages import links, pages_in


def test_every_page_of_a_report_leads_to_its_index_and_ledger(site):
    for path in pages_in(site):
        led = {(path.parent / link.partition("#")[0]).resolve() for link in links(path).addresses}
        assert {(site / f"{name}.html").resolve() for name in ("index", "ledger")} <= led | {path.resolve()}, path
        assert "data-page=" not in path.read_text(), path  # nothing is named that could be linked


def test_a_question_leads_to_the_verdict_on_each_of_its_claims(site):
    page = site / "ablations" / "span_limit" / "index.html"
    claims = [anchor for anchor in links(page).ids if anchor.startswith("claim-")]
    assert claims and {f"../../ledger.html#{anchor}" for anchor in claims} <= set(links(page).addresses)
