"""Translation with an encoder and a decoder (Attention Is All You Need; Explicit Sparse
Transformer): BLEU.

Scores are BLEU and chrF through sacrebleu, and BLEU on tokens as the papers computed it.

bleu              sacrebleu's own tokens, cased: comparable between suites, signature in the record
bleu_tokenised    of tokens as the papers had them: those of a text that comes tokenised, else
13a's; on WMT hyphened
                  words are cut apart, on IWSLT case is ignored. Only this one stands beside a
                  paper's number.
chrf              character n-grams

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
        """Add BLEU of a second test, BLEU with every key where only some were kept, and maps of
        attention.
        """
        found = super().evaluate(net)
        metrics, facts = dict(found.metrics), dict(found.facts)
        if self.corpus.second_test.source:
            scores, examples = self.score_split(net, SECOND)
            metrics |= scores
            facts[f"{SECOND}_counts"] = examples.get("counts")
        if self.job.attention.selection["name"] != "all":
            with using_every_key(net):
                for split in ("dev", "test"):
                    metrics |= self.score_split(net, split, "_every_key")[0]
        if self.corpus.planted:
            metrics |= self.score_planted(net, metrics.get("test_bleu"))
            facts["astray"] = attempt(
                self.missing, ["astray"], partial(astray, net, self.corpus.test)
            )
        facts["maps"] = attempt(self.missing, ["maps"], partial(draw_maps, net, self.corpus))
        return Evaluation(metrics, facts, found.macs)

    def score_planted(self, net, alone: Score | None) -> dict[str, Score]:
        """Score test with sentences behind each source that do not matter. alone: BLEU without
        any.
        """
        test, names = self.corpus.test, [f"test_bleu_planted_{count}" for count in PLANTED]

        def work() -> dict[str, Score]:
            scores = [alone]
            for count in PLANTED:
                sentences = self.sources_to_decode("test")
                read = plant(test.source, [count] * len(test.source), count)[: len(sentences)]
                scores.append(self.score("test", self.write(net, read))[0]["bleu"])
            return {**dict(zip(names, scores[1:], strict=True)), "test_bleu_slope": slope(scores)}

        return attempt(self.missing, [*names, "test_bleu_slope"], work, {})

    def score(self, split: str, outputs: list[list[int]]) -> tuple[dict[str, Score], dict]:
        corpus, texts = self.corpus, getattr(self.corpus, split)
        written = [pairs.decode(corpus.symbols, output) for output in outputs]
        right = texts.target_text[: len(written)]
        words = {
            "tokenised": corpus.tokenised,
            "compounds": corpus.compounds,
            "uncased": corpus.uncased,
        }
        scores, signatures = score(written, right, **words)
        shown = list(zip(texts.source_text, right, written, strict=False))[:SHOWN]
        has_bleu = not isinstance(scores["bleu"], Missing)
        counts = {"counts": count_sentences(written, right)} if has_bleu else {}
        return scores, {"signatures": signatures, **counts, "shown": shown}


@contextmanager
def using_every_key(net):
    """Let every query keep all its keys, for a net that had top-k in training only (Explicit
    Sparse, Table 5).
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
    """Cut a text into tokens with spaces between them; `compounds`: a hyphen within a word is one
    of its own.
    """
    tokens = text if tokenised else Tokenizer13a()(text)
    tokens = tokens.lower() if uncased else tokens
    return COMPOUND.sub(" ##AT##-##AT## ", tokens) if compounds else tokens


def score(
    outputs: list[str], references: list[str], *, tokenised=False, compounds=False, uncased=False
) -> tuple[dict[str, Score], dict[str, str]]:
    """Compute scores in per cent, and the signatures they have; tokenised, compounds, uncased: see
    `PairEntry`.
    """
    if not outputs:
        return dict.fromkeys(("bleu", "bleu_tokenised", "chrf"), Missing("no sentence")), {}
    outputs, references = compose(outputs), compose(references)
    words = {"tokenised": tokenised, "compounds": compounds, "uncased": uncased}
    ours, theirs = ([tokenise(text, **words) for text in texts] for texts in (outputs, references))
    bleu, of_tokens, chrf = BLEU(), BLEU(tokenize="none", force=True), CHRF()
    scores = {
        "bleu": _bleu(bleu, outputs, references),
        "bleu_tokenised": _bleu(of_tokens, ours, theirs),
        "chrf": chrf.corpus_score(outputs, [references]).score,
    }
    scores |= {} if any(outputs + references) else {"chrf": Missing("no text")}
    signatures = {"bleu": bleu, "bleu_tokenised": of_tokens, "chrf": chrf}
    return scores, {name: str(metric.get_signature()) for name, metric in signatures.items()}


def compose(texts: list[str]) -> list[str]:
    """Write each accent with its letter as one character (NFC), which all that compares texts
    needs.
    """
    return [normalize("NFC", text) for text in texts]


def _bleu(metric: BLEU, outputs: list[str], references: list[str]) -> Score:
    """Compute BLEU; a text whose sentences are all shorter than its n-grams has none."""
    ours, right = (metric.corpus_score(texts, [references]) for texts in (outputs, references))
    has_ngrams = ours.totals[-1] or right.totals[-1]
    return ours.score if has_ngrams else Missing("no sentence has 4 tokens")


def count_sentences(outputs: list[str], references: list[str]) -> list[list[int]]:
    """Count as sacreBLEU does, in each sentence: n-grams that match (4), n-grams there are (4),
    lengths of both.

    How an accent is composed makes no difference here either. Their sums give the BLEU of the
    corpus, and sums of resampled sentences its bootstrap, without the texts themselves.
    """
    metric = BLEU(effective_order=True)
    pairs = zip(compose(outputs), compose(references), strict=True)
    scores = [metric.sentence_score(output, [reference]) for output, reference in pairs]
    return [[*score.counts, *score.totals, score.sys_len, score.ref_len] for score in scores]


@torch.no_grad()
def draw_maps(net, corpus) -> dict:
    """Keep the pieces of one pair, and what the first and the last layer weigh on it, by kind of
    attention.

    The pair is the text's example, or the first fitting one of test where it has none.

    {"source": [N], "target": [T], "encoder" | "decoder" | "cross": {layer: [head][query][key]}}
    """
    looked_at = corpus.example if corpus.example.source else corpus.test
    pairs = zip(looked_at.source, looked_at.target, strict=True)
    fitting = (pair for pair in pairs if all(SHORTEST <= len(side) + 1 <= LONGEST for side in pair))
    pair = next(fitting, None)
    if pair is None:
        return {}
    device = next(net.parameters()).device
    source, target = sources([pair[0]]), targets([pair[1]])[:, :-1]
    by_kind = read_weights(net, source.to(device), target.to(device))
    names = [[corpus.symbols[token] for token in side[0].tolist()] for side in (source, target)]
    return {"source": names[0], "target": names[1], **by_kind}
