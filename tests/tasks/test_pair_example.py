"""A sentence of this project's own, which a text of the catalogue may bring for pictures of attention."""

import pytest

from tests.tasks._pairs import load
from workflow.config.errors import ConfigError
from workflow.tasks.store import decode


def test_an_example_of_our_own_is_read_in_both_languages_and_identifies_nothing(tmp_path):
    example = {"fr": "Un oiseau.", "de": "Die  1 sind schwarz.", "en": "The 1 are black."}
    birds = load(tmp_path, example=example)
    assert (birds.example.source_text, birds.example.target_text) == (["Die 1 sind schwarz."], ["The 1 are black."])
    assert decode(birds.symbols, birds.example.target[0]) == "The 1 are black."
    assert birds.checksum == load(tmp_path).checksum


@pytest.mark.parametrize(
    "example, line",
    [
        ({"de": "Die 1."}, "example must have a sentence in de and en"),
        ({"de": "Vögel " * 9, "en": "birds"}, r"example of 'birds-deen', line 1: \d+ pieces, at most 15 in example"),
        ({"de": " ", "en": "birds"}, "example of 'birds-deen', line 1: empty"),
        ({"de": "a\nb", "en": "birds"}, "has 2 lines"),
    ],
)
def test_an_example_that_cannot_be_looked_at_is_refused(example, line, tmp_path):
    with pytest.raises((ValueError, ConfigError), match=line):
        load(tmp_path, example=example)
