"""The embedded phrases: the same everywhere, grammatical where a rule can be wrong, and split
without overlap.
"""

import hashlib
import random

import pytest

from workflow.config.errors import ConfigError
from workflow.tasks import embedded
from workflow.tasks.spec import load_corpora
from workflow.tasks.store import UNK, decode
from workflow.tasks.translation import phrases
from workflow.tasks.translation.data import build_pairs, read_embedded

pytestmark = pytest.mark.slow
DIRECTIONS = ["phrases-ende", "phrases-deen", "phrases-envi", "phrases-enfr"]


@pytest.mark.parametrize("name", DIRECTIONS)
def test_the_phrases_are_the_pinned_ones(name):
    entry = load_corpora("translation").entry(name)
    content = phrases.generate_bitext(entry.source, entry.target)
    assert f"sha256:{hashlib.sha256(content).hexdigest()}" == entry.checksum


def test_no_sentence_occurs_in_two_splits():
    for name in DIRECTIONS:
        texts = read_embedded(name, load_corpora("translation").entry(name))
        assert [len(texts[split][0].lines) for split in ("train", "dev", "test")] == [
            22_000,
            1000,
            1000,
        ]
        for n in range(2):
            lines = [line for split in texts.values() for line in split[n].lines]
            assert len({line.lower() for line in lines}) == len(lines) == 24_000


@pytest.mark.parametrize("name", DIRECTIONS[::2])
def test_pieces_give_back_every_held_out_sentence(name):
    pairs = build_pairs(load_corpora("translation"), name, None)
    assert len(pairs.symbols) == len(set(pairs.symbols)) == 1000 and pairs.dropped == 0
    for split in (pairs.dev, pairs.test):
        for ids, texts in ((split.source, split.source_text), (split.target, split.target_text)):
            assert [decode(pairs.symbols, sentence) for sentence in ids] == texts
            assert not any(UNK in sentence for sentence in ids)


def test_french_agrees_in_number_and_gender(monkeypatch):
    frame = {"weight": 1, "en": "The {things.bare} that {who} {verb} are {things.adjective}."}
    frame |= {"de": "{things} {who} {verb}", "vi": "{things} {who} {verb}"}
    frame["fr"] = "{things.bare} que {who} {who.has} {verb}{things.e}s sont {things.adjective}."
    words = phrases.read_lexicon() | {"frames": [frame]}
    monkeypatch.setattr(phrases, "read_lexicon", lambda: words)
    monkeypatch.setattr(phrases, "PHRASES", 300)
    texts = [phrase["fr"] for phrase in phrases.generate_phrases.__wrapped__()]
    cows = [text for text in texts if " vaches " in text]
    cats = [text for text in texts if " chats " in text]
    female, male = "noires blanches vertes lourdes légères", "noirs blancs verts lourds légers"
    assert cows and cats and not any(f" {word}." in text for text in cows for word in male.split())
    assert not any(f" {word}." in text for text in cats for word in female.split())
    assert all("es sont " in text for text in cows) and not any("es sont " in text for text in cats)


def test_twenty_one_is_female_with_female_nouns():
    generator = random.Random(0)
    draws = [phrases._draw_things(generator) for _ in range(2000)]
    ones = [things for things in draws if things[0].startswith("twenty-one")]
    assert ones and all(
        things[2].startswith("vingt et une ") == bool(things[2].e) for things in ones
    )


def test_elision_and_capitals():
    assert (
        phrases._typeset("parce que il voit que elles que on")
        == "parce qu’il voit que elles que on"
    )
    assert phrases._typeset("est-ce que elle vient ?") == "Est-ce qu’elle vient ?"
    assert phrases._typeset("đây là 5\u202f000 đồng.") == "Đây là 5 000 đồng."
    assert phrases._typeset("zwei Katzen") == "zwei Katzen"


def test_other_versions_are_refused_with_the_pins(monkeypatch):
    monkeypatch.setattr(phrases, "generate_phrases", lambda: [{"en": "one", "de": "eins"}])
    monkeypatch.setattr(
        embedded, "version", lambda name: {"babel": "2.19.0", "num2words": "0.5.14"}[name]
    )
    line = "babel==2.18.0 and num2words==0.5.14, .* babel==2.19.0 and num2words==0.5.14"
    with pytest.raises(ConfigError, match=f"'phrases-ende': sha256 .* expected .*; .* {line}"):
        build_pairs(load_corpora("translation"), "phrases-ende", None)


def test_a_language_there_is_not_is_refused_with_the_nearest():
    with pytest.raises(
        ConfigError, match="unknown language of the embedded phrases 'fi': did you mean 'vi'"
    ):
        phrases.generate_bitext("en", "fi")
