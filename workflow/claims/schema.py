"""What a claim of a paper says: studies/*/claims/NAME.yaml, read here and nowhere else.

The plan reads the claims too, so this imports neither pandas nor torch. `workflow.claims.evidence`
compares a claim with the runs.
"""

import math
from collections.abc import Iterable
from functools import cache
from typing import Annotated, Literal

from pydantic import Field, model_validator

from workflow.claims.measures import (
    COUNTED,
    FORMULAS,
    LAYERS,
    UNITS,
    has_measure,
    title_of_measure,
)
from workflow.claims.published import ORIGINS, Origin, find, ids_by_formula, load
from workflow.config.errors import ConfigError, check_known
from workflow.config.strict import PositiveStrictInt, StrictModel, one_of, parse, read_yaml
from workflow.config.studies import shown_path, study_file, study_files
from workflow.results.layers import LABELS
from workflow.results.registry import COSTS, REGISTRY, SPEEDS
from workflow.settings.questions import (
    PaperName,
    known_questions,
    load_question,
    questions_left_out,
)
from workflow.settings.scales import known_scales

# keys that say nothing of what is compared
ABOUT = {
    "claim",
    "paper",
    "where",
    "origin",
    "published",
    "caveat",
    "tried",
    "finding",
    "abstract",
    "sizes",
    "disputed",
}
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Measure = Annotated[str, one_of("measure", UNITS)]
PublishedId = Annotated[str, one_of("published value", load)]
GridPart = Literal["max", "min", "upper", "common"]
GridValues = (
    PositiveStrictInt | Annotated[list[PositiveStrictInt], Field(min_length=1)] | GridPart | None
)


class Side(StrictModel):
    """Which runs of the question, or which layer.

    S, k: a number, several, or the `max`, the `min` or the `upper` half of the grid, or the
    largest that is `common` to both sides; None: all. Of a layer S is its
    length n, and may be every n `below d`, its width. measure: where it differs from the claim's.
    """

    variant: str
    S: GridValues | Literal["below d"] = None
    k: GridValues = None
    measure: Measure | None = None


class Objection(StrictModel):
    """What an author, or somebody else, has against a claim. link: where they say
    so.
    """

    by: str = Field(min_length=1)
    says: str = Field(min_length=10)
    link: Annotated[str, Field(pattern="^https://")]


class Finding(StrictModel):
    """What the paper prints of an effect: the difference or ratio of two printed numbers.

    Of several numbers of a side the mean counts.
    """

    ours: PublishedId | Annotated[list[PublishedId], Field(min_length=1)]
    than: PublishedId | Annotated[list[PublishedId], Field(min_length=1)] | None = None

    @property
    def ids(self) -> list[str]:
        ids = []
        for side in (self.ours, self.than or []):
            ids += [side] if isinstance(side, str) else side
        return ids

    @model_validator(mode="after")
    def was_seen_in_the_paper(self):
        for key in self.ids:
            if find(key).origin != "paper":
                raise ConfigError(f"finding: {key} is {ORIGINS[find(key).origin]}, not printed")
        return self


class Ladder(StrictModel):
    """Where a claim is also tested at several model sizes: the question, and the two variants.

    at: the printed number of parameters of each side, for which the effect is forecast. caveat:
    what the ladder changes besides size, and for which side.
    """

    question: str
    ours: Side
    than: Side
    at: Annotated[list[PublishedId], Field(min_length=2, max_length=2)]
    caveat: str | None = Field(None, min_length=10)


class Claim(StrictModel):
    """What a paper says, and what it means for the records.

    where, origin: where that is said, and whether it was seen there, as of a `Published` value.
    The effect of `ours` against `than` is a difference, a ratio, or, by slope, a difference of the
    exponents p of measure = c S^p; without `than` it is the measure, or its exponent, itself. It is
    expected to be less or more than `bound` (by default 0, of a ratio 1), or equal to it up to
    `within`, of a ratio a share. negligible: how far from the bound an effect that was expected to
    be less or more is none. recomputed: printed numbers that a formula must reproduce, in place of
    everything else. scale: the only one at which the scores are comparable with the paper's.
    best_of: how many runs the printed score is the best of; ours is then that of as many. caveat:
    why it may not hold at sizes below the paper's, apart from too little training; shown where not
    reproduced. tried: what else was tried (rate, seeds, length of training), and what came of it;
    shown where it was not seen. finding: what the paper prints of the effect. abstract: what the
    paper's abstract says of it, in our own words, which makes it a headline.
    sizes: where it is asked of nets of several sizes. disputed: an objection.
    """

    claim: str = Field(min_length=1)
    paper: PaperName
    where: str
    origin: Origin = "paper"
    question: str | None = None
    corpora: list[str] = []
    measure: Measure | None = None
    by: Literal["difference", "ratio", "slope"] = "difference"
    ours: Side | None = None
    than: Side | None = None
    expect: Literal["less", "more", "equal"] | None = None
    bound: Number | None = None
    within: Annotated[Number, Field(gt=0)] | None = None
    negligible: Annotated[Number, Field(gt=0)] | None = None
    recomputed: list[Annotated[str, one_of("number with a formula", ids_by_formula)]] = []
    published: list[Annotated[str, one_of("published value", load)]] = []
    scale: Annotated[str, one_of("scale", known_scales)] | None = None
    best_of: PositiveStrictInt | None = None
    caveat: str | None = Field(None, min_length=10)
    tried: str | None = Field(None, min_length=10)
    finding: Finding | None = None
    abstract: str | None = Field(None, min_length=10)
    sizes: Ladder | None = None
    disputed: Objection | None = None

    @model_validator(mode="after")
    def asserts_one_thing(self):
        keys = self.model_fields_set - ABOUT
        if self.recomputed and keys != {"recomputed"}:
            raise ConfigError(
                f"recomputed replaces all keys that read records, got {min(keys - {'recomputed'})}"
            )
        missing = [
            key for key in ("question", "measure", "ours", "expect") if getattr(self, key) is None
        ]
        if not self.recomputed and missing:
            raise ConfigError(f"'{missing[0]}' is missing")
        if (self.expect == "equal") != (self.within is not None):
            raise ConfigError(
                "expect: equal needs within, how far apart counts as equal; less and more take none"
            )
        if self.negligible and (self.by == "ratio" or self.expect == "equal"):
            raise ConfigError("negligible is for a difference that is expected to be less or more")
        if self.best_of and (self.than is not None or self.measure not in REGISTRY):
            raise ConfigError(
                "best_of is for one printed score: the claim needs a score as measure, and no than"
            )
        if self.by == "ratio" and self.bound is not None and self.bound <= 0:
            raise ConfigError(f"bound of a ratio must be more than 0, got {self.bound:g}")
        return self

    @model_validator(mode="after")
    def names_exist(self):
        if self.question is None:
            return self
        check_known("question", self.question, [*known_questions(), LAYERS])
        question = None if self.question == LAYERS else load_question(self.question)
        for side in self.sides:
            check_known(
                f"variant of {self.question}",
                side.variant,
                question.variants if question else LABELS,
            )
            measures = [
                name for name in UNITS if has_measure(question.task if question else LAYERS, name)
            ]
            check_known(f"measure of {self.question}", self.measured(side), measures)
            if question is None and side.k is not None:
                raise ConfigError(f"k = {side.k}: layers have no k")
            if question is None and self.scale is not None:
                raise ConfigError(
                    f"scale = {self.scale}: layers read no text, so they have no scale"
                )
            if question and side.S == "below d":
                expected = "expected a number, several, max, min, upper or common"
                raise ConfigError(f"S = below d: only for {LAYERS}; {expected}")
        if self.sizes:
            self._check_ladder()
        for paper_corpus in self.corpora:
            check_known(
                f"corpus of {self.question}", paper_corpus, question.corpora if question else ()
            )
        return self

    def _check_ladder(self) -> None:
        """Refuse a ladder whose question or variants do not exist."""
        if self.than is None or self.by != "difference":
            raise ConfigError("sizes: only for a claim about the difference of two sides")
        ladders = [name for name in known_questions() if len(load_question(name).sizes) > 1]
        check_known("question of several sizes", self.sizes.question, ladders)
        for side in (self.sizes.ours, self.sizes.than):
            check_known(
                f"variant of {self.sizes.question}",
                side.variant,
                load_question(self.sizes.question).variants,
            )

    @model_validator(mode="after")
    def compares_like_with_like(self):
        names = [self.measured(side) for side in self.sides]
        kinds = {(UNITS[name], name in SPEEDS, name in COUNTED) for name in names}
        if len(kinds) > 1:
            raise ConfigError(f"measures of two kinds cannot be compared: {' and '.join(names)}")
        return self

    @property
    def about(self) -> str:
        """The question whose runs it reads, or `layers`, or `formulas`."""
        return self.question or FORMULAS

    @property
    def sides(self) -> list[Side]:
        return [side for side in (self.ours, self.than) if side is not None]

    def measured(self, side: Side) -> str:
        """Return the measure that is read for a side."""
        return side.measure or self.measure

    @property
    def is_about_quality(self) -> bool:
        """Whether more training would change what is compared: a score, not a cost."""
        names = [self.measured(side) for side in self.sides]
        return any(name in REGISTRY and REGISTRY[name].source == "metric" for name in names)

    @property
    def against(self) -> float:
        """What the effect is compared with."""
        return self.bound if self.bound is not None else float(self.by == "ratio")

    @property
    def tolerance(self) -> float:
        """The distance that counts as equal; of a ratio as a logarithm, so that up and down count
        alike.
        """
        return math.log1p(self.within) if self.by == "ratio" else self.within


@cache
def load_claim(name: str) -> Claim:
    """Read a claim; `ConfigError` where there is none of that name, or where its file breaks the
    schema.
    """
    path = study_file("claims", name)
    return parse(Claim, {"paper": path.parents[1].name} | read_yaml(path), shown_path(path))


def load_claims(names: Iterable[str]) -> dict[str, Claim]:
    """Read claims, by name."""
    return {name: load_claim(name) for name in names}


def known_claims() -> list[str]:
    """Name the claims of all studies, in order; not those about questions of unfinished tasks."""
    left_out = questions_left_out()
    files = study_files("claims")
    if not left_out:
        return list(files)
    # the schema would refuse them: their questions are unknown
    return [
        name for name, (_, path) in files.items() if read_yaml(path).get("question") not in left_out
    ]


def claims_about(question: str) -> list[str]:
    """Name the claims about a question."""
    return [name for name in known_claims() if load_claim(name).about == question]


def sized_claims(question: str) -> list[str]:
    """Name the claims that are tested on the model sizes of a question."""
    found = []
    for name in known_claims():
        sizes = load_claim(name).sizes
        if sizes and sizes.question == question:
            found.append(name)
    return found


def costs_claimed(question: str) -> list[str]:
    """List the kinds of cost that the claims about a question read."""
    measures = set()
    for name in claims_about(question):
        claim = load_claim(name)
        measures |= {claim.measure, *(side.measure for side in claim.sides)}
    sources = {REGISTRY[measure].source for measure in measures if measure in REGISTRY}
    return [kind for kind in COSTS if kind in sources]


def tolerances(name: str, quantity: str) -> dict[tuple[str, str], float]:
    """Map two variants, as pages name them and in both orders, to the tolerance of their claim.

    It is the largest difference that counts as equal; where several claims give one, the smallest
    holds. name: of the question. quantity: the score that answers it.
    """
    labels = {}
    for key, variant in load_question(name).variants.items():
        labels[key] = variant.label or key
    found: dict[tuple[str, str], float] = {}
    for each in claims_about(name):
        claim = load_claim(each)
        within = claim.within or claim.negligible
        if within is None or claim.measure != quantity:
            continue
        if claim.by != "difference" or claim.than is None or claim.bound:
            continue
        ours = labels[claim.ours.variant]
        than = labels[claim.than.variant]
        known = found.get((ours, than), within)
        smallest = min(within, known)
        found[ours, than] = smallest
        found[than, ours] = smallest
    return found


def is_as_claimed(claim: Claim, effect: float) -> bool:
    """Check whether the effect lies where the paper says."""
    if claim.expect == "equal":
        distance = (
            math.log(effect / claim.against) if claim.by == "ratio" else effect - claim.against
        )
        return abs(distance) <= claim.tolerance
    return effect < claim.against if claim.expect == "less" else effect > claim.against


def unit_of_effect(claim: Claim) -> str:
    """Return the unit of the effect."""
    exponent = "exponent of n" if claim.question == LAYERS else "exponent of S"
    return {"difference": UNITS[claim.measured(claim.ours)], "ratio": "×", "slope": exponent}[
        claim.by
    ]


def describe_measure(claim: Claim) -> str:
    """Say what is compared: `difference in dev bpc`, or with two measures `ratio of A to B`."""
    titles = list(dict.fromkeys(title_of_measure(claim.measured(side)) for side in claim.sides))
    if claim.by == "slope":
        axis = "n" if claim.question == LAYERS else "S"
        return f"{'difference in ' if claim.than else ''}scaling exponent in {axis} of {titles[0]}"
    if not claim.than:
        return "".join(titles)  # a claim about formulas has no measure
    if claim.by == "difference" and len(titles) > 1:
        return f"{titles[0]} minus {titles[1]}"
    return (
        f"ratio of {' to '.join(titles)}" if claim.by == "ratio" else f"difference in {titles[0]}"
    )


def describe_expectation(claim: Claim) -> str:
    """Say what the claim expects of the effect: `< 0`, or `= 1 within 5 %`."""
    if claim.recomputed:
        return "the published digits"
    sign = {"less": "<", "more": ">", "equal": "="}[claim.expect]
    expected = f"{sign} {claim.against:g}"
    if not claim.within:
        return expected
    if claim.by == "ratio":
        return f"{expected} within {100 * claim.within:g} %"
    return f"{expected} ± {claim.within}"


def claimed_range(claim: Claim) -> tuple[float | None, float | None]:
    """Return the range in which the effect is as claimed; None is an open end, and a claim about
    formulas has two.
    """
    if claim.expect != "equal":
        return (
            claim.against if claim.expect == "more" else None,
            claim.against if claim.expect == "less" else None,
        )
    if claim.by == "ratio":
        return claim.against * math.exp(-claim.tolerance), claim.against * math.exp(claim.tolerance)
    return claim.against - claim.tolerance, claim.against + claim.tolerance
