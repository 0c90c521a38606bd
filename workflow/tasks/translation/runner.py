"""Translation with an encoder and a decoder (Attention Is All You Need; Explicit Sparse Transformer): BLEU."""

from contextlib import contextmanager

from models.attention import All
from workflow.results.record import Macs
from workflow.tasks import store as pairs
from workflow.tasks.attention_maps import draw_maps
from workflow.tasks.sequences import Sequences
from workflow.tasks.translation.scores import count_sentences, score

SECOND = "second_test"
SHOWN = 10  # sentences that a record quotes, each with its reference and the output


class TranslationTask(Sequences):
    """Sentences of one language for those of another."""

    scored = ("dev", "test", SECOND)

    def evaluate(self, net) -> tuple[dict, dict, Macs]:
        """In addition, BLEU of a second test, BLEU with every key where only some were kept, and maps of attention."""
        metrics, facts, macs = super().evaluate(net)
        if self.corpus.second_test.source:
            scores, examples = self.score(SECOND, self.decode(net, SECOND))
            metrics |= {f"{SECOND}_{name}": value for name, value in scores.items()}
            facts[f"{SECOND}_counts"] = examples["counts"]
        if self.job.attention.selection["name"] != "all":
            with using_every_key(net):
                for split in ("dev", "test"):
                    scores, _ = self.score(split, self.decode(net, split))
                    metrics |= {f"{split}_{name}_every_key": value for name, value in scores.items()}
        return metrics, {**facts, "maps": draw_maps(net, self.corpus)}, macs

    def score(self, split: str, outputs: list[list[int]]) -> tuple[dict[str, float], dict]:
        corpus, texts = self.corpus, getattr(self.corpus, split)
        written = [pairs.decode(corpus.symbols, output) for output in outputs]
        right = texts.target_text[: len(written)]
        words = {"tokenised": corpus.tokenised, "compounds": corpus.compounds, "uncased": corpus.uncased}
        scores, signatures = score(written, right, **words)
        shown = list(zip(texts.source_text, right, written, strict=False))[:SHOWN]
        return scores, {"signatures": signatures, "counts": count_sentences(written, right), "shown": shown}


@contextmanager
def using_every_key(net):
    """Let every query keep all its keys, for a net that had top-k in training only (Explicit Sparse, Table 5)."""
    selections = [layer.selection for layer in net.attentions]
    try:
        for layer in net.attentions:
            layer.selection = All(layer.shape)
        yield
    finally:
        for layer, selection in zip(net.attentions, selections, strict=True):
            layer.selection = selection
