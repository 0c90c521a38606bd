"""What a variant makes of its recipe and of the scale's grid: the net's sizes, attention, S and
k.
"""

from workflow.config.choices import AXES, AttentionChoices, choice_names, complete_choice, from_grid
from workflow.config.errors import ConfigError, check_known
from workflow.config.strict import parse
from workflow.plan.questions import Variant
from workflow.plan.scales import Recipe, Scale


def scaled(net: dict, times: dict[str, float]) -> dict:
    """Multiply some sizes of a recipe's net, to make a paper's variation at the size of the
    scale.
    """
    for key in times:
        check_known(
            "size in times", key, [name for name, value in net.items() if type(value) is int]
        )
    sizes = {key: round(net[key] * factor) for key, factor in times.items()}
    for key, size in sizes.items():
        if size < 1 or abs(size - net[key] * times[key]) > 0.01:
            raise ConfigError(
                f"times: {key} = {net[key]} x {times[key]:g} is not a whole number of at least 1"
            )
    return {**net, **sizes}


def attention_of(
    variant: Variant,
    recipe: Recipe,
    scale: Scale,
    S: int | None,
    k: int | None,
    model: type[AttentionChoices],
) -> AttentionChoices:
    """Return the four choices of a variant: its own or its recipe's, with the settings of scale,
    recipe and grid.
    """
    defaults: dict[str, dict] = {}
    for settings in (scale.settings, recipe.settings, scale.settings_at.get(S, {})):
        for name, values in settings.items():
            defaults[name] = {**defaults.get(name, {}), **values}
    named = {"selection": "all", "normaliser": "softmax", **recipe.attention}
    for axis in named:
        check_known("axis", axis, AXES)
    choices = named | {axis: own for axis in AXES if (own := getattr(variant, axis)) is not None}
    _refuse_unread(variant, choices)
    complete = {
        axis: complete_choice(axis, choices.get(axis), defaults, {"S": S, "k": k}) for axis in AXES
    }
    where = {} if variant.apply_to is None else {"apply_to": variant.apply_to}
    return parse(model, complete | where, "attention")


def _refuse_unread(variant: Variant, choices: dict[str, str | dict]) -> None:
    """Refuse an S or k of a variant that none of its choices reads."""
    read = set()
    for axis, choice in choices.items():
        name, settings = (choice.get("name"), choice) if isinstance(choice, dict) else (choice, {})
        if name in choice_names(axis):
            read |= {source for key, source in from_grid(axis, name).items() if key not in settings}
    for key, such in (("S", "span: fixed"), ("k", "selection: top_k")):
        if (value := getattr(variant, key)) is not None and key not in read:
            raise ConfigError(
                f"{key} = {value}: no choice of this variant uses it; valid: with one that does, for example {such}"
            )


def grid_values(wanted, grid: list[int], key: str) -> list:
    """List the values meant by `all`, `max` or `min` of the scale's grid, by a number, or by a list
    of numbers.
    """
    if isinstance(wanted, str):
        named = {"all": grid, "max": grid[-1:], "min": grid[:1]}
        check_known(f"value of {key}", wanted, [*named, "a whole number"])
        if not grid:
            raise ConfigError(f"{key} = '{wanted}': the scale has no {key} up to largest_S")
        return named[wanted]
    return wanted if isinstance(wanted, list) else [wanted]
