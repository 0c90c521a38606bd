"""BLEU: how sentences are cut into tokens, and what real parallel corpora score."""

import numpy as np
import pytest

from workflow.config.missing import Missing
from workflow.report.tables.paired import bleu
from workflow.tasks.translation.runner import count_sentences, score, tokenise


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
    counts = count_sentences(outputs, references)
    scores, _ = score(outputs, references)
    assert bleu(np.sum(counts, axis=0)) == pytest.approx(scores["bleu"])


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
    scores, _ = score(outputs, references)
    for name, value in scores.items():
        assert isinstance(value, Missing) == (name in missing)
