"""Turn a variant into jobs: its recipe, its own settings and the scale's grid give one job a cell.

`workflow.settings.scales` says which of these wins where several say something. Sizes other than
the scale's: width, layers and updates of a model grow together (`grown`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from workflow.config.choices import AXES, AttentionChoices, choice_names, complete_choice, from_grid
from workflow.config.errors import ConfigError, check_known
from workflow.config.strict import parse
from workflow.settings.questions import Question, Variant
from workflow.settings.scales import Recipe, Scale
from workflow.tasks.spec import JOBS, AnyJob, section

WIDTHS = ("d_model", "d_ff", "d_k", "d_v")
LENGTHS = ("evaluate_every", "checkpoint_every")
# valid alternatives for a value of the grid that no choice of a variant reads
READERS = {"S": "span: fixed", "k": "selection: top_k"}


@dataclass(frozen=True)
class Dataset:
    """What a job says of its data. corpus: the name of its file. checksum: of its content."""

    corpus: str
    checksum: str


@dataclass(frozen=True)
class Cell:
    """One cell of a variant's grid with its job. size: of the model; S, k: None if not read."""

    size: float
    S: int | None
    k: int | None
    job: AnyJob


def cells_of(
    variant: Variant,
    recipe: Recipe,
    seeds: list[int],
    question: Question,
    scale: Scale,
    data: Dataset,
) -> Iterator[Cell]:
    """Yield the cells of one variant on one corpus, in the order of the grid.

    recipe, seeds: the variant's, for the corpus.
    """
    task = question.task
    sections = _sections_by_size(variant, recipe, question, scale)
    spans = _spans_of(variant, question, scale)
    wanted_k = question.grid.k if variant.k is None else variant.k
    counts = grid_values(wanted_k, scale.k, "k")
    if len(sections) > 1 and len(spans) * len(counts) > 1:
        raise ConfigError(
            "sizes: with several sizes a variant has one S and one k, "
            f"got S = {spans}, k = {counts}"
        )
    model = section(task, "attention")
    cells = product(sections, spans, counts, seeds)
    for size, S, k, seed in cells:
        attention = attention_of(variant, recipe, scale, S, k, model)
        content = {
            "scale": scale.scale,
            "task": task,
            "corpus": data.corpus,
            "checksum": data.checksum,
            "attention": attention,
            **sections[size],
            "seed": seed,
        }
        job = parse(JOBS[task], content, "job")
        yield Cell(size, S, attention.selection.get("k"), job)


def _spans_of(variant: Variant, question: Question, scale: Scale) -> list[int | None]:
    """List every S of a variant: its own or the question's, up to its `largest_S`."""
    limits = scale.S
    if variant.largest_S is not None:
        limits = [S for S in scale.S if variant.largest_S >= S]
    wanted = question.grid.S if variant.S is None else variant.S
    return grid_values(wanted, limits, "S")


def _sections_by_size(
    variant: Variant, recipe: Recipe, question: Question, scale: Scale
) -> dict[float, dict[str, object]]:
    """Parse the sections net, training and evaluation of a job, for each size of the model."""
    # later entries win
    contents = {
        "net": {**scaled(recipe.net, variant.times), **variant.net},
        "training": {**scale.training, **recipe.training, **variant.training},
        "evaluation": {**scale.evaluation, **recipe.evaluation},
    }
    models = {}
    elsewhere = {}
    for name in contents:
        models[name] = section(question.task, name)
        elsewhere[f"under {name}"] = models[name]
    by_size = {}
    for size in question.sizes:
        parsed = {}
        for name, content in grown(contents, size).items():
            parsed[name] = parse(models[name], content, name, elsewhere=elsewhere)
        by_size[size] = parsed
    return by_size


def refuse_idle(choices: list[AttentionChoices], most: int) -> None:
    """Refuse an S beyond the `most` keys that there are, and a k that drops none at any S.

    At the smaller S of a grid k may keep all keys: they are compared with the larger.
    """
    widest = max(each.span.get("limit", most) for each in choices)
    if widest > most:
        raise ConfigError(
            f"S = {widest}: a query sees at most {most} keys here; valid: 1 to {most}"
        )
    k = max(each.selection.get("k", 1) for each in choices)
    if k > widest:
        raise ConfigError(
            f"k = {k} keeps all keys, because a query sees at most {widest} here; "
            f"valid: 1 to {widest}"
        )


def scaled(net: dict, times: dict[str, float]) -> dict:
    """Multiply some sizes of a recipe's model: a paper's variation at the size of the scale."""
    numbers = [name for name, value in net.items() if type(value) is int]
    changed = dict(net)
    for key, factor in times.items():
        check_known("size in times", key, numbers)
        exact = net[key] * factor
        size = round(exact)
        if size < 1 or abs(size - exact) > 0.01:
            raise ConfigError(
                f"times: {key} = {net[key]} x {factor:g} is not a whole number of at least 1"
            )
        changed[key] = size
    return changed


def attention_of(
    variant: Variant,
    recipe: Recipe,
    scale: Scale,
    S: int | None,
    k: int | None,
    model: type[AttentionChoices],
) -> AttentionChoices:
    """Return the choices of a variant on all axes: its own or its recipe's.

    Their settings come from the scale, the recipe, what the scale sets at this S, and the grid.
    """
    # later entries win
    at_S = scale.settings_at.get(S, {})
    defaults: dict[str, dict] = {}
    for settings in (scale.settings, recipe.settings, at_S):
        for name, values in settings.items():
            defaults[name] = {**defaults.get(name, {}), **values}
    usual = {"selection": "all", "normaliser": "softmax", "score_scale": "none"}
    choices = {**usual, **recipe.attention}
    for axis in choices:
        check_known("axis", axis, AXES)
    for axis in AXES:
        own = getattr(variant, axis)
        if own is not None:
            choices[axis] = own
    _refuse_unread(variant, choices)

    cell = {"S": S, "k": k}
    content = {}
    for axis in AXES:
        content[axis] = complete_choice(axis, choices.get(axis), defaults, cell)
    if variant.apply_to is not None:
        content["apply_to"] = variant.apply_to
    return parse(model, content, "attention")


def _refuse_unread(variant: Variant, choices: dict[str, str | dict]) -> None:
    """Refuse an S or k of a variant that none of its choices reads."""
    read = set()
    for axis, choice in choices.items():
        settings = choice if isinstance(choice, dict) else {"name": choice}
        name = settings.get("name")
        if name not in choice_names(axis):
            continue
        for key, source in from_grid(axis, name).items():
            if key not in settings:
                read.add(source)
    for key, example in READERS.items():
        value = getattr(variant, key)
        if value is not None and key not in read:
            raise ConfigError(
                f"{key} = {value}: no choice of this variant uses it; "
                f"valid: with one that does, for example {example}"
            )


def grid_values(wanted, grid: list[int], key: str) -> list:
    """List the values of S or k that a variant means.

    wanted: `all`, `max` or `min` of the scale's grid, a number, None, or a list of numbers.
    """
    if isinstance(wanted, list):
        return wanted
    if not isinstance(wanted, str):
        return [wanted]
    named = {
        "all": grid,
        "max": grid[-1:],
        "min": grid[:1],
    }
    check_known(f"value of {key}", wanted, [*named, "a whole number"])
    if not grid:
        raise ConfigError(f"{key} = '{wanted}': the scale has no {key} up to largest_S")
    return named[wanted]


def grown(sections: dict[str, dict], size: float) -> dict[str, dict]:
    """Change the sections of a job for a model of another size.

    At size s the model is s times as wide (`WIDTHS`; as many heads, each s times as wide) and has
    the root of s times as many layers, updates, and updates between points of its curve, each
    rounded. The highest rate falls with the root of s, as wider models need. What an update costs
    grows about as s to the power 2.5, all of training as the cube of s.

    sections: with "net" and "training", as a job has them. `ConfigError` if a width would be no
    whole number.
    """
    if size == 1:
        return sections
    net = dict(sections["net"])
    training = dict(sections["training"])
    root = size**0.5
    for key in WIDTHS:
        if not net.get(key):
            continue
        width = net[key] * size
        if width != int(width):
            raise ConfigError(f"sizes: {key} = {net[key]} x {size:g} is not a whole number")
        net[key] = int(width)
    net["layers"] = max(1, round(net["layers"] * root))
    # as many points of the curve as before, each after more updates
    points = round(training["steps"] / training["evaluate_every"])
    for key in LENGTHS:
        training[key] = max(1, round(training[key] * root))
    training["steps"] = max(1, points) * training["evaluate_every"]
    rate = training["lr"] / root
    training["lr"] = float(f"{rate:.3g}")
    return sections | {"net": net, "training": training}
