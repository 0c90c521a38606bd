"""How the config becomes jobs. Pure: no torch, nothing written.

config -> `plan` -> one `PlanRow` per (ablation, variant, corpus, S, k, seed). Two ablations that ask for
the same job share its digest, and so its run.
"""

from itertools import product
from pathlib import Path

from pydantic import Field

from workflow.config.choices import AXES, complete_choice
from workflow.config.errors import ConfigError, check_known
from workflow.config.job import JOBS, AnyJob, section
from workflow.config.job_schema import AttentionChoices
from workflow.config.strict import FrozenModel, parse, parse_json
from workflow.plan.ablations import PAPERS, Ablation, Config, Variant, known_ablations, load_ablation
from workflow.plan.scales import Recipe, Scale, load_corpora


class PlanRow(FrozenModel):
    """One row of the plan: who asked for which job."""

    ablation: str
    paper: str
    variant: str
    corpus: str  # the corpus of the paper
    text: str  # what stands in for it at this scale, by name; job.corpus names its file
    S: int | None
    k: int | None
    job: AnyJob


class Planned(PlanRow):
    """A row as results/plan.json keeps it."""

    digest: str = Field(pattern="^[\\w.-]+$")
    configuration: str


def read_plan(path: Path) -> list[dict]:
    """results/plan.json; `ConfigError` in a line where it is not what `workflow.scripts.plan` writes."""
    rows = parse_json(path.read_bytes(), str(path))
    if not isinstance(rows, list) or not rows:
        raise ConfigError(f"{path}: expected a list of runs, as the workflow writes it")
    for n, row in enumerate(rows):
        parse(Planned, row, f"{path}: run {n}")
    return rows


def plan(config: Config) -> list[PlanRow]:
    """Every job that the config asks for, in a stable order."""
    scales, rows = config.load_scales(), {}
    for task, scale in scales.items():
        _refuse_unread_corpora(config, task, scale)
    _refuse_unknown_corpus(config, scales)
    for name, ablation in config.load_ablations().items():
        for row in _rows(name, ablation, scales[ablation.task], config):
            # a variant without S or k appears once however large the grid is
            rows.setdefault((name, row.variant, row.corpus, row.job.digest), row)
    if not rows:
        raise ConfigError(f"papers: no ablation asked for belongs to {', '.join(config.papers)}; see config/ablations/")
    return list(rows.values())


def _refuse_unread_corpora(config: Config, task: str, scale: Scale) -> None:
    """The scale's `corpora` and `recipes_at` name corpora that an ablation names, or may: those of the catalogue."""
    named = {corpus for name in known_ablations() for corpus in load_ablation(name).corpora}
    where = f"in config/scales/{config.scale}/{task}.yaml"
    for paper in scale.recipes_at:
        check_known(f"paper {where}, recipes_at:", paper, PAPERS)
    recipes_at = [key for corpora in scale.recipes_at.values() for key in corpora]
    for part, keys in {"corpora": scale.corpora, "recipes_at": recipes_at}.items():
        for key in keys:
            check_known(f"corpus {where}, {part}:", key, named | set(load_corpora(task).choices))


def _refuse_unknown_corpus(config: Config, scales: dict[str, Scale]) -> None:
    catalogues = [load_corpora(task) for task in scales]
    if config.corpus and not any(one.knows(config.corpus) for one in catalogues):
        check_known("data set", config.corpus, [name for one in catalogues for name in one.choices])


def _rows(name: str, ablation: Ablation, scale: Scale, config: Config):
    """The rows of one ablation; the config's corpus, where its task can read it, is read in place of the scale's."""
    corpora, corpus = load_corpora(ablation.task), config.corpus
    places = [place for place in ablation.corpora if scale.corpora.get(place, place) is not None]
    for place, (label, variant) in product(places, ablation.variants.items()):
        text = corpus if corpus and corpora.knows(corpus) else scale.corpora.get(place, place)
        who = {"ablation": name, "paper": ablation.paper, "variant": label, "corpus": place, "text": text}
        read = {"corpus": corpora.slug(text), "checksum": corpora.checksum(text, config.data_dir)}
        try:
            for S, k, job in _jobs_of(variant, ablation, scale, place, read):
                yield PlanRow(**who, S=S, k=k, job=job)
        except ConfigError as error:
            raise ConfigError(f"ablation {name}, variant {label}, scale {scale.scale}: {error}") from None


def _jobs_of(variant: Variant, ablation: Ablation, scale: Scale, place: str, read: dict):
    """(S, k, job) over the grid of one variant on one corpus."""
    recipe, task = scale.recipe(variant.recipe, ablation.paper, place), ablation.task
    given = {
        "net": {**scaled(recipe.net, variant.times), **variant.net},
        "training": {**scale.training, **recipe.training, **variant.training},
        "evaluation": {**scale.evaluation, **recipe.evaluation},
    }
    shared = {name: parse(section(task, name), content, name) for name, content in given.items()}
    spans = _values(variant.S if variant.S is not None else ablation.grid.S, scale.S, "S")
    tops = _values(variant.k if variant.k is not None else ablation.grid.k, scale.k, "k")
    for S, k, seed in product(spans, tops, scale.seeds[: ablation.seeds]):
        attention = attention_of(variant, recipe, scale, S, k, section(task, "attention"))
        job = {"scale": scale.scale, "task": task, **read, "attention": attention, **shared, "seed": seed}
        yield S, attention.selection.get("k"), parse(JOBS[task], job, "job")


def scaled(net: dict, times: dict[str, float]) -> dict:
    """The sizes of a recipe's net, some of them multiplied: a paper's variation at the size of the scale."""
    for key in times:
        check_known("size in times", key, [name for name, value in net.items() if type(value) is int])
    sizes = {key: round(net[key] * factor) for key, factor in times.items()}
    for key, size in sizes.items():
        if size < 1 or abs(size - net[key] * times[key]) > 0.01:
            raise ConfigError(f"times: {key} = {net[key]} x {times[key]:g} is no whole number")
    return {**net, **sizes}


def attention_of(
    variant: Variant, recipe: Recipe, scale: Scale, S, k, model: type[AttentionChoices]
) -> AttentionChoices:
    """The four choices of a variant: its own, else its recipe's, with the settings of scale and grid (S, k or None)."""
    defaults: dict[str, dict] = {}
    for settings in (scale.settings, recipe.settings, scale.settings_at.get(S, {})):
        for name, values in settings.items():
            defaults[name] = {**defaults.get(name, {}), **values}
    default = {"selection": "all", "normaliser": "softmax", **recipe.attention}
    for axis in default:
        check_known("axis", axis, AXES)
    choices = {axis: getattr(variant, axis) or default.get(axis) for axis in AXES}
    made = {axis: complete_choice(axis, choice, defaults, {"S": S, "k": k}) for axis, choice in choices.items()}
    return parse(model, made if variant.apply_to is None else {**made, "apply_to": variant.apply_to}, "attention")


def _values(asked, offered: list[int], key: str) -> list:
    """`all`, `max`, `min`, a number, or a list of numbers, against what the scale offers."""
    if isinstance(asked, str):
        named = {"all": offered, "max": offered[-1:], "min": offered[:1]}
        check_known(f"value of {key}", asked, named)
        return named[asked]
    return asked if isinstance(asked, list) else [asked]
