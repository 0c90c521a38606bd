"""Image captioning: its job, and what pages say of it. Imports no torch."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from workflow.config.errors import ConfigError
from workflow.config.strict import PositiveStrictInt
from workflow.tasks.captioning.catalogue import CaptionCatalogue
from workflow.tasks.quantities import Metric, fact
from workflow.tasks.sequence_job import (
    PERPLEXITY,
    QUANTITIES,
    Seq2SeqAttentionChoices,
    Seq2SeqNet,
    SequenceEvaluation,
    SequenceJob,
    shortest_cache,
)
from workflow.tasks.task import ExampleTitles, TaskSpec


class CaptionerNet(Seq2SeqNet):
    """sees: pixels of pictures `size` wide and high, in patches `patch` wide and high; or `size`
    features a region.
    """

    name: Literal["captioner"]
    sees: Literal["pixels", "features"] = "pixels"
    size: PositiveStrictInt
    patch: PositiveStrictInt = 2

    @model_validator(mode="after")
    def patches_fill_the_picture(self):
        divides = self.size % self.patch == 0
        is_even = self.patch % 2 == 0
        if self.sees == "pixels" and not (divides and is_even):
            got = f"patch = {self.patch}, size = {self.size}"
            raise ConfigError(f"patch must be even and divide size, got {got}")
        return self

    @property
    def patches(self) -> int:
        """Return how many patches a picture has."""
        side = self.size // self.patch
        return side**2


class CaptioningEvaluation(SequenceEvaluation):
    """meteor: what computes METEOR: its Java program, or nltk without synonyms, whose score has a
    name of its own.
    """

    meteor: Annotated[Literal["java", "nltk"], Field(exclude_if=lambda value: value == "java")] = (
        "java"
    )


class CaptioningJob(SequenceJob):
    task: Literal["captioning"] = "captioning"
    net: CaptionerNet
    evaluation: CaptioningEvaluation

    @model_validator(mode="after")
    def a_picture_fits_the_cache(self):
        if self.net.sees == "pixels":
            refuse_to_cut(self.attention, self.net.patches, "patches")
        return self


def refuse_to_cut(attention: Seq2SeqAttentionChoices, count: int, what: str) -> None:
    """Refuse a cache that holds less than a picture: a full span sees as far as its cache."""
    cache = shortest_cache(attention, count)
    if cache < count:
        raise ConfigError(f"cache = {cache} is less than the {count} {what} of a picture")


PERCENT = (0.0, 100.0)
METRICS = (
    Metric("bleu_1", "BLEU-1", unit="BLEU-1", better="higher", bounds=PERCENT),
    Metric("bleu_2", "BLEU-2", unit="BLEU-2", better="higher", bounds=PERCENT),
    Metric("bleu_3", "BLEU-3", unit="BLEU-3", better="higher", bounds=PERCENT),
    Metric("bleu_4", "BLEU-4", unit="BLEU-4", better="higher", claimable=True, bounds=PERCENT),
    Metric("rouge_l", "ROUGE-L", unit="ROUGE-L", better="higher", bounds=PERCENT),
    Metric("meteor", "METEOR", unit="METEOR", better="higher", claimable=True, bounds=PERCENT),
    Metric("meteor_nltk", "METEOR (nltk)", unit="METEOR", better="higher", bounds=PERCENT),
    Metric("cider", "CIDEr", unit="CIDEr", better="higher", claimable=True, bounds=(0.0, 1000.0)),
)
TASK = TaskSpec(
    job=CaptioningJob,
    catalogue=CaptionCatalogue,
    runner="workflow.tasks.captioning.runner:CaptioningTask",
    write_corpus="workflow.tasks.captioning.data:write",
    costs="workflow.costs.sentences",
    tokens="subwords",
    prediction="decoding",
    curve=PERPLEXITY,
    headline=("test_cider", "test_bleu_4", "dev_ppl"),
    scores=("dev_ppl", "dev_cider", "test_cider"),
    metrics=METRICS,
    quantities=(*QUANTITIES, fact("looks", "attention over images")),
    examples=ExampleTitles("image", "references", "caption"),
)
