"""Translation: its job, and what pages say of it. Imports no torch."""

from typing import Literal

from workflow.tasks.sequence_job import PERPLEXITY, QUANTITIES, SequenceJob
from workflow.tasks.task import TaskSpec, fact, score_quantities
from workflow.tasks.translation.catalogue import PairCatalogue


class TranslationJob(SequenceJob):
    task: Literal["translation"] = "translation"


BLEU = {"bleu": ("BLEU", "BLEU"), "bleu_tokenised": ("BLEU of tokens", "BLEU"), "chrf": ("chrF", "chrF")}
EVERY_KEY = {f"{name}_every_key": (f"{title}, every key", unit) for name, (title, unit) in BLEU.items()}
TASK = TaskSpec(
    job=TranslationJob,
    catalogue=PairCatalogue,
    runner="workflow.tasks.translation.runner:TranslationTask",
    write_corpus="workflow.tasks.translation.data:write",
    costs="workflow.costs.sentences",
    tokens="pieces",
    prediction="decoding",
    curve=PERPLEXITY,
    headline=("test_bleu", "dev_ppl"),
    scores=("dev_ppl", "dev_bleu", "test_bleu"),
    quantities=(
        *QUANTITIES,
        *score_quantities("higher", BLEU | EVERY_KEY, claimed=("bleu", "bleu_tokenised", "bleu_tokenised_every_key")),
        *score_quantities("higher", BLEU, splits=("second_test",)),
        fact("second_test_counts", "counts by sentence of the second test"),
        fact("maps", "attention maps"),
        fact("signatures", "signatures of the scores"),
    ),
    examples=("source", "reference", "output"),
)
