"""How the config becomes jobs. Pure: no torch, nothing written.

config -> `plan` -> one `Asked` per (ablation, variant, corpus, S, k, seed). Two ablations that ask for
the same job share its digest, and so its run.
"""

from itertools import product
from pathlib import Path

from pydantic import Field

from workflow.choices import AXES, Refused, fill, refuse_unknown
from workflow.closed import parse, parse_json
from workflow.jobs import JOBS, AnyJob, section
from workflow.rungs import Recipe, Rung, load_corpora
from workflow.sections import Attention, Closed
from workflow.settings import PAPERS, Ablation, Config, Variant, known_ablations, load_ablation


class Asked(Closed):
    """One row of the plan: who asked for which job."""

    ablation: str
    paper: str
    variant: str
    corpus: str  # the corpus of the paper
    text: str  # what stands in for it at this rung, by name; job.corpus names its file
    S: int | None
    k: int | None
    job: AnyJob


class Planned(Asked):
    """A row as results/plan.json keeps it."""

    digest: str = Field(pattern="^[\\w.-]+$")
    cell: str


def read_plan(path: Path) -> list[dict]:
    """results/plan.json; `Refused` in a line where it is not what `workflow.scripts.jobs` writes."""
    rows = parse_json(path.read_bytes(), str(path))
    if not isinstance(rows, list) or not rows:
        raise Refused(f"{path}: expected a list of runs, as the workflow writes it")
    for n, row in enumerate(rows):
        parse(Planned, row, f"{path}: run {n}")
    return rows


def plan(config: Config) -> list[Asked]:
    """Every job that the config asks for, in a stable order."""
    rungs, rows = config.load_rungs(), {}
    for task, rung in rungs.items():
        _refuse_unread_corpora(config, task, rung)
    _refuse_unknown_corpus(config, rungs)
    for name, ablation in config.load_ablations().items():
        for row in _rows(name, ablation, rungs[ablation.task], config):
            # a variant without S or k appears once however large the grid is
            rows.setdefault((name, row.variant, row.corpus, row.job.digest), row)
    if not rows:
        raise Refused(f"papers: no ablation asked for belongs to {', '.join(config.papers)}; see config/ablations/")
    return list(rows.values())


def _refuse_unread_corpora(config: Config, task: str, rung: Rung) -> None:
    """The rung's `corpora` and `recipes_at` name corpora that an ablation names, or may: those of the catalogue."""
    named = {corpus for name in known_ablations() for corpus in load_ablation(name).corpora}
    where = f"in config/rungs/{config.rung}/{task}.yaml"
    for paper in rung.recipes_at:
        refuse_unknown(f"paper {where}, recipes_at:", paper, PAPERS)
    recipes_at = [key for corpora in rung.recipes_at.values() for key in corpora]
    for part, keys in {"corpora": rung.corpora, "recipes_at": recipes_at}.items():
        for key in keys:
            refuse_unknown(f"corpus {where}, {part}:", key, named | set(load_corpora(task).choices))


def _refuse_unknown_corpus(config: Config, rungs: dict[str, Rung]) -> None:
    catalogues = [load_corpora(task) for task in rungs]
    if config.corpus and not any(one.knows(config.corpus) for one in catalogues):
        refuse_unknown("data set", config.corpus, [name for one in catalogues for name in one.choices])


def _rows(name: str, ablation: Ablation, rung: Rung, config: Config):
    """The rows of one ablation; the config's corpus, where its task can read it, is read in place of the rung's."""
    corpora, corpus = load_corpora(ablation.task), config.corpus
    places = [place for place in ablation.corpora if rung.corpora.get(place, place) is not None]
    for place, (label, variant) in product(places, ablation.variants.items()):
        text = corpus if corpus and corpora.knows(corpus) else rung.corpora.get(place, place)
        who = {"ablation": name, "paper": ablation.paper, "variant": label, "corpus": place, "text": text}
        read = {"corpus": corpora.slug(text), "checksum": corpora.checksum(text, config.data_dir)}
        try:
            for S, k, job in _jobs_of(variant, ablation, rung, place, read):
                yield Asked(**who, S=S, k=k, job=job)
        except Refused as refused:
            raise Refused(f"ablation {name}, variant {label}, rung {rung.rung}: {refused}") from None


def _jobs_of(variant: Variant, ablation: Ablation, rung: Rung, place: str, read: dict):
    """(S, k, job) over the grid of one variant on one corpus."""
    recipe, task = rung.recipe(variant.recipe, ablation.paper, place), ablation.task
    given = {
        "net": {**scaled(recipe.net, variant.times), **variant.net},
        "training": {**rung.training, **recipe.training, **variant.training},
        "evaluation": {**rung.evaluation, **recipe.evaluation},
    }
    shared = {name: parse(section(task, name), content, name) for name, content in given.items()}
    spans = _values(variant.S if variant.S is not None else ablation.grid.S, rung.S, "S")
    tops = _values(variant.k if variant.k is not None else ablation.grid.k, rung.k, "k")
    for S, k, seed in product(spans, tops, rung.seeds[: ablation.seeds]):
        attention = attention_of(variant, recipe, rung, S, k, section(task, "attention"))
        job = {"rung": rung.rung, "task": task, **read, "attention": attention, **shared, "seed": seed}
        yield S, attention.selection.get("k"), parse(JOBS[task], job, "job")


def scaled(net: dict, times: dict[str, float]) -> dict:
    """The sizes of a recipe's net, some of them multiplied: a paper's variation at the size of the rung."""
    for key in times:
        refuse_unknown("size in times", key, [name for name, value in net.items() if type(value) is int])
    sizes = {key: round(net[key] * factor) for key, factor in times.items()}
    for key, size in sizes.items():
        if size < 1 or abs(size - net[key] * times[key]) > 0.01:
            raise Refused(f"times: {key} = {net[key]} x {times[key]:g} is no whole number")
    return {**net, **sizes}


def attention_of(variant: Variant, recipe: Recipe, rung: Rung, S, k, model: type[Attention]) -> Attention:
    """The four choices of a variant: its own, else its recipe's, with the settings of rung and grid (S, k or None)."""
    grid = {"limit": S, "k": k}
    offered = {**rung.settings, **recipe.settings, **rung.settings_at.get(S, {})}
    offered |= {key: value for key, value in grid.items() if value is not None}
    default = {"selection": "all", "normaliser": "softmax", **recipe.attention}
    for axis in default:
        refuse_unknown("axis", axis, AXES)
    choices = {axis: getattr(variant, axis) or default.get(axis) for axis in AXES}
    made = {axis: fill(axis, choice, offered) for axis, choice in choices.items()}
    return parse(model, made if variant.at is None else {**made, "at": variant.at}, "attention")


def _values(asked, offered: list[int], key: str) -> list:
    """`all`, `max`, `min`, a number, or a list of numbers, against what the rung offers."""
    if isinstance(asked, str):
        named = {"all": offered, "max": offered[-1:], "min": offered[:1]}
        refuse_unknown(f"value of {key}", asked, named)
        return named[asked]
    return asked if isinstance(asked, list) else [asked]
