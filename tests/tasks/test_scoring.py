"""BLEU: how texts are cut into tokens, what real parallel texts score, and what is read of
Multi30k.
"""

import gzip
from functools import partial

import numpy as np
import pytest
from sacrebleu import corpus_bleu

from tests.tasks._texts import REAL, needs
from workflow.config.missing import Missing
from workflow.report.tables.paired import bleu
from workflow.tasks import store
from workflow.tasks.spec import load_corpora
from workflow.tasks.store import UNK, decode
from workflow.tasks.translation.data import _read_user_files, align, build_pairs, read_side
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


@pytest.mark.slow
@needs("multi30k")
@pytest.mark.parametrize("name", ["multi30k-deen", "multi30k-ende", "multi30k-enfr"])
def test_multi30k(name):
    corpus = build_pairs(load_corpora("translation"), name, str(REAL))
    sizes = {split: len(getattr(corpus, split).source) for split in store.PARTS}
    assert sizes == {"train": 29_000, "dev": 1014, "test": 1000, "second_test": 1000, "example": 1}
    assert corpus.example.source_text[0] not in (*corpus.test.source_text, *corpus.dev.source_text)
    assert corpus.dropped == 0 and len(corpus.symbols) == 6000
    for ids, texts in (
        (corpus.test.source, corpus.test.source_text),
        (corpus.dev.target, corpus.dev.target_text),
    ):
        known = [
            (decode(corpus.symbols, each), text)
            for each, text in zip(ids, texts, strict=True)
            if UNK not in each
        ]
        assert len(known) > 0.98 * len(texts) and all(ours == text for ours, text in known)


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


def test_what_is_the_same_scores_the_same_however_tools_write_it():
    """Accents in one character or two, a hyphen that Moses cuts, the width of blanks; counts agree
    with the score.
    """
    right = ["un caf\u00e9 bien-aim\u00e9 dans la rue"]
    for written in (
        "un cafe\u0301 bien-aime\u0301 dans la rue",
        "un  caf\u00e9 bien-aim\u00e9\u00a0dans la rue",
    ):
        assert [*score([written], right)[0].values()] == pytest.approx([100, 100, 100])
        assert count_sentences([written], right) == [[6, 5, 4, 3, 6, 5, 4, 3, 6, 6]]
        assert count_sentences(right, [written]) == count_sentences([written], right)
    cut = partial(tokenise, tokenised=True, compounds=True, uncased=False)
    assert cut("a state @-@ of @-@ the @-@ art net") == cut("a state-of-the-art net")


PLAIN = ["a low-cost net", 'he said "no" &', "it's 3 < 4 [x]"]
WRITTEN_BY = {
    "subword-nmt": ["a lo@@ w-cost net", 'he s@@ aid "n@@ o" &', "it's 3 < 4 [@@ x]"],
    "sentencepiece": ["▁a ▁low - cost ▁net", '▁he ▁sa id ▁"no" ▁&', "▁it 's ▁3 ▁< ▁4 ▁[x]"],
    "Moses": [
        "a low @-@ cost net",
        "he said &quot;no&quot; &amp;",
        "it&apos;s 3 &lt; 4 &#91;x&#93;",
    ],
    "Windows": ["a  low-cost net\r", 'he\u00a0said "no" &\t\r', "it's 3 < 4 [x]\r\n\r\n\r"],
}


@pytest.mark.parametrize("tool", WRITTEN_BY)
def test_a_users_sentences_are_the_same_whichever_tool_has_cut_their_words(tool, tmp_path):
    for ending, lines in (("de", PLAIN), ("en", WRITTEN_BY[tool])):
        (tmp_path / f"my.{ending}").write_bytes("\n".join(lines).encode())
    texts = _read_user_files(f"pairs:{tmp_path / 'my.de'},{tmp_path / 'my.en'}")
    read = [side.lines for side in texts["train"] + texts["dev"] + texts["test"]]
    assert read == [[line] for line in PLAIN for _ in "ab"]


@needs("iwslt14_de_en")
def test_iwslts_pieces_are_its_tokens_again():
    cut, whole = (
        read_side(
            gzip.decompress((REAL / f"iwslt14_de_en/{place}/test.en.gz").read_bytes()),
            place,
            lowercase=False,
        )
        for place in ("bpe10k", "tok")
    )
    assert cut.join().lines == whole.lines


def test_bleu_of_nothing_has_a_reason_in_place_of_a_number():
    short = dict.fromkeys(("bleu", "bleu_tokenised"), Missing("no sentence has 4 tokens"))
    assert score(["a b c"], ["a b c"])[0] == {**short, "chrf": pytest.approx(100)}
    assert score([""], [""])[0] == {**short, "chrf": Missing("no text")}
    assert set(score([], [])[0].values()) == {Missing("no sentence")}
    # as the library has it
    assert score(["a"], ["a b c d"])[0]["bleu"] == score([""], ["a b c d"])[0]["bleu"] == 0
