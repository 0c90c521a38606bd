"""What identifies a run, and how the config becomes jobs. Pure: no torch, nothing written.

config -> `plan` -> one `Asked` per (ablation, variant, corpus, S, k, seed). Two ablations that ask for
the same job share its digest, and so its run.
"""

import hashlib
import json
from itertools import product
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, model_validator

from workflow.choices import AXES, Refused, fill, refuse_unknown
from workflow.settings import Ablation, Config, Rung, Variant, known_ablations, load_ablation, load_corpora

VERSION = 1


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Attention(Closed):
    """One choice per axis, with every setting of it spelled out."""

    span: dict[str, Any]
    selection: dict[str, Any]
    normaliser: dict[str, Any]
    position: dict[str, Any]

    @model_validator(mode="after")
    def in_range(self):
        span, k = self.span, self.selection.get("k")
        for name, value in (("S", span.get("limit", 1)), ("R", span.get("ramp", 1)), ("k", 1 if k is None else k)):
            if not isinstance(value, int):
                raise Refused(f"{name} must be a whole number, got {value!r}")
        if span.get("limit", 1) < 1:
            raise Refused(f"S must be at least 1, got {span['limit']}")
        if span.get("ramp", 1) > span.get("limit", float("inf")):
            raise Refused(f"ramp R = {span['ramp']} must not exceed S = {span['limit']}")
        if k is not None and k < 1:
            raise Refused(f"k must be at least 1, got {k}")
        return self


class Net(Closed):
    """The net around the attention. width d, inner ff, `memory`: cached inputs of Transformer-XL."""

    name: Literal["char_lm", "transformer_xl"]
    layers: PositiveInt
    width: PositiveInt
    heads: PositiveInt
    inner: PositiveInt
    dropout: float = Field(0.0, ge=0, lt=1)
    attention_dropout: float = Field(0.0, ge=0, lt=1)

    @model_validator(mode="after")
    def heads_divide_width(self):
        if self.width % self.heads:
            raise Refused(f"heads must divide width, got heads = {self.heads}, width = {self.width}")
        return self


class Training(Closed):
    """`block` T characters of each of `batch` B streams a step; `accumulate` splits the batch."""

    block: PositiveInt
    batch: PositiveInt
    accumulate: PositiveInt = 1
    steps: PositiveInt
    optimiser: Literal["adagrad", "adam"]
    lr: float = Field(gt=0)
    warmup: int = Field(0, ge=0)
    schedule: Literal["constant", "cosine"] = "constant"
    clip: float = Field(gt=0)
    precision: Literal["fp32", "bf16"] = "fp32"
    threads: PositiveInt = 1
    evaluate_every: PositiveInt
    checkpoint_every: PositiveInt
    time_limit_s: PositiveInt
    loss_bound: float = Field(20.0, gt=0)

    @model_validator(mode="after")
    def accumulate_divides_batch(self):
        if self.batch % self.accumulate:
            raise Refused(f"accumulate must divide batch, got {self.accumulate} and {self.batch}")
        return self


class Evaluation(Closed):
    """`streams` are read side by side; `tokens` bounds the part of a split that is scored (0: all)."""

    streams: PositiveInt = 8
    block: PositiveInt
    tokens: int = Field(0, ge=0)
    dev_tokens: int = Field(0, ge=0)


class Job(Closed):
    """All that identifies a run."""

    version: Literal[1] = VERSION
    rung: str
    task: Literal["char_lm"]
    corpus: str
    checksum: str
    attention: Attention
    net: Net
    training: Training
    evaluation: Evaluation
    seed: int = Field(ge=0)

    @property
    def digest(self) -> str:
        """Names the run's folder: 12 hexadecimal digits of the canonical JSON."""
        return _digest(self.model_dump())

    @property
    def cell(self) -> str:
        """The digest without the seed: what measures of cost are keyed by."""
        return _digest({**self.model_dump(), "seed": None})

    def canonical(self) -> str:
        return json.dumps(self.model_dump(), sort_keys=True, separators=(",", ":"))


class Asked(Closed):
    """One row of the plan: who asked for which job."""

    ablation: str
    paper: str
    variant: str
    corpus: str  # the corpus of the paper
    text: str  # what stands in for it at this rung, by name; job.corpus names its file
    S: int | None
    k: int | None
    job: Job


def _digest(content: dict) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _values(asked, offered: list[int], key: str) -> list:
    """`all`, `max`, `min`, a number, or a list of numbers, against what the rung offers."""
    named = {"all": offered, "max": offered[-1:], "min": offered[:1], None: [None]}
    if isinstance(asked, str):
        refuse_unknown(f"value of {key}", asked, ("all", "max", "min"))
    if asked is None or isinstance(asked, str):
        return named[asked]
    return asked if isinstance(asked, list) else [asked]


def attention_of(variant: Variant, rung: Rung, S: int | None, k: int | None) -> Attention:
    """The four choices of a variant: its own, else its recipe's, with the settings of rung and grid."""
    recipe = rung.recipes[variant.recipe]
    offered = {**rung.settings, **recipe.settings}
    if S is not None:
        offered["limit"] = S
    if k is not None:
        offered["k"] = k
    default = {"selection": "all", "normaliser": "softmax", **recipe.attention}
    choices = {axis: getattr(variant, axis) or default.get(axis) for axis in AXES}
    return Attention(**{axis: fill(axis, choice, offered) for axis, choice in choices.items()})


def _jobs_of(variant: Variant, ablation: Ablation, rung: Rung, corpus: str, checksum: str):
    """(S, k, seed, job) over the grid of one variant on one corpus."""
    refuse_unknown("recipe", variant.recipe, rung.recipes)
    recipe = rung.recipes[variant.recipe]
    spans = _values(variant.S if variant.S is not None else ablation.grid.S, rung.S, "S")
    tops = _values(variant.k if variant.k is not None else ablation.grid.k, rung.k, "k")
    for S, k, seed in product(spans, tops, rung.seeds):
        attention = attention_of(variant, rung, S, k)
        yield (
            S,
            attention.selection.get("k"),
            Job(
                rung=rung.rung,
                task="char_lm",
                corpus=corpus,
                checksum=checksum,
                attention=attention,
                net=Net(**recipe.net),
                training=Training(**{**rung.training, **recipe.training}),
                evaluation=Evaluation(**{**rung.evaluation, **recipe.evaluation}),
                seed=seed,
            ),
        )


def plan(config: Config) -> list[Asked]:
    """Every job that the config asks for, in a stable order."""
    rung, corpora = config.load_rung(), load_corpora()
    rows, seen = [], set()
    for name in known_ablations():
        ablation = load_ablation(name)
        if ablation.paper not in config.papers:
            continue
        for corpus, (label, variant) in product(ablation.corpora, ablation.variants.items()):
            text = config.corpus or rung.corpora.get(corpus, corpus)
            slug, checksum = corpora.slug(text), corpora.checksum(text)
            for S, k, job in _jobs_of(variant, ablation, rung, slug, checksum):
                key = (name, label, corpus, job.digest)
                if key not in seen:  # a variant without S or k appears once however large the grid is
                    seen.add(key)
                    who = {"ablation": name, "paper": ablation.paper, "variant": label, "corpus": corpus}
                    rows.append(Asked(**who, text=text, S=S, k=k, job=job))
    return rows


def read_job(text: str) -> Job:
    """A job from its JSON text or from the path of a job.json."""
    raw = text if text.lstrip().startswith("{") else Path(text).read_text(encoding="utf-8")
    return Job.model_validate_json(raw)
