"""The schema of card.json, the numbers of a card, for cards that were made elsewhere."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator, model_validator

from workflow.cards.card import AtLimit, AtSize, Card, CardPart, Costs, Rate, score_quantity
from workflow.cards.compare import Comparison, Scatter, Verdict
from workflow.config.errors import ConfigError, shown
from workflow.config.files import shown_path
from workflow.config.strict import Name, StrictModel, parse, read_json
from workflow.plan.tuning import OTHER_RATES
from workflow.settings.battery import BASELINE, LONGEST_NAME, VALID_NAME, ChosenAxes, Part

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")]
LONGEST_CHOICE = 100  # letters of its name
Words = Annotated[str, Field(max_length=2000)]


class StoredScatter(StrictModel):
    """As `workflow.cards.compare.Scatter`."""

    deviation: float
    freedom: float
    own: bool


class StoredCosts(StrictModel):
    """As `workflow.cards.card.Costs`."""

    macs: Annotated[float, Field(gt=0)] | None
    memory: Annotated[float, Field(gt=0)] | None
    train: Annotated[float, Field(gt=0)] | None
    predict: Annotated[float, Field(gt=0)] | None
    train_spread: Annotated[float, Field(ge=0)] | None = None
    predict_spread: Annotated[float, Field(ge=0)] | None = None


class StoredComparison(StrictModel):
    """As `workflow.cards.compare.Comparison`."""

    difference: float
    low: float
    high: float
    p: float
    p_equal: float
    scatter: StoredScatter
    detectable: float
    seeds: int | None
    verdict: Verdict
    holm: float
    holm_equal: float

    @property
    def comparison(self) -> Comparison:
        content = {key: getattr(self, key) for key in type(self).model_fields}
        return Comparison(**content | {"scatter": Scatter(**self.scatter.model_dump())})


class StoredRate(StrictModel):
    """As `workflow.cards.card.Rate`."""

    factor: float
    gain: float | None
    p: float
    holm: float
    score: float | None = None
    why: Words | None = None

    @field_validator("factor")
    @classmethod
    def is_tried(cls, factor):
        if factor not in OTHER_RATES:
            valid = ", ".join(f"{each:g}" for each in OTHER_RATES)
            raise ConfigError(f"factor = {factor:g}: a card tries other rates; valid: {valid}")
        return factor

    @model_validator(mode="after")
    def has_a_gain_or_a_reason(self):
        if self.gain is None and not self.why:
            raise ConfigError(f"factor = {self.factor:g}: neither gain nor why is given")
        return self


class StoredLimit(StrictModel):
    """As `workflow.cards.card.AtLimit`."""

    S: Annotated[int, Field(gt=0)]
    macs: Annotated[float, Field(gt=0)] | None
    memory: Annotated[float, Field(gt=0)] | None


class StoredSize(StrictModel):
    """As `workflow.cards.card.AtSize`, with the keys of `StoredComparison` in one of their own."""

    size: Annotated[float, Field(gt=0)]
    ours: dict[int, float]
    baseline: dict[int, float]
    why: Words | None = None
    compared: StoredComparison | None = None

    @model_validator(mode="after")
    def is_compared_or_has_a_reason(self):
        if self.compared is None and not self.why:
            raise ConfigError(f"size = {self.size:g}: neither a comparison nor why is given")
        return self

    @property
    def at_size(self) -> AtSize:
        compared = self.compared.comparison if self.compared else None
        return AtSize(self.size, self.ours, self.baseline, compared, why=self.why)


class StoredPart(StrictModel):
    """A part of a card. digests: of the variant's runs; of a part that is compared, the keys of
    `StoredComparison` too.
    """

    name: Name
    title: Annotated[str, Field(min_length=1, max_length=60)]
    task: str
    corpus: Name
    score: Name
    at: float | None
    margin: float
    ours: dict[int, float]
    baseline: dict[int, float]
    against: dict[Name, Name] = {}
    costs: StoredCosts
    digests: list[Digest]
    rates: list[StoredRate] = []
    limits: list[StoredLimit] = []
    sizes: list[StoredSize] = []
    why: Words | None
    compared: StoredComparison | None = None

    @model_validator(mode="after")
    def has_rates_of_a_comparison(self):
        gains = [rate for rate in self.rates if rate.gain is not None]
        if gains and self.compared is None:
            raise ConfigError(f"rates: part '{self.name}' has no comparison that they could change")
        return self

    @property
    def part(self) -> Part:
        """Return the part of a battery; how its baseline is planned is not stored."""
        content = self.model_dump(include={"title", "task", "corpus", "score", "at", "margin"})
        return parse(Part, content, f"part '{self.name}'")


class StoredCard(StrictModel):
    """The content of card.json."""

    name: Annotated[str, Field(max_length=LONGEST_NAME)]
    title: Annotated[str, Field(min_length=1, max_length=60)]
    choices: ChosenAxes
    settings: dict[Name, Words] = {}
    scale: Name
    devices: list[Words]
    parts: Annotated[list[StoredPart], Field(min_length=1, max_length=100)]

    @field_validator("name")
    @classmethod
    def names_files(cls, name):
        if name == BASELINE or not VALID_NAME.fullmatch(name):
            raise ConfigError(
                f"name {shown(name)}: expected letters, digits, _, . and -, and not '{BASELINE}'"
            )
        return name

    @field_validator("parts")
    @classmethod
    def differ(cls, parts):
        names = [part.name for part in parts]
        if len(set(names)) < len(names):
            raise ConfigError(f"parts: {max(names, key=names.count)} is listed twice")
        return parts

    @field_validator("choices")
    @classmethod
    def are_named(cls, choices):
        for axis, choice in choices.axes.items():
            name = choice.get("name") if isinstance(choice, dict) else choice
            is_name = isinstance(name, str) and name.isidentifier()
            if not is_name or len(name) > LONGEST_CHOICE:
                raise ConfigError(f"{axis} = {shown(choice)}: expected the name of a choice")
        return choices

    @property
    def chosen(self) -> dict:
        """Return the choices as a `Card` has them."""
        return self.choices.axes | {"net": self.choices.net}


def read_card(path: Path) -> StoredCard:
    """Read a card.json; `ConfigError` for one that this suite would not write."""
    return parse_card(read_json(path), shown_path(path))


def parse_card(content, place: str) -> StoredCard:
    """Read the JSON of a card; place: what an error names."""
    if isinstance(content, dict):
        content.pop("back_test", None)  # of the battery, not of this card
    if isinstance(content, dict) and isinstance(content.get("parts"), list):
        content["parts"] = [_with_comparisons(each) for each in content["parts"]]
    return parse(StoredCard, content, place)


def _with_comparisons(part):
    if isinstance(part, dict) and isinstance(part.get("sizes"), list):
        part = part | {"sizes": [with_comparison(each) for each in part["sizes"]]}
    return with_comparison(part)


def with_comparison(part):
    """Put the keys of a comparison, which card.json has among the others, into one of their own.

    part: of a card, or of one of its other sizes.
    """
    if not isinstance(part, dict) or "difference" not in part:
        return part
    compared = {}
    rest = {}
    for key, value in part.items():
        place = compared if key in StoredComparison.model_fields else rest
        place[key] = value
    return rest | {"compared": compared}


def as_card(stored: StoredCard) -> Card:
    """Return a card with all that card.json says: no known variants, lengths and curves."""
    return Card(
        name=stored.name,
        title=stored.title,
        choices=stored.chosen,
        parts=tuple(_as_part(each) for each in stored.parts),
        scale=stored.scale,
        devices=tuple(stored.devices),
        settings=stored.settings,
    )


def _as_part(stored: StoredPart) -> CardPart:
    part = stored.part
    return CardPart(
        name=stored.name,
        part=part,
        score=score_quantity(part),
        ours=stored.ours,
        baseline=stored.baseline,
        comparison=stored.compared.comparison if stored.compared else None,
        known=(),
        costs=Costs(**stored.costs.model_dump()),
        failed=(),
        lengths=(),
        behaviour={},
        digests=tuple(stored.digests),
        rates=tuple(Rate(**each.model_dump()) for each in stored.rates),
        limits=tuple(AtLimit(**each.model_dump()) for each in stored.limits),
        sizes=tuple(each.at_size for each in stored.sizes),
        why=stored.why,
        against=stored.against,
    )
