"""How the config becomes jobs. Pure: no torch, nothing written.

config -> `plan` -> one `Asked` per (ablation, variant, corpus, S, k, seed). Two ablations that ask for
the same job share its digest, and so its run.
"""

from itertools import product

from workflow.choices import AXES, Refused, fill, refuse_unknown
from workflow.closed import parse
from workflow.corpora.catalogue import Catalogue
from workflow.jobs import Attention, Closed, Evaluation, Job, Net, Training
from workflow.settings import Ablation, Config, Rung, Variant, known_ablations, load_ablation, load_corpora


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


def plan(config: Config) -> list[Asked]:
    """Every job that the config asks for, in a stable order."""
    rung, corpora = config.load_rung(), load_corpora()
    _refuse_unread_corpora(config, rung, corpora)
    rows = {}
    for name, ablation in config.load_ablations().items():
        for row in _rows(name, ablation, rung, corpora, config.corpus):
            # a variant without S or k appears once however large the grid is
            rows.setdefault((name, row.variant, row.corpus, row.job.digest), row)
    if not rows:
        raise Refused(f"papers: no ablation asked for belongs to {', '.join(config.papers)}; see config/ablations/")
    return list(rows.values())


def _refuse_unread_corpora(config: Config, rung: Rung, corpora: Catalogue) -> None:
    """A key of the rung's `corpora` is a corpus that an ablation names, or may name: one of the catalogue."""
    named = {corpus for name in known_ablations() for corpus in load_ablation(name).corpora}
    for key in rung.corpora:
        refuse_unknown(f"corpus in config/rungs/{config.rung}.yaml, corpora:", key, named | set(corpora.corpora))


def _rows(name: str, ablation: Ablation, rung: Rung, corpora: Catalogue, corpus: str | None):
    """The rows of one ablation; `corpus`, where given, is read in place of the rung's texts."""
    for place, (label, variant) in product(ablation.corpora, ablation.variants.items()):
        text = corpus or rung.corpora.get(place, place)
        who = {"ablation": name, "paper": ablation.paper, "variant": label, "corpus": place, "text": text}
        read = {"corpus": corpora.slug(text), "checksum": corpora.checksum(text)}
        try:
            for S, k, job in _jobs_of(variant, ablation, rung, read):
                yield Asked(**who, S=S, k=k, job=job)
        except Refused as refused:
            raise Refused(f"ablation {name}, variant {label}, rung {rung.rung}: {refused}") from None


def _jobs_of(variant: Variant, ablation: Ablation, rung: Rung, read: dict):
    """(S, k, job) over the grid of one variant on one corpus."""
    refuse_unknown("recipe", variant.recipe, rung.recipes)
    recipe = rung.recipes[variant.recipe]
    shared = {
        "net": parse(Net, recipe.net, "net"),
        "training": parse(Training, {**rung.training, **recipe.training}, "training"),
        "evaluation": parse(Evaluation, {**rung.evaluation, **recipe.evaluation}, "evaluation"),
    }
    spans = _values(variant.S if variant.S is not None else ablation.grid.S, rung.S, "S")
    tops = _values(variant.k if variant.k is not None else ablation.grid.k, rung.k, "k")
    for S, k, seed in product(spans, tops, rung.seeds):
        attention = attention_of(variant, rung, S, k)
        job = {"rung": rung.rung, "task": "char_lm", **read, "attention": attention, **shared, "seed": seed}
        yield S, attention.selection.get("k"), parse(Job, job, "job")


def attention_of(variant: Variant, rung: Rung, S: int | None, k: int | None) -> Attention:
    """The four choices of a variant: its own, else its recipe's, with the settings of rung and grid."""
    recipe = rung.recipes[variant.recipe]
    grid = {"limit": S, "k": k}
    offered = {**rung.settings, **recipe.settings, **rung.settings_at.get(S, {})}
    offered |= {key: value for key, value in grid.items() if value is not None}
    default = {"selection": "all", "normaliser": "softmax", **recipe.attention}
    for axis in default:
        refuse_unknown("axis", axis, AXES)
    choices = {axis: getattr(variant, axis) or default.get(axis) for axis in AXES}
    return parse(Attention, {axis: fill(axis, choice, offered) for axis, choice in choices.items()}, "attention")


def _values(asked, offered: list[int], key: str) -> list:
    """`all`, `max`, `min`, a number, or a list of numbers, against what the rung offers."""
    if isinstance(asked, str):
        named = {"all": offered, "max": offered[-1:], "min": offered[:1]}
        refuse_unknown(f"value of {key}", asked, named)
        return named[asked]
    return asked if isinstance(asked, list) else [asked]
