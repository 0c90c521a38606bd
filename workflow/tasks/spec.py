"""The tasks, each in one place: what a job of it holds, where its data sets are named, what computes and measures it.

Modules are named, not imported, so that a dry run and the pages import no torch. A new task is one `TaskSpec`, its job
in workflow/config/job.py, the class that `runner` names, and a file of data sets in config/tasks/.
"""

from dataclasses import dataclass
from importlib import import_module

from workflow.config.job import Captioning, CharLM, Job, Parsing, Translation
from workflow.results.registry import REGISTRY
from workflow.tasks.captioning.catalogue import CaptionCatalogue
from workflow.tasks.catalogue import BaseCatalogue
from workflow.tasks.char_lm.catalogue import TextCatalogue
from workflow.tasks.parsing.catalogue import TreeCatalogue
from workflow.tasks.translation.catalogue import PairCatalogue

Column = tuple[str, str]  # a registered quantity, and its title where this task has another one than the registry


@dataclass(frozen=True)
class TaskSpec:
    """catalogue: model of config/tasks/NAME.yaml. runner, write_corpus, costs: dotted names; see `load`.

    tokens: what a net predicts, in words. curve: the loss of the learning curve: unit, axis label, scale of the axis.
    headline: quantities of a configuration, the first the task's score. scores: those of one run. examples: titles of
    the three columns of the fact `shown`.
    """

    name: str
    job: type[Job]
    catalogue: type[BaseCatalogue]
    runner: str
    write_corpus: str
    costs: str
    tokens: str
    curve: tuple[str, str, str]
    headline: tuple[Column, ...]
    scores: tuple[Column, ...]
    examples: tuple[str, ...] = ()

    @property
    def columns(self) -> list[tuple[str, str, str]]:
        """(quantity, title, unit) of the headline."""
        return [_titled(column) for column in self.headline]

    @property
    def score_columns(self) -> list[tuple[str, str, str]]:
        """(quantity, title, unit) of a run's scores."""
        return [_titled(column) for column in self.scores]


def _titled(column: Column) -> tuple[str, str, str]:
    name, title = column
    quantity = REGISTRY[name]
    return name, title or quantity.title, "" if quantity.unit in ("tokens / s", "multiply-adds") else quantity.unit


def load(dotted: str):
    """What a dotted name stands for: "package.module" or "package.module:attribute"."""
    module, _, attribute = dotted.partition(":")
    loaded = import_module(module)
    return getattr(loaded, attribute) if attribute else loaded


def _costs(tokens: str, prediction: str) -> tuple[Column, ...]:
    speeds = (
        ("train_tokens_per_s", f"training, {tokens} / s"),
        ("predict_tokens_per_s", f"{prediction}, {tokens} / s"),
    )
    return (("macs_executed", ""), *speeds)


PERPLEXITY = ("ppl", "perplexity per piece", "log")
TASKS = {
    spec.name: spec
    for spec in (
        TaskSpec(
            name="char_lm",
            job=CharLM,
            catalogue=TextCatalogue,
            runner="workflow.tasks.char_lm.runner:CharLM",
            write_corpus="workflow.tasks.char_lm.data:write",
            costs="workflow.costs.streams",
            tokens="characters",
            curve=("bpc", "bits per character", "linear"),
            headline=(("dev_bpc", ""), ("mean_span", ""), *_costs("characters", "prediction")),
            scores=(("dev_bpc", ""), ("test_bpc", ""), ("mean_span", "")),
        ),
        TaskSpec(
            name="translation",
            job=Translation,
            catalogue=PairCatalogue,
            runner="workflow.tasks.translation.runner:Translation",
            write_corpus="workflow.tasks.translation.write:write",
            costs="workflow.costs.sentences",
            tokens="pieces",
            curve=PERPLEXITY,
            headline=(("test_bleu", ""), ("dev_ppl", ""), *_costs("pieces", "decoding")),
            scores=(("dev_ppl", ""), ("dev_bleu", ""), ("test_bleu", "")),
            examples=("source", "reference", "output"),
        ),
        TaskSpec(
            name="captioning",
            job=Captioning,
            catalogue=CaptionCatalogue,
            runner="workflow.tasks.captioning.runner:Captioning",
            write_corpus="workflow.tasks.captioning.write:write",
            costs="workflow.costs.sentences",
            tokens="pieces",
            curve=PERPLEXITY,
            headline=(
                ("test_cider", ""),
                ("test_bleu_4", ""),
                ("dev_ppl", ""),
                *_costs("pieces", "decoding"),
            ),
            scores=(("dev_ppl", ""), ("dev_cider", ""), ("test_cider", "")),
            examples=("picture", "references", "caption"),
        ),
        TaskSpec(
            name="parsing",
            job=Parsing,
            catalogue=TreeCatalogue,
            runner="workflow.tasks.parsing.runner:Parsing",
            write_corpus="workflow.tasks.parsing.write:write",
            costs="workflow.costs.sentences",
            tokens="pieces",
            curve=PERPLEXITY,
            headline=(
                ("test_f1", ""),
                ("test_complete", ""),
                ("mean_span", ""),
                *_costs("pieces", "decoding"),
            ),
            scores=(("dev_ppl", ""), ("dev_f1", ""), ("test_f1", "")),
            examples=("sentence", "right tree", "tree written"),
        ),
    )
}
