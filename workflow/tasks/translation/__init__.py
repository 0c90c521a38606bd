"""Translation: its job, and what pages say of it. Imports no torch."""

import math
from dataclasses import replace
from typing import Literal

from workflow.tasks.quantities import Metric, fact
from workflow.tasks.sequence_job import PERPLEXITY, QUANTITIES, SequenceJob
from workflow.tasks.task import ExampleTitles, TaskSpec
from workflow.tasks.translation.catalogue import PairCatalogue


class TranslationJob(SequenceJob):
    task: Literal["translation"] = "translation"


PLANTED = (4, 8, 12)  # distractor sentences behind each source of test, where a corpus has them
PERCENT = (0.0, 100.0)
BLEU = (
    Metric("bleu", "BLEU", unit="BLEU", better="higher", claimable=True, bounds=PERCENT),
    Metric(
        "bleu_tokenised",
        "tokenised BLEU",
        unit="BLEU",
        better="higher",
        claimable=True,
        bounds=PERCENT,
    ),
    Metric("chrf", "chrF", unit="chrF", better="higher", bounds=PERCENT),
)
# Of a model that selects keys, scored again with all of them.
EVERY_KEY = (
    Metric("bleu_every_key", "BLEU (all keys)", unit="BLEU", better="higher", bounds=PERCENT),
    Metric(
        "bleu_tokenised_every_key",
        "tokenised BLEU (all keys)",
        unit="BLEU",
        better="higher",
        claimable=True,
        bounds=PERCENT,
    ),
    Metric("chrf_every_key", "chrF (all keys)", unit="chrF", better="higher", bounds=PERCENT),
)
SECOND_TEST = tuple(replace(metric, splits=("second_test",)) for metric in BLEU)
BEHIND_DISTRACTORS = tuple(
    Metric(
        f"bleu_planted_{count}",
        f"BLEU, {count} distractors",
        unit="BLEU",
        better="higher",
        splits=("test",),
        bounds=PERCENT,
    )
    for count in PLANTED
)
SLOPE = Metric(
    "bleu_slope",
    "BLEU per distractor sentence",
    unit="BLEU",
    better="higher",
    splits=("test",),
    claimable=True,
    bounds=(-math.inf, math.inf),
)
TASK = TaskSpec(
    job=TranslationJob,
    catalogue=PairCatalogue,
    runner="workflow.tasks.translation.runner:TranslationTask",
    write_corpus="workflow.tasks.translation.data:write",
    costs="workflow.costs.sentences",
    tokens="subwords",
    prediction="decoding",
    curve=replace(PERPLEXITY, columns=("dev_bleu",)),  # only older records fill it
    headline=("test_bleu", "dev_ppl"),
    scores=("dev_ppl", "dev_bleu", "test_bleu"),
    metrics=(*BLEU, *EVERY_KEY, *SECOND_TEST, *BEHIND_DISTRACTORS, SLOPE),
    quantities=(
        *QUANTITIES,
        fact("astray", "share of attention on distractor sentences"),
        fact("second_test_counts", "sentence counts of the second test set"),
        fact("maps", "attention maps"),
        fact("signatures", "signatures of the scores"),
    ),
    examples=ExampleTitles("source", "reference", "output"),
)
