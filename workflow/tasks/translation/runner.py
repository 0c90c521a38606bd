"""Translation with an encoder and a decoder, scored by BLEU and chrF.

The papers are Attention Is All You Need and Explicit Sparse Transformer.

bleu            sacrebleu's tokens, cased: comparable between suites, signature in the record
bleu_tokenised  of tokens as the papers had them: those of a tokenised corpus, else 13a's; on WMT
                hyphened words are cut apart, on IWSLT case is ignored. Only this one is
                compared with a paper's number.
chrf            character n-grams

How an accent is composed makes no difference. A score that has no value is `Missing`.
"""

import re
from contextlib import contextmanager
from functools import partial
from unicodedata import normalize

import torch
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from models.attention.selections.all import All
from workflow.config.missing import Missing
from workflow.tasks import store as pairs
from workflow.tasks.batches import sources, targets
from workflow.tasks.sequences import SHOWN, SequenceTask
from workflow.tasks.translation import PLANTED
from workflow.tasks.translation.planted import astray, plant, slope
from workflow.tasks.weights import read_weights
from workflow.training.evaluation import Evaluation, Score
from workflow.training.failures import attempt

SECOND = "second_test"
# a hyphen in a word, perhaps cut by Moses; not ##AT##-##AT##
COMPOUND = re.compile(r" @-@ |(?<=[^\s#])-(?=[^\s#])")
SHORTEST, LONGEST = 6, 16  # pieces of a sentence whose attention is drawn, row by row


class TranslationTask(SequenceTask):
    """Sentences of one language for those of another."""

    scored = ("dev", "test", SECOND)

    def evaluate(self, net) -> Evaluation:
        """Add BLEU of a second test, BLEU with every key, and maps of attention.

        Every key makes a difference only where a selection keeps some of them.
        """
        found = super().evaluate(net)
        metrics = dict(found.metrics)
        facts = dict(found.facts)
        if self.corpus.second_test.source:
            scores, examples = self.score_split(net, SECOND)
            metrics |= scores
            facts[f"{SECOND}_counts"] = examples.get("counts")
        if self.job.attention.selection["name"] != "all":
            with using_every_key(net):
                for split in ("dev", "test"):
                    scores, _ = self.score_split(net, split, "_every_key")
                    metrics |= scores
        if self.corpus.planted:
            alone = metrics.get("test_bleu")
            metrics |= self.score_planted(net, alone)
            with attempt(self.missing, ["astray"]):
                facts["astray"] = astray(net, self.corpus.test)
        with attempt(self.missing, ["maps"]):
            facts["maps"] = draw_maps(net, self.corpus)
        return Evaluation(metrics, facts, found.macs)

    def score_planted(self, net, alone: Score | None) -> dict[str, Score]:
        """Score test with distractor sentences behind each source. alone: BLEU without any."""
        names = [f"test_bleu_planted_{count}" for count in PLANTED]
        with attempt(self.missing, [*names, "test_bleu_slope"]):
            found = {}
            for name, count in zip(names, PLANTED, strict=True):
                found[name] = self._bleu_behind(net, count)
            scores = [alone, *found.values()]
            found["test_bleu_slope"] = slope(scores)
            return found
        return {}

    def _bleu_behind(self, net, count: int) -> Score:
        """Compute BLEU on test with `count` distractor sentences behind each source."""
        sources = self.corpus.test.source
        counts = [count] * len(sources)
        planted = plant(sources, counts, seed=count)
        decoded = len(self.sources_to_decode("test"))
        outputs = self.write(net, planted[:decoded])
        scores, _ = self.score("test", outputs)
        return scores["bleu"]

    def score(self, split: str, outputs: list[list[int]]) -> tuple[dict[str, Score], dict]:
        """Score the outputs by BLEU and chrF; keep counts by sentence, signatures and examples."""
        corpus = self.corpus
        part = getattr(corpus, split)
        written = [pairs.decode(corpus.symbols, output) for output in outputs]
        references = part.target_text[: len(written)]
        scores, signatures = score(
            written,
            references,
            tokenised=corpus.tokenised,
            compounds=corpus.compounds,
            uncased=corpus.uncased,
        )
        facts: dict = {"signatures": signatures}
        if not isinstance(scores["bleu"], Missing):
            facts["counts"] = count_sentences(written, references)
        shown = zip(part.source_text, references, written, strict=False)
        facts["shown"] = list(shown)[:SHOWN]
        return scores, facts


@contextmanager
def using_every_key(net):
    """Let every query keep all its keys, for a model that selected some in training.

    As in Table 5 of Explicit Sparse Transformer.
    """
    selections = [layer.selection for layer in net.attentions]
    try:
        for layer in net.attentions:
            layer.selection = All(layer.shape)
        yield
    finally:
        for layer, selection in zip(net.attentions, selections, strict=True):
            layer.selection = selection


def tokenise(text: str, *, tokenised: bool, compounds: bool, uncased: bool) -> str:
    """Cut a sentence into tokens with spaces between them.

    compounds: a hyphen within a word is a token. tokenised, uncased: see `PairEntry`.
    """
    tokens = text if tokenised else Tokenizer13a()(text)
    if uncased:
        tokens = tokens.lower()
    if compounds:
        tokens = COMPOUND.sub(" ##AT##-##AT## ", tokens)
    return tokens


def score(
    outputs: list[str], references: list[str], *, tokenised=False, compounds=False, uncased=False
) -> tuple[dict[str, Score], dict[str, str]]:
    """Compute scores in per cent, and sacreBLEU's signatures of them.

    tokenised, compounds, uncased: see `PairEntry`.
    """
    if not outputs:
        nothing = Missing("no sentence")
        return dict.fromkeys(("bleu", "bleu_tokenised", "chrf"), nothing), {}
    outputs = compose(outputs)
    references = compose(references)
    cut = partial(tokenise, tokenised=tokenised, compounds=compounds, uncased=uncased)
    written_tokens = [cut(sentence) for sentence in outputs]
    reference_tokens = [cut(sentence) for sentence in references]
    bleu = BLEU()
    of_tokens = BLEU(tokenize="none", force=True)
    chrf = CHRF()
    scores: dict[str, Score] = {
        "bleu": _bleu(bleu, outputs, references),
        "bleu_tokenised": _bleu(of_tokens, written_tokens, reference_tokens),
        "chrf": chrf.corpus_score(outputs, [references]).score,
    }
    if not any(outputs + references):
        scores["chrf"] = Missing("no text")
    # once the scores are computed, for they complete it
    signatures = {}
    for name, metric in zip(scores, (bleu, of_tokens, chrf), strict=True):
        signatures[name] = str(metric.get_signature())
    return scores, signatures


def compose(texts: list[str]) -> list[str]:
    """Write each accent with its letter as one character (NFC), so that strings compare."""
    return [normalize("NFC", text) for text in texts]


def _bleu(metric: BLEU, outputs: list[str], references: list[str]) -> Score:
    """Compute BLEU; `Missing` where all sentences are shorter than its n-grams."""
    score = metric.corpus_score(outputs, [references])
    best = metric.corpus_score(references, [references])
    longest = score.totals[-1]  # n-grams of 4 tokens
    longest_of_best = best.totals[-1]
    if not longest and not longest_of_best:
        return Missing("no sentence has 4 tokens")
    return score.score


def count_sentences(outputs: list[str], references: list[str]) -> list[list[int]]:
    """Count n-grams in each sentence as sacreBLEU does.

    In this order: those that match (4), all of them (4), lengths of output and reference. Their
    sums give the BLEU of the corpus, and sums of resampled sentences its bootstrap, without the
    sentences themselves.
    """
    metric = BLEU(effective_order=True)
    counts = []
    pairs = zip(compose(outputs), compose(references), strict=True)
    for output, reference in pairs:
        score = metric.sentence_score(output, [reference])
        lengths = (score.sys_len, score.ref_len)
        counts.append([*score.counts, *score.totals, *lengths])
    return counts


@torch.no_grad()
def draw_maps(net, corpus) -> dict:
    """Keep the pieces of one pair, and the weights of the first and the last layer on them.

    The pair is the corpus' example, or the first fitting one of test where it has none. Returned:
    {"source": [N], "target": [T], "encoder" | "decoder" | "cross": {layer: [head][query][key]}}
    """
    split = corpus.example
    if not split.source:
        split = corpus.test
    pair = _find_pair(split)
    if pair is None:
        return {}
    read, written = pair
    device = next(net.parameters()).device
    source = sources([read]).to(device)
    target = targets([written])[:, :-1]
    target = target.to(device)
    by_kind = read_weights(net, source, target)
    return {
        "source": _symbols(corpus, source[0]),
        "target": _symbols(corpus, target[0]),
        **by_kind,
    }


def _symbols(corpus, ids: torch.Tensor) -> list[str]:
    return [corpus.symbols[token] for token in ids.tolist()]


def _find_pair(split: pairs.Split) -> tuple | None:
    """Find the first pair whose map is neither trivial nor too large to draw."""
    for source, target in zip(split.source, split.target, strict=True):
        shorter, longer = sorted((len(source), len(target)))
        # with their end tokens
        is_long_enough = shorter + 1 >= SHORTEST
        fits = longer + 1 <= LONGEST
        if is_long_enough and fits:
            return source, target
    return None
