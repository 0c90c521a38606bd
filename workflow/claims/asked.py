"""The claims of the papers, each a small assertion over the records: config/claims/NAME.yaml, read strictly."""

from functools import cache
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from workflow.choices import Refused, refuse_unknown
from workflow.claims.measures import MEASURES
from workflow.closed import Closed, Whole, one_of, parse, read_yaml
from workflow.published import analytic, find
from workflow.settings import CONFIG, PaperName, known, known_ablations, load_ablation

FOLDER = CONFIG / "claims"
LAYERS = "layers"  # in place of an ablation: the layers that were measured apart from any run
KINDS = ("self", "rnn", "conv", "local")

Measure = Annotated[str, one_of("measure", MEASURES)]


class Side(Closed):
    """Which runs of the ablation. S, k: a number, several, or `max` or `min` of what was run; none: all there are.

    measure: where it is another one than the claim's.
    """

    variant: str
    S: Whole | list[Whole] | Literal["max", "min"] | None = None
    k: Whole | list[Whole] | Literal["max", "min"] | None = None
    measure: Measure | None = None


class Claim(Closed):
    """What a paper says, and what it says of the records.

    The effect of `ours` against `than` is a difference, a ratio, or, by slope, a difference of the exponents p of
    measure = c S^p; without `than` it is the measure, or its exponent, itself. It is expected to be less or more than
    `bound` (none: 0, of a ratio 1), or equal to it within `within`. recomputed: published numbers that a formula must
    give again, in place of all that. rung: the only one whose scores are comparable.
    """

    claim: str
    paper: PaperName
    where: str
    ablation: str | None = None
    corpora: list[str] = []
    measure: Measure | None = None
    by: Literal["difference", "ratio", "slope"] = "difference"
    ours: Side | None = None
    than: Side | None = None
    expect: Literal["less", "more", "equal"] | None = None
    bound: float | None = None
    within: float | None = Field(None, gt=0)
    recomputed: list[str] = []
    published: list[str] = []
    rung: str | None = None

    @field_validator("published", "recomputed")
    @classmethod
    def published_exist(cls, keys):
        for key in keys:
            find(key)
        return keys

    @model_validator(mode="after")
    def asserts_something(self):
        asserted = {key: getattr(self, key) for key in ("ablation", "measure", "ours", "expect")}
        missing = [key for key, value in asserted.items() if value is None]
        if self.recomputed and len(missing) < len(asserted):
            raise Refused("a claim takes recomputed, or ablation, measure, ours and expect; not both")
        if not self.recomputed and missing:
            raise Refused(f"'{missing[0]}' is missing: what the records are asked")
        if (self.expect == "equal") != (self.within is not None):
            raise Refused("expect: equal, and nothing else, takes within: how far apart is equal")
        return self

    @model_validator(mode="after")
    def asks_of_what_is_there(self):
        if self.ablation is None:
            return self
        refuse_unknown("ablation", self.ablation, [*known_ablations(), LAYERS])
        variants = KINDS if self.ablation == LAYERS else load_ablation(self.ablation).variants
        for side in (self.ours, self.than):
            if side is not None:
                refuse_unknown(f"variant of {self.ablation}", side.variant, variants)
        for corpus in self.corpora:
            refuse_unknown(f"corpus of {self.ablation}", corpus, load_ablation(self.ablation).corpora)
        return self

    @model_validator(mode="after")
    def formulas_are_known(self):
        for key in self.recomputed:
            refuse_unknown("number with a formula", key, analytic().recomputed)
        return self

    @property
    def against(self) -> float:
        """What the effect is compared with."""
        return self.bound if self.bound is not None else float(self.by == "ratio")


def known_claims() -> list[str]:
    return known(FOLDER)


@cache
def load_claim(name: str) -> Claim:
    refuse_unknown("claim", name, known_claims())
    return parse(Claim, read_yaml(FOLDER / f"{name}.yaml"), f"config/claims/{name}.yaml")
