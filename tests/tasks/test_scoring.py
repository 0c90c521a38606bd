"""Real parallel texts, where they lie: BLEU on tokens as the sets have them, and what is read of Multi30k."""

import gzip
import os
from pathlib import Path

import pytest
from sacrebleu import corpus_bleu

from workflow.plan.scales import load_corpora
from workflow.tasks import store
from workflow.tasks.store import UNK, decode
from workflow.tasks.translation.data import align, build_pairs, read_side
from workflow.tasks.translation.runner import score

DATA = Path(os.environ.get("ATTENTION_DATA_DIR") or Path(__file__).parents[3] / "shared" / "data")
SETS = [
    ("iwslt14-deen", 6750, "iwslt14_de_en/tok/test.de.gz", "iwslt14_de_en/tok/test.en.gz"),
    ("iwslt15-envi", 1268, "iwslt15_en_vi/tst2013.en.gz", "iwslt15_en_vi/tst2013.vi.gz"),
    ("wmt14-ende", 2737, "wmt14_en_de/newstest2014_filtered.tok.en.gz", "wmt14_en_de/newstest2014_filtered.tok.de.gz"),
]
SCORED = 500  # sentences of each


@pytest.mark.slow
@pytest.mark.parametrize("name, count, source, target", SETS, ids=[row[0] for row in SETS])
def test_tokens_of_a_set_that_comes_tokenised_are_scored_as_they_are(name, count, source, target):
    """Every third word lost: BLEU counted by the library on the set's own tokens, before any of our reading."""
    if not (DATA / target).exists():
        pytest.skip(f"{target} is not in data_dir")
    entry, raw = load_corpora("translation").entry(name), gzip.decompress((DATA / target).read_bytes())
    sides = [read_side(gzip.decompress((DATA / side).read_bytes()), side, entry.lowercase) for side in (source, target)]
    references = align(*sides, count)[1].unescape().lines[:SCORED]
    how = {name: getattr(entry, name) for name in ("tokenised", "compounds", "uncased")}
    assert entry.tokenised and score(references, references, **how)[0]["bleu_tokenised"] == pytest.approx(100)
    tokens = [line.split() for line in raw.decode().splitlines()[:SCORED]]
    theirs = corpus_bleu(
        [drop_words(line) for line in tokens], [[" ".join(line) for line in tokens]], tokenize="none", force=True
    )
    ours = score([drop_words(line.split()) for line in references], references, tokenised=True, compounds=False)[0]
    assert ours["bleu_tokenised"] == pytest.approx(theirs.score, abs=1e-6)
    if entry.compounds:
        cut = score([drop_words(line.split()) for line in references], references, **how)[0]
        assert cut["bleu_tokenised"] != pytest.approx(ours["bleu_tokenised"], abs=1e-3)


def drop_words(tokens: list[str]) -> str:
    return " ".join(token for place, token in enumerate(tokens) if place % 3)


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "multi30k").is_dir(), reason="no multi30k in ATTENTION_DATA_DIR or beside the project")
@pytest.mark.parametrize("name", ["multi30k-deen", "multi30k-ende", "multi30k-enfr"])
def test_multi30k(name):
    corpus = build_pairs(load_corpora("translation"), name, str(DATA))
    sizes = {split: len(getattr(corpus, split).source) for split in store.PARTS}
    assert sizes == {"train": 29_000, "dev": 1014, "test": 1000, "second_test": 1000, "example": 1}
    assert corpus.example.source_text[0] not in (*corpus.test.source_text, *corpus.dev.source_text)
    assert corpus.dropped == 0 and len(corpus.symbols) == 6000
    for ids, texts in ((corpus.test.source, corpus.test.source_text), (corpus.dev.target, corpus.dev.target_text)):
        decoded = [
            (decode(corpus.symbols, sentence), text)
            for sentence, text in zip(ids, texts, strict=True)
            if UNK not in sentence
        ]
        assert len(decoded) > 0.98 * len(texts) and all(ours == text for ours, text in decoded)
