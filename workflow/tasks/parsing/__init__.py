"""Constituency parsing: its job, and what pages say of it. Imports no torch."""

from typing import Literal

from workflow.tasks.parsing.catalogue import TreeCatalogue
from workflow.tasks.sequence_job import PERPLEXITY, QUANTITIES, SequenceJob
from workflow.tasks.task import SPANS, TaskSpec, score_quantities


class ParsingJob(SequenceJob):
    task: Literal["parsing"] = "parsing"


TREES = {"recall": ("recall", "%"), "precision": ("precision", "%"), "f1": ("F1", "F1")}
TREES |= {"complete": ("complete match, %", "%"), "tagging": ("tagging", "%")}
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
    quantities=(
        *QUANTITIES,
        *score_quantities("higher", TREES, claimed=("f1",), most=100.0),
        *score_quantities("lower", {"errors": ("error sentences", "")}),
        *score_quantities("lower", {"repaired": ("repaired", "%")}, most=100.0),
        *SPANS,
    ),
    examples=("sentence", "reference tree", "predicted tree"),
)
