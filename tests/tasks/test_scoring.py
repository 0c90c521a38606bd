"""BLEU: how texts are cut into tokens, what real parallel texts score, and what is read of
Multi30k.
"""

import gzip
from functools import partial

import numpy as np
import pytest
from sacrebleu import corpus_bleu

from tests.tasks._texts import REAL
from workflow.config.missing import Missing
from workflow.report.tables.paired import bleu
from workflow.tasks.spec import load_corpora
from workflow.tasks.translation.data import align, read_side
from workflow.tasks.translation.runner import count_sentences, score, tokenise

SETS = [
    ("iwslt14-deen", 6750, "iwslt14_de_en/tok/test.de.gz", "iwslt14_de_en/tok/test.en.gz"),
    ("iwslt15-envi", 1268, "iwslt15_en_vi/tst2013.en.gz", "iwslt15_en_vi/tst2013.vi.gz"),
    (
        "wmt14-ende",
        2737,
        "wmt14_en_de/newstest2014_filtered.tok.en.gz",
        "wmt14_en_de/newstest2014_filtered.tok.de.gz",
    ),
]
SCORED = 500  # sentences of each


@pytest.mark.slow
@pytest.mark.parametrize("name, count, source, target", SETS, ids=[row[0] for row in SETS])
def test_tokens_of_a_set_that_comes_tokenised_are_scored_as_they_are(name, count, source, target):
    """Every third word lost: BLEU counted by the library on the set's own tokens, before any of our
    reading.
    """
    if not (REAL / target).exists():
        pytest.skip(f"{target} is not in data_dir")
    entry = load_corpora("translation").entry(name)
    raw = [gzip.decompress((REAL / place).read_bytes()) for place in (source, target)]
    references = (
        align(*(read_side(side, name, entry.lowercase) for side in raw), count)[1]
        .unescape()
        .lines[:SCORED]
    )
    how = {name: getattr(entry, name) for name in ("tokenised", "compounds", "uncased")}
    assert entry.tokenised and score(references, references, **how)[0][
        "bleu_tokenised"
    ] == pytest.approx(100)
    tokens, written = raw[1].decode().splitlines()[:SCORED], [*map(drop_words, references)]
    theirs = corpus_bleu([*map(drop_words, tokens)], [tokens], tokenize="none", force=True)
    ours = score(written, references, tokenised=True)[0]
    assert ours["bleu_tokenised"] == pytest.approx(theirs.score, abs=1e-6)
    if entry.compounds:
        cut = score(written, references, **how)[0]
        assert cut["bleu_tokenised"] != pytest.approx(ours["bleu_tokenised"], abs=1e-3)


def drop_words(line: str) -> str:
    return " ".join(token for place, token in enumerate(line.split()) if place % 3)


def test_compounds_are_cut_apart_in_tokenised_bleu():
    text = "a well-known fact - no."
    cased = partial(tokenise, uncased=False)
    assert cased(text, tokenised=False, compounds=True) == "a well ##AT##-##AT## known fact - no ."
    assert cased(text, tokenised=False, compounds=False) == "a well-known fact - no ."
    assert cased(text, tokenised=True, compounds=False) == text
    assert (
        cased("well ##AT##-##AT## known", tokenised=True, compounds=True)
        == "well ##AT##-##AT## known"
    )
    metrics, signatures = score(["a b c d e"], ["a b c d e"])
    assert (
        metrics["bleu"] == metrics["bleu_tokenised"] == pytest.approx(100)
        and "tok:13a" in signatures["bleu"]
    )


def test_capitals_count_for_nothing_where_the_paper_takes_no_notice_of_them():
    written, right = ["a Bird SINGS in the tree"], ["A bird sings in the tree"]
    cased, uncased = (score(written, right, uncased=uncased)[0] for uncased in (False, True))
    assert uncased["bleu_tokenised"] == pytest.approx(100) and cased["bleu_tokenised"] < 60
    assert uncased["bleu"] == cased["bleu"] < 60


def test_counts_of_sentences_add_up_to_the_score_of_the_corpus():
    outputs, references = ["a b c d e", "a c b d x"], ["a b c d e f", "a b c d e"]
    total = np.array(count_sentences(outputs, references)).sum(0)
    assert bleu(total) == pytest.approx(score(outputs, references)[0]["bleu"])


def test_bleu_of_nothing_has_a_reason_in_place_of_a_number():
    short = dict.fromkeys(("bleu", "bleu_tokenised"), Missing("no sentence has 4 tokens"))
    assert score(["a b c"], ["a b c"])[0] == {**short, "chrf": pytest.approx(100)}
    assert score([""], [""])[0] == {**short, "chrf": Missing("no text")}
    assert set(score([], [])[0].values()) == {Missing("no sentence")}
    # as the library has it
    assert score(["a"], ["a b c d"])[0]["bleu"] == score([""], ["a b c d"])[0]["bleu"] == 0
