"""How the config becomes jobs. Pure: no torch, nothing written.

config -> `plan` -> one `Asked` per (ablation, variant, corpus, S, k, seed). Two ablations that ask for
the same job share its digest, and so its run.
"""

from itertools import product

from workflow.choices import AXES, fill, refuse_unknown
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


def _values(asked, offered: list[int], key: str) -> list:
    """`all`, `max`, `min`, a number, or a list of numbers, against what the rung offers."""
    named = {"all": offered, "max": offered[-1:], "min": offered[:1], None: [None]}
    if isinstance(asked, str):
        refuse_unknown(f"value of {key}", asked, ("all", "max", "min"))
    if asked is None or isinstance(asked, str):
        return named[asked]
    return asked if isinstance(asked, list) else [asked]


def attention_of(variant: Variant, rung: Rung, S: int | None, k: int | None) -> Attention:
    """The four choices of a variant: its own, else its recipe's, with the settings of rung and grid."""
    recipe = rung.recipes[variant.recipe]
    offered = {**rung.settings, **recipe.settings, **rung.settings_at.get(S, {})}
    if S is not None:
        offered["limit"] = S
    if k is not None:
        offered["k"] = k
    default = {"selection": "all", "normaliser": "softmax", **recipe.attention}
    choices = {axis: getattr(variant, axis) or default.get(axis) for axis in AXES}
    return Attention(**{axis: fill(axis, choice, offered) for axis, choice in choices.items()})


def _jobs_of(variant: Variant, ablation: Ablation, rung: Rung, corpus: str, checksum: str):
    """(S, k, seed, job) over the grid of one variant on one corpus."""
    refuse_unknown("recipe", variant.recipe, rung.recipes)
    recipe = rung.recipes[variant.recipe]
    spans = _values(variant.S if variant.S is not None else ablation.grid.S, rung.S, "S")
    tops = _values(variant.k if variant.k is not None else ablation.grid.k, rung.k, "k")
    for S, k, seed in product(spans, tops, rung.seeds):
        attention = attention_of(variant, rung, S, k)
        yield (
            S,
            attention.selection.get("k"),
            Job(
                rung=rung.rung,
                task="char_lm",
                corpus=corpus,
                checksum=checksum,
                attention=attention,
                net=Net(**recipe.net),
                training=Training(**{**rung.training, **recipe.training}),
                evaluation=Evaluation(**{**rung.evaluation, **recipe.evaluation}),
                seed=seed,
            ),
        )


def plan(config: Config) -> list[Asked]:
    """Every job that the config asks for, in a stable order."""
    rung, corpora = config.load_rung(), load_corpora()
    rows, seen = [], set()
    for name in known_ablations():
        ablation = load_ablation(name)
        if ablation.paper not in config.papers:
            continue
        for corpus, (label, variant) in product(ablation.corpora, ablation.variants.items()):
            text = config.corpus or rung.corpora.get(corpus, corpus)
            slug, checksum = corpora.slug(text), corpora.checksum(text)
            for S, k, job in _jobs_of(variant, ablation, rung, slug, checksum):
                key = (name, label, corpus, job.digest)
                if key not in seen:  # a variant without S or k appears once however large the grid is
                    seen.add(key)
                    who = {"ablation": name, "paper": ablation.paper, "variant": label, "corpus": corpus}
                    rows.append(Asked(**who, text=text, S=S, k=k, job=job))
    return rows
