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
            metrics |= self.score_planted(net, metrics.get("test_bleu"))
            measure = partial(astray, net, self.corpus.test)
            facts["astray"] = attempt(self.missing, ["astray"], measure)
        facts["maps"] = attempt(self.missing, ["maps"], partial(draw_maps, net, self.corpus))
        return Evaluation(metrics, facts, found.macs)

    def score_planted(self, net, alone: Score | None) -> dict[str, Score]:
        """Score test with distractor sentences behind each source. alone: BLEU without any."""
        names = [f"test_bleu_planted_{count}" for count in PLANTED]

        def work() -> dict[str, Score]:
            scores = [self._bleu_behind(net, count) for count in PLANTED]
            found = dict(zip(names, scores, strict=True))
            found["test_bleu_slope"] = slope([alone, *scores])
            return found

        return attempt(self.missing, [*names, "test_bleu_slope"], work, {})

    def _bleu_behind(self, net, count: int) -> Score:
        """Compute BLEU on test with `count` distractor sentences behind each source."""
        sources = self.corpus.test.source
        planted = plant(sources, [count] * len(sources), seed=count)
        read = planted[: len(self.sources_to_decode("test"))]
        scores, _ = self.score("test", self.write(net, read))
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
        facts["shown"] = list(zip(part.source_text, references, written, strict=False))[:SHOWN]
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
        return dict.fromkeys(("bleu", "bleu_tokenised", "chrf"), Missing("no sentence")), {}
    outputs = compose(outputs)
    references = compose(references)
    cut = partial(tokenise, tokenised=tokenised, compounds=compounds, uncased=uncased)
    written_tokens = [cut(sentence) for sentence in outputs]
    reference_tokens = [cut(sentence) for sentence in references]
    metrics = {"bleu": BLEU(), "bleu_tokenised": BLEU(tokenize="none", force=True), "chrf": CHRF()}
    scores = {
        "bleu": _bleu(metrics["bleu"], outputs, references),
        "bleu_tokenised": _bleu(metrics["bleu_tokenised"], written_tokens, reference_tokens),
        "chrf": metrics["chrf"].corpus_score(outputs, [references]).score,
    }
    if not any(outputs + references):
        scores["chrf"] = Missing("no text")
    return scores, {name: str(metric.get_signature()) for name, metric in metrics.items()}


def compose(texts: list[str]) -> list[str]:
    """Write each accent with its letter as one character (NFC), so that strings compare."""
    return [normalize("NFC", text) for text in texts]


def _bleu(metric: BLEU, outputs: list[str], references: list[str]) -> Score:
    """Compute BLEU; `Missing` where all sentences are shorter than its n-grams."""
    score = metric.corpus_score(outputs, [references])
    best = metric.corpus_score(references, [references])
    if not score.totals[-1] and not best.totals[-1]:
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
    for output, reference in zip(compose(outputs), compose(references), strict=True):
        score = metric.sentence_score(output, [reference])
        counts.append([*score.counts, *score.totals, score.sys_len, score.ref_len])
    return counts


@torch.no_grad()
def draw_maps(net, corpus) -> dict:
    """Keep the pieces of one pair, and the weights of the first and the last layer on them.

    The pair is the corpus' example, or the first fitting one of test where it has none. Returned:
    {"source": [N], "target": [T], "encoder" | "decoder" | "cross": {layer: [head][query][key]}}
    """
    pair = _find_pair(corpus.example if corpus.example.source else corpus.test)
    if pair is None:
        return {}
    device = next(net.parameters()).device
    source = sources([pair[0]])
    target = targets([pair[1]])[:, :-1]
    by_kind = read_weights(net, source.to(device), target.to(device))
    return {
        "source": [corpus.symbols[token] for token in source[0].tolist()],
        "target": [corpus.symbols[token] for token in target[0].tolist()],
        **by_kind,
    }


def _find_pair(split: pairs.Split) -> tuple | None:
    """Find the first pair whose map is neither trivial nor too large to draw."""
    for source, target in zip(split.source, split.target, strict=True):
        lengths = (len(source) + 1, len(target) + 1)  # with their end tokens
        if min(lengths) >= SHORTEST and max(lengths) <= LONGEST:
            return source, target
    return None
