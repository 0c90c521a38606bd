"""Claims say where their paper says so, and what it prints there."""

import re

import pytest

from workflow.claims.published import find, studies
from workflow.claims.schema import known_claims, load_claim

PLACE = re.compile(r"(table|figure|section)s? ([\d.]*\d)(?: and ([\d.]*\d))?", re.IGNORECASE)
CLAIMS = [load_claim(name) for name in known_claims()]
PAPERS = {name for name, study in studies().items() if study.authors}


def places(text: str) -> set[str]:
    """List places: `Tables 1 and 2` are table 1 and table 2."""
    found = set()
    for kind, *numbers in PLACE.findall(text):
        found |= {f"{kind.lower()} {number}" for number in numbers if number}
    return found


@pytest.mark.parametrize("claim", CLAIMS, ids=known_claims())
def test_the_printed_numbers_of_a_claim_are_where_it_says_and_its_bound_is_one(claim):
    printed = [find(key) for key in claim.published]
    for value in printed:
        where = places(value.where)  # none where a paper's own heading names the place
        assert not where or where & places(claim.where), value.where
    if claim.scale and not claim.than:
        assert claim.bound in [value.plain for value in printed]


def test_every_paper_has_headline_claims():
    assert {claim.paper for claim in CLAIMS if claim.abstract} == PAPERS
