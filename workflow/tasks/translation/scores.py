"""How translations are scored: BLEU and chrF through sacrebleu, and BLEU on tokens as the papers computed it.

bleu              sacrebleu's own tokens, cased: comparable between suites, signature in the record
bleu_tokenised    of tokens as the papers had them: those of a text that comes tokenised, else 13a's; on WMT hyphened
                  words are cut apart, on IWSLT case is ignored. Only this one stands beside a paper's number.
chrf              character n-grams
"""

import re

from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

COMPOUND = re.compile(r"(?<=[^\s#])-(?=[^\s#])")  # not the one in ##AT##-##AT##, where it is cut already


def tokenise(text: str, *, tokenised: bool, compounds: bool, uncased: bool) -> str:
    """Tokens with spaces between them; `compounds`: a hyphen within a word is one of its own."""
    tokens = text if tokenised else Tokenizer13a()(text)
    tokens = tokens.lower() if uncased else tokens
    return COMPOUND.sub(" ##AT##-##AT## ", tokens) if compounds else tokens


def score(
    outputs: list[str],
    references: list[str],
    *,
    tokenised: bool = False,
    compounds: bool = False,
    uncased: bool = False,
) -> tuple[dict[str, float], dict[str, str]]:
    """Scores in per cent and the signatures they were computed with; tokenised, compounds, uncased: see `PairEntry`."""
    words = {"tokenised": tokenised, "compounds": compounds, "uncased": uncased}
    ours, theirs = ([tokenise(text, **words) for text in texts] for texts in (outputs, references))
    bleu, of_tokens, chrf = BLEU(), BLEU(tokenize="none", force=True), CHRF()
    scores = {
        "bleu": bleu.corpus_score(outputs, [references]).score,
        "bleu_tokenised": of_tokens.corpus_score(ours, [theirs]).score,
        "chrf": chrf.corpus_score(outputs, [references]).score,
    }
    signatures = {"bleu": bleu, "bleu_tokenised": of_tokens, "chrf": chrf}
    return scores, {name: str(metric.get_signature()) for name, metric in signatures.items()}


def count_sentences(outputs: list[str], references: list[str]) -> list[list[int]]:
    """What sacreBLEU counts in each sentence: n-grams that match (4), n-grams there are (4), lengths of both.

    Their sums give the BLEU of the corpus, and sums of resampled sentences its bootstrap, without the texts themselves.
    """
    metric = BLEU(effective_order=True)
    pairs = zip(outputs, references, strict=True)
    scores = [metric.sentence_score(output, [reference]) for output, reference in pairs]
    return [[*score.counts, *score.totals, score.sys_len, score.ref_len] for score in scores]
