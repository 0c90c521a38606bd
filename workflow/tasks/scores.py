"""How translations are scored: BLEU and chrF through sacrebleu, and BLEU on tokens as the papers computed it.

bleu              sacrebleu's own tokens, cased: comparable between suites, signature in the record
bleu_tokenised    of tokens as the papers had them: those of a text that comes tokenised, else 13a's; on WMT hyphened
                  words are cut apart. Only this one stands beside a paper's number.
chrf              character n-grams
"""

import re

from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

COMPOUND = re.compile(r"(?<=[^\s#])-(?=[^\s#])")  # not the one in ##AT##-##AT##, where it is cut already


def tokens(text: str, tokenised: bool, compounds: bool) -> str:
    """Tokens with spaces between them; `compounds`: a hyphen within a word is one of its own."""
    made = text if tokenised else Tokenizer13a()(text)
    return COMPOUND.sub(" ##AT##-##AT## ", made) if compounds else made


def scores(
    outputs: list[str], references: list[str], *, tokenised: bool = False, compounds: bool = False
) -> tuple[dict[str, float], dict[str, str]]:
    """Scores in per cent and the signatures they were computed with; tokenised, compounds: of the text, `Direction`."""
    cut = [[tokens(text, tokenised, compounds) for text in texts] for texts in (outputs, references)]
    plain, tokenised, chrf = BLEU(), BLEU(tokenize="none", force=True), CHRF()
    found = {
        "bleu": plain.corpus_score(outputs, [references]).score,
        "bleu_tokenised": tokenised.corpus_score(cut[0], [cut[1]]).score,
        "chrf": chrf.corpus_score(outputs, [references]).score,
    }
    signatures = {"bleu": plain, "bleu_tokenised": tokenised, "chrf": chrf}
    return found, {name: str(metric.get_signature()) for name, metric in signatures.items()}


def counts(outputs: list[str], references: list[str]) -> list[list[int]]:
    """What sacreBLEU counts in each sentence: n-grams that match (4), n-grams there are (4), lengths of both.

    Their sums give the corpus' BLEU, and resampled sums its bootstrap, without the sentences themselves.
    """
    metric = BLEU(effective_order=True)
    found = [metric.sentence_score(one, [other]) for one, other in zip(outputs, references, strict=True)]
    return [[*one.counts, *one.totals, one.sys_len, one.ref_len] for one in found]
