"""The sentences that a report opens with: each can be followed to its numbers."""

import html
import re

from tests.report.test_committed import NUMBER, TAG

FINDING = re.compile(r'<li><a href="([^"]+)">(.*?)</a>', re.DOTALL)


def shown_at(address: str, site) -> str:
    """The text of the page, or of the row of it, that an address leads to."""
    page, _, anchor = address.partition("#")
    text = (site / page).read_text()
    row = text.partition(f'<tr id="{anchor}"')[2].partition('<tr id="claim-')[0] if anchor else text
    return html.unescape(TAG.sub(" ", re.sub(r"<(svg|style|script)\b.*?</\1>", "", row, flags=re.DOTALL)))


def check_findings(site) -> int:
    """Every number of a sentence stands, in the same digits, where its link leads; how many sentences there are."""
    listed = (site / "index.html").read_text().partition('<ul class="findings lead">')[2].partition("</ul>")[0]
    for address, sentence in FINDING.findall(listed):
        numbers = set(NUMBER.findall(html.unescape(sentence)))
        assert numbers <= set(NUMBER.findall(shown_at(address, site))), (sentence, address)
    return len(FINDING.findall(listed))


def test_every_number_of_the_opening_stands_where_its_link_leads(site):
    assert check_findings(site) > 2
