"""What a claim compares, and where else it is asked: the sides, the finding, the ladder of
sizes.
"""

from string import Formatter
from typing import Annotated, Literal

from pydantic import Field, field_validator

from workflow.config.errors import ConfigError, check_known
from workflow.config.strict import PositiveStrictInt, StrictModel, one_of
from workflow.report.claims.measures import UNITS
from workflow.report.published import load

Measure = Annotated[str, one_of("measure", UNITS)]
# What a sentence may say of an effect: its size without sign, as a share, as a factor, and both
# sides.
FIGURES = ("size", "share", "times", "ours", "than")
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
    """What an author, or somebody else, has against a claim as it stands here. link: where they say
    so.
    """

    by: str = Field(min_length=1)
    says: str = Field(min_length=10)
    link: Annotated[str, Field(pattern="^https://")]


class Finding(StrictModel):
    """The sentences that tell what was found of a claim.

    ours, than: the printed numbers whose difference or ratio is the paper's effect; of several the
    mean. seen: the sentence that tells what was found where the claim was reproduced or is
    consistent, failed: where it was not reproduced; without one the opening is silent. Both may use
    `FIGURES`.
    """

    ours: PublishedId | Annotated[list[PublishedId], Field(min_length=1)] | None = None
    than: PublishedId | Annotated[list[PublishedId], Field(min_length=1)] | None = None
    seen: str
    failed: str | None = None

    @field_validator("seen", "failed")
    @classmethod
    def figures_exist(cls, sentence):
        for _, name, form, conversion in Formatter().parse(sentence or ""):
            if name is not None:
                check_known("figure of a sentence", name, FIGURES)
            if form or conversion:
                raise ConfigError(
                    f"figure of a sentence '{name}': it is written with its digits; expected {{{name}}} alone"
                )
        return sentence


class Ladder(StrictModel):
    """Where a claim is also asked of nets of several sizes: the question, and which variants stand
    for the sides.

    at: the printed number of parameters of each side, for which the effect is forecast. caveat:
    what the ladder changes besides size, and for which side.
    """

    question: str
    ours: Side
    than: Side
    at: Annotated[list[PublishedId], Field(min_length=2, max_length=2)]
    caveat: str | None = Field(None, min_length=10)
