"""BLEU: how sentences are cut into tokens, and what real parallel corpora score."""

import gzip

import numpy as np
import pytest
from sacrebleu import corpus_bleu

from tests.tasks._texts import REAL
from workflow.config.missing import Missing
from workflow.report.tables.paired import bleu
from workflow.tasks.spec import load_corpora
from workflow.tasks.translation.data import align, read_side
from workflow.tasks.translation.runner import count_sentences, score, tokenise

WMT14 = "wmt14_en_de/newstest2014_filtered.tok"
SETS = {
    "iwslt14-deen": (6750, "iwslt14_de_en/tok/test.de.gz", "iwslt14_de_en/tok/test.en.gz"),
    "iwslt15-envi": (1268, "iwslt15_en_vi/tst2013.en.gz", "iwslt15_en_vi/tst2013.vi.gz"),
    "wmt14-ende": (2737, f"{WMT14}.en.gz", f"{WMT14}.de.gz"),
}
SCORED = 500  # sentences of each


def drop_words(line: str) -> str:
    return " ".join(token for place, token in enumerate(line.split()) if place % 3)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_tokens_of_a_set_that_comes_tokenised_are_scored_as_they_are(name):
    """Every third word lost; the library's BLEU of the set's own tokens, none of our reading."""
    count, *places = SETS[name]
    if not (REAL / places[1]).exists():
        pytest.skip(f"{places[1]} is not in data_dir")
    entry = load_corpora("translation").entry(name)
    raw = [gzip.decompress((REAL / place).read_bytes()) for place in places]
    sides = [read_side(side, name, entry.lowercase) for side in raw]
    references = align(*sides, count)[1].unescape().lines[:SCORED]
    how = {name: getattr(entry, name) for name in ("tokenised", "compounds", "uncased")}
    assert score(references, references, **how)[0]["bleu_tokenised"] == pytest.approx(100)
    tokens = raw[1].decode().splitlines()[:SCORED]
    dropped = [drop_words(line) for line in tokens]
    theirs = corpus_bleu(dropped, [tokens], tokenize="none", force=True)
    written = [drop_words(line) for line in references]
    ours = score(written, references, tokenised=True)[0]
    assert ours["bleu_tokenised"] == pytest.approx(theirs.score, abs=1e-6)


@pytest.mark.parametrize(
    "text, tokenised, compounds, tokens",
    [
        ("a well-known fact - no.", False, True, "a well ##AT##-##AT## known fact - no ."),
        ("a well-known fact - no.", False, False, "a well-known fact - no ."),
        ("a well-known fact - no.", True, False, "a well-known fact - no."),
        ("well ##AT##-##AT## known", True, True, "well ##AT##-##AT## known"),
    ],
)
def test_compounds_are_cut_apart_in_tokenised_bleu(text, tokenised, compounds, tokens):
    assert tokenise(text, tokenised=tokenised, compounds=compounds, uncased=False) == tokens


def test_counts_of_sentences_add_up_to_the_score_of_the_corpus():
    outputs = ["a b c d e", "a c b d x"]
    references = ["a b c d e f", "a b c d e"]
    total = np.array(count_sentences(outputs, references)).sum(0)
    assert bleu(total) == pytest.approx(score(outputs, references)[0]["bleu"])


@pytest.mark.parametrize(
    "outputs, references, missing",
    [
        (["a b c"], ["a b c"], {"bleu", "bleu_tokenised"}),
        ([""], [""], {"bleu", "bleu_tokenised", "chrf"}),
        ([], [], {"bleu", "bleu_tokenised", "chrf"}),
        (["a"], ["a b c d"], set()),  # 0, as the library has it
    ],
)
def test_bleu_of_nothing_has_a_reason_in_place_of_a_number(outputs, references, missing):
    scores = score(outputs, references)[0]
    assert {name for name, value in scores.items() if isinstance(value, Missing)} == missing
