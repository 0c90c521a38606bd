"""A run as tables and figures see it: what its question asks for, what it was, what it scored.

Each column that identifies a run is declared here, once: its type, its meaning and where it comes
from. Scores, facts and costs are declared by the tasks and `workflow.results.registry`.
"""

from dataclasses import dataclass, fields
from types import NoneType
from typing import Annotated, Literal, get_args, get_type_hints

from workflow.results.makers import code_of
from workflow.results.record import Cost, Record
from workflow.results.registry import names
from workflow.results.trained_enough import FAILED_TO_TRAIN, late_gain, why_untrained
from workflow.tasks.spec import TASKS

PLAN, JOB, RECORD = "plan.json", "job.json", "record.json"
TYPES = {str: "text", list[str]: "text", int: "integer", float: "number", bool: "truth"}
QUANTITIES = ("metrics", "facts", "costs")  # fields with a column for each name in them


@dataclass(frozen=True)
class Meaning:
    """What a column says, for the data dictionary. source: the file that it comes from."""

    source: str
    text: str


@dataclass(frozen=True)
class Column:
    """A column of the table of runs, as the data dictionary lists it."""

    column: str
    type: Literal["text", "integer", "number", "truth"]
    unit: str
    meaning: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Run:
    """A row of the table of runs: one run as one question asks for it."""

    question: Annotated[
        str,
        Meaning(
            PLAN, "the question that requests the run; a run of two questions has a row for each"
        ),
    ]
    paper: Annotated[str, Meaning(PLAN, "the paper of the question")]
    variant: Annotated[
        str, Meaning(PLAN, "the variant of the question: what differs from the recipe")
    ]
    label: Annotated[str, Meaning(PLAN, "the variant's name in tables and figures")]
    colour: Annotated[str | None, Meaning(PLAN, "the variant's colour, if the question sets one")]
    baseline: Annotated[
        str | None, Meaning(PLAN, "the baseline of the variant, if the question names one")
    ]
    paper_corpus: Annotated[str, Meaning(PLAN, "the dataset of the paper")]
    corpus: Annotated[str, Meaning(PLAN, "the dataset used in its place at this scale")]
    S: Annotated[int | None, Meaning(PLAN, "limit S: the maximum span of any head")]
    k: Annotated[int | None, Meaning(PLAN, "k of top-k: the number of keys that a query keeps")]
    size: Annotated[float, Meaning(PLAN, "model width relative to the scale's models")]
    tuning: Annotated[
        str | None,
        Meaning(
            PLAN,
            "`trial` for a tuning run, `tuned` for a run with tuned settings; empty for the recipe",
        ),
    ]
    factors: dict[str, float]  # what a trial multiplies the recipe's settings by
    digest: Annotated[str, Meaning(PLAN, "the run; its folder is results/runs/DIGEST")]
    configuration: Annotated[
        str,
        Meaning(PLAN, "the job without its seed; costs are measured once per configuration"),
    ]
    task: Annotated[str, Meaning(JOB, ", ".join(TASKS))]
    seed: Annotated[int, Meaning(JOB, "the seed of initialisation, batches and dropout")]
    scale: Annotated[str, Meaning(JOB, "the scale of the run: config/scales/")]
    status: Annotated[
        str,
        Meaning(
            RECORD,
            "ok, diverged, oom, timeout, error, or failed to train (no better than chance); "
            "only ok runs have scores",
        ),
    ]
    reason: Annotated[
        str | None, Meaning(RECORD, "why the run failed, or which scores are missing and why")
    ]
    missing: dict[str, str]  # why each score, fact or count is missing, by its name
    device: Annotated[str, Meaning(RECORD, "the device that trained it")]
    backend: Annotated[
        str | None,
        Meaning(
            RECORD,
            "the code that computed attention in training: compiled, band (PyTorch) or triton",
        ),
    ]
    follows: Annotated[
        str | None, Meaning(RECORD, "the digest of the trial whose settings it uses")
    ]
    steps: Annotated[int, Meaning(JOB, "number of updates")]
    lr: Annotated[float, Meaning(RECORD, "peak learning rate")]
    net: Annotated[str, Meaning(JOB, "the model around the attention")]
    source: Annotated[
        str, Meaning(RECORD, "a digest of the source files that its numbers depend on")
    ]
    commit: Annotated[str, Meaning(RECORD, "the commit of the project that trained it")]
    bits: Annotated[
        str,
        Meaning(
            RECORD,
            "reproducibility: `portable` (bit-exact on any x86 CPU) or `this machine`",
        ),
    ]
    signature: Annotated[
        str,
        Meaning(RECORD, "the first digits of the digest of its record; verdicts refer to it"),
    ]
    span: Annotated[str, Meaning(JOB, "axis span: which keys a head sees")]
    selection: Annotated[str, Meaning(JOB, "axis selection: which of these keys it keeps")]
    normaliser: Annotated[str, Meaning(JOB, "axis normaliser: how scores become weights")]
    position: Annotated[str, Meaning(JOB, "axis position: how distance enters the score")]
    score_scale: Annotated[
        str, Meaning(JOB, "axis score_scale: what the scores of a query are multiplied by")
    ]
    apply_to: Annotated[
        list[str],
        Meaning(JOB, "the attention layers (encoder, decoder, cross) that the choices apply to"),
    ]
    smoothing: Annotated[float | None, Meaning(JOB, "label smoothing")]
    sentences: Annotated[
        int | None, Meaning(JOB, "number of test sentences or images scored; 0 means all")
    ]
    layers: Annotated[int, Meaning(JOB, "number of layers (per stack in an encoder-decoder model)")]
    d_model: Annotated[int, Meaning(JOB, "model width")]
    heads: Annotated[int, Meaning(JOB, "attention heads per layer")]
    key_heads: Annotated[int | None, Meaning(JOB, "KV heads per layer, if query heads share them")]
    gate: Annotated[bool, Meaning(JOB, "whether the output of attention passes through a gate")]
    d_ff: Annotated[int, Meaning(JOB, "feed-forward width")]
    d_k: Annotated[int | None, Meaning(JOB, "key width per head, if not d_model / heads")]
    d_v: Annotated[int | None, Meaning(JOB, "value width per head, if not d_model / heads")]
    dropout: Annotated[float, Meaning(JOB, "dropout rate")]
    metrics: dict[str, float | None]  # all registered scores; None where the run has none
    facts: dict[str, object]  # all registered facts, likewise
    costs: dict[str, float | None]  # all registered costs of the run itself, likewise
    over_condition: list[dict]  # scores at each value of the task's condition, if it has one
    curve: list[dict]  # the points of the learning curve
    late_gain: float | None  # dev improvement in the last quarter of training, in bits

    @classmethod
    def of(cls, planned: dict, record: Record) -> "Run":
        """Join a row of a plan, as plan.json has it, with the record of its run."""
        job, cost = record.trained, record.cost
        attention, net = job.attention, job.net
        curve = [point.model_dump() for point in record.curve]
        untrained = None
        if record.status == "ok":
            chance = record.facts.get("symbol_entropy")
            untrained = why_untrained(curve, record.losses, chance)
        # the scores of a model that is no better than chance would be taken for its variant's
        metrics = {} if untrained else record.metrics
        return cls(
            question=planned["question"],
            paper=planned["paper"],
            variant=planned["variant"],
            label=planned.get("label") or planned["variant"],
            colour=planned.get("colour"),
            baseline=planned.get("baseline"),
            paper_corpus=planned["paper_corpus"],
            corpus=planned["corpus"],
            S=planned["S"],
            k=planned["k"],
            size=planned.get("size", 1.0),
            tuning=planned.get("tuning"),
            factors=planned.get("factors") or {},
            digest=planned["digest"],
            configuration=planned["configuration"],
            task=job.task,
            seed=job.seed,
            scale=job.scale,
            status=FAILED_TO_TRAIN if untrained else record.status,
            reason=untrained or record.why,
            missing=record.missing,
            device=record.origin.device,
            backend=code_of(cost.backends) if cost else None,
            follows=record.follows,
            steps=job.training.steps,
            lr=job.training.lr,
            net=net.name,
            source=record.origin.source,
            commit=record.origin.commit,
            bits=record.bits,
            signature=record.signature,
            span=attention.span["name"],
            selection=attention.selection["name"],
            normaliser=attention.normaliser["name"],
            position=attention.position["name"],
            score_scale=attention.score_scale["name"],
            apply_to=list(getattr(attention, "apply_to", ())),
            smoothing=getattr(job.training, "smoothing", None),
            sentences=getattr(job.evaluation, "sentences", None),
            layers=net.layers,
            d_model=net.d_model,
            heads=net.heads,
            key_heads=getattr(net, "key_heads", None),
            gate=getattr(net, "gate", False),
            d_ff=net.d_ff,
            d_k=getattr(net, "d_k", None),
            d_v=getattr(net, "d_v", None),
            dropout=net.dropout,
            metrics={name: metrics.get(name) for name in names("metric")},
            facts={name: record.facts.get(name) for name in names("fact")},
            costs=_costs_of(cost),
            over_condition=[each.model_dump() for each in record.over_condition],
            curve=curve,
            late_gain=late_gain(curve),
        )

    def row(self) -> dict:
        """Return a value for each column, as a file of rows holds them."""
        row = {each.name: getattr(self, each.name) for each in fields(self)}
        for group in QUANTITIES:
            row |= row.pop(group)
        return row


def _costs_of(cost: Cost | None) -> dict[str, float | None]:
    """Return each cost that a run itself has by its name, None where it was not measured."""
    macs = cost.macs if cost else None
    costs = {}
    for name in names("run"):
        if name.startswith("macs_"):
            costs[name] = getattr(macs, name.removeprefix("macs_"), None)
        else:
            costs[name] = getattr(cost, name, None)
    return costs


def declared_columns() -> list[Column]:
    """List the columns that identify a run, for the data dictionary."""
    columns = []
    for name, hint in get_type_hints(Run, include_extras=True).items():
        told = getattr(hint, "__metadata__", ())
        if told:
            columns.append(
                Column(name, _type_of(get_args(hint)[0]), "", told[0].text, told[0].source)
            )
    return columns


def _type_of(annotation) -> str:
    """Name the type of a column: None is a missing value of any type."""
    if annotation in TYPES:
        return TYPES[annotation]
    (kind,) = (each for each in get_args(annotation) if each is not NoneType)
    return TYPES[kind]


def required_columns() -> list[str]:
    """List the columns that every row has, whatever was measured."""
    return [each.name for each in fields(Run) if each.name not in QUANTITIES]
