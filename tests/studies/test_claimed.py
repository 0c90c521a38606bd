"""Claims say where their paper says so, and what it prints there: held against the values in the
study's folder.
"""

import re

import pytest

from workflow.claims.published import find, studies
from workflow.claims.schema import known_claims, load_claim

PLACE = re.compile(r"(tables?|figures?|section) ([\d.]*\d)(?: and ([\d.]*\d))?", re.IGNORECASE)
SCORED = [name for name in known_claims() if load_claim(name).scale and not load_claim(name).than]
PAPERS = {name for name, study in studies().items() if study.authors}
MEASURED = [name for name in known_claims() if load_claim(name).published]


def places(text: str) -> set[str]:
    """`Tables 1 and 2` are table 1 and table 2."""
    return {
        f"{kind.lower().rstrip('s')} {number}"
        for kind, *numbers in PLACE.findall(text)
        for number in numbers
        if number
    }


@pytest.mark.parametrize("name", MEASURED)
def test_the_printed_numbers_of_a_claim_stand_where_it_says(name):
    claim = load_claim(name)
    for value in map(find, claim.published):
        printed = places(value.where)  # none where a paper's own heading names the place
        assert not printed or printed & places(claim.where), value.where
        assert value.row and value.column


@pytest.mark.parametrize("name", SCORED)
def test_a_score_that_is_held_against_a_printed_one_is_held_against_the_right_one(name):
    claim = load_claim(name)
    assert claim.bound in [find(key).plain for key in claim.published]


def test_every_paper_has_headlines_in_words_of_our_own():
    claims = [claim for claim in map(load_claim, known_claims()) if claim.abstract]
    assert {claim.paper for claim in claims} == PAPERS
    assert all(claim.abstract.endswith(".") and claim.abstract != claim.claim for claim in claims)
