"""Constituency parsing: its job, and what pages say of it. Imports no torch."""

from typing import Literal

from workflow.tasks.parsing.catalogue import TreeCatalogue
from workflow.tasks.quantities import SPANS, Metric
from workflow.tasks.sequence_job import PERPLEXITY, QUANTITIES, SequenceJob
from workflow.tasks.task import ExampleTitles, TaskSpec


class ParsingJob(SequenceJob):
    task: Literal["parsing"] = "parsing"


PERCENT = (0.0, 100.0)
METRICS = (
    Metric("recall", "recall", unit="%", better="higher", bounds=PERCENT),
    Metric("precision", "precision", unit="%", better="higher", bounds=PERCENT),
    Metric("f1", "F1", unit="F1", better="higher", claimable=True, bounds=PERCENT),
    Metric("complete", "complete match, %", unit="%", better="higher", bounds=PERCENT),
    Metric("tagging", "tagging", unit="%", better="higher", bounds=PERCENT),
    Metric("errors", "error sentences", better="lower"),
    Metric("repaired", "repaired", unit="%", better="lower", bounds=PERCENT),
)
TASK = TaskSpec(
    job=ParsingJob,
    catalogue=TreeCatalogue,
    runner="workflow.tasks.parsing.runner:ParsingTask",
    write_corpus="workflow.tasks.parsing.data:write",
    costs="workflow.costs.sentences",
    tokens="subwords",
    prediction="decoding",
    curve=PERPLEXITY,
    headline=("test_f1", "test_complete", "mean_span"),
    scores=("dev_ppl", "dev_f1", "test_f1"),
    metrics=METRICS,
    quantities=(*QUANTITIES, *SPANS),
    examples=ExampleTitles("sentence", "reference tree", "predicted tree"),
)
