"""What trials vary: factors of a recipe's settings, the same number of trials for every variant."""

from itertools import product
from typing import Annotated

from pydantic import AfterValidator, Field

from workflow.config.errors import ConfigError
from workflow.config.strict import one_of

# where a job keeps what may be varied
PLACES = {
    "lr": ("training",),
    "dropout": ("net",),
    "penalty_weight": ("attention", "span"),
    "ramp": ("attention", "span"),
}
Varied = Annotated[str, one_of("setting of trials", PLACES)]
Factor = Annotated[float, Field(gt=0, allow_inf_nan=False)]


def _differ(factors: list[float]) -> list[float]:
    if len(set(factors)) < len(factors):
        raise ConfigError(f"trials: duplicate factor in {factors}")
    return factors


Tried = Annotated[list[Factor], Field(min_length=1), AfterValidator(_differ)]
Trials = Annotated[dict[Varied, Tried], Field(min_length=1)]  # the factors to try of each setting
Factors = dict[Varied, Factor]  # those of one trial


def every_trial(trials: Trials) -> list[Factors]:
    """List the trials: each factor of one setting with each of the others.

    >>> every_trial({"lr": [0.5, 1.0]})
    [{'lr': 0.5}, {'lr': 1.0}]
    """
    every = []
    for factors in product(*trials.values()):
        every.append(dict(zip(trials, factors, strict=True)))
    return every


def multiply(content: dict, factors: Factors) -> dict:
    """Multiply settings of a job's content; `ConfigError` where a variant lacks one, or it is 0.
    Whole ones stay whole.

    >>> multiply({"training": {"lr": 0.006}}, {"lr": 0.3})
    {'training': {'lr': 0.0018}}
    """
    for key, factor in factors.items():
        content = _multiply(content, (*PLACES[key], key), factor)
    return content


def _multiply(content: dict, path: tuple[str, ...], factor: float) -> dict:
    key, *rest = path
    if rest:
        inside = _multiply(content[key], tuple(rest), factor)
        return content | {key: inside}
    value = content.get(key)
    if not value:
        what = "no value" if value is None else "the value 0"
        raise ConfigError(f"trials of {key}: a variant has {what} to multiply")
    changed = float(f"{value * factor:.12g}")  # 0.3 x 0.006 is 0.0018
    if isinstance(value, int):
        changed = round(changed)
    return content | {key: changed}
