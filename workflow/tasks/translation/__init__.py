"""Translation: its job, and what pages say of it. Imports no torch."""

import math
from typing import Literal

from workflow.tasks.sequence_job import PERPLEXITY, QUANTITIES, SequenceJob
from workflow.tasks.task import Quantity, TaskSpec, fact, score_quantities
from workflow.tasks.translation.catalogue import PairCatalogue


class TranslationJob(SequenceJob):
    task: Literal["translation"] = "translation"


PLANTED = (4, 8, 12)  # sentences behind each source of test, of a text where some are planted
BLEU = {
    "bleu": ("BLEU", "BLEU"),
    "bleu_tokenised": ("tokenised BLEU", "BLEU"),
    "chrf": ("chrF", "chrF"),
}
EVERY_KEY = {
    f"{name}_every_key": (f"{title} (all keys)", unit) for name, (title, unit) in BLEU.items()
}
BEHIND_PLANTED = {f"bleu_planted_{n}": (f"BLEU, {n} distractors", "BLEU") for n in PLANTED}
SLOPE = ("test BLEU per distractor sentence", "BLEU")
CLAIMED = ("bleu", "bleu_tokenised", "bleu_tokenised_every_key")
TASK = TaskSpec(
    job=TranslationJob,
    catalogue=PairCatalogue,
    runner="workflow.tasks.translation.runner:TranslationTask",
    write_corpus="workflow.tasks.translation.data:write",
    costs="workflow.costs.sentences",
    tokens="subwords",
    prediction="decoding",
    curve=PERPLEXITY,
    headline=("test_bleu", "dev_ppl"),
    scores=("dev_ppl", "dev_bleu", "test_bleu"),
    quantities=(
        *QUANTITIES,
        *score_quantities("higher", BLEU | EVERY_KEY, claimed=CLAIMED, most=100.0),
        *score_quantities("higher", BLEU, splits=("second_test",), most=100.0),
        *score_quantities("higher", BEHIND_PLANTED, splits=("test",), most=100.0),
        Quantity(
            "test_bleu_slope",
            *SLOPE,
            "metric",
            "higher",
            claimable=True,
            bounds=(-math.inf, math.inf),
        ),
        fact("astray", "share of attention on distractor sentences"),
        fact("second_test_counts", "sentence counts of the second test set"),
        fact("maps", "attention maps"),
        fact("signatures", "signatures of the scores"),
    ),
    examples=("source", "reference", "output"),
)
