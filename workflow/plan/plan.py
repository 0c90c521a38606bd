"""Turn the config into jobs. Pure: no torch, nothing written.

config -> `plan` -> one `PlanRow` per (question, variant, corpus, S, k, size, seed), and per trial.
Two questions that ask for the same job share its digest, and so its run. A configuration has all
the seeds that either asks for.
"""

from itertools import product

from workflow.config.choices import AttentionChoices
from workflow.config.errors import ConfigError, check_known
from workflow.config.files import ROOT
from workflow.config.places import find, place_of_name, placed, words_of
from workflow.config.strict import parse, parse_python, read_yaml
from workflow.config.studies import shown_path, study_file
from workflow.plan import sources
from workflow.plan.config import Config
from workflow.plan.questions import Question, Variant, known_questions, load_question
from workflow.plan.reads import names_in
from workflow.plan.row import PlanRow
from workflow.plan.same_training import refuse_unnamed
from workflow.plan.scales import (
    Recipe,
    Scale,
    find_catalogue,
    load_corpora,
    places_of_settings,
    scale_contents,
)
from workflow.plan.sizes import grown
from workflow.plan.tuning import is_untuned, tuned
from workflow.plan.variant import attention_of, grid_values, scaled
from workflow.results.store import own_store
from workflow.tasks.catalogue import BaseCatalogue
from workflow.tasks.spec import JOBS, TASKS, AnyJob, section
from workflow.tasks.task import COST_FUNCTIONS


def plan(config: Config, missing: dict[str, str] | None = None) -> list[PlanRow]:
    """List every job that the config asks for, in a stable order.

    missing: collects the datasets that are not available, with the reason; their jobs lack only the
    checksum and serve for estimates. Without `missing` such a dataset is refused.
    """
    scales, rows = config.load_scales(), {}
    for task, scale in scales.items():
        _check_named(task)
        _check_corpora_named(config, task, scale)
    if config.corpus is not None:
        task, _ = find_catalogue(config.corpus, scales)
    for name, question in config.load_questions().items():
        for row in _rows(name, question, scales[question.task], config, missing):
            # a variant without S or k appears once however large the grid is
            rows.setdefault((name, row.variant, row.paper_corpus, row.job.digest), row)
    if not rows:
        raise ConfigError(_why_none(config))
    if config.corpus is not None and not any(row.corpus == config.corpus for row in rows.values()):
        raise ConfigError(
            f"corpus '{config.corpus}': a dataset of task {task}, which no chosen question uses"
        )
    every = _with_every_seed(list(rows.values()))
    return _recorded(every, config) if config.train == "nothing" else every


def _why_none(config: Config) -> str:
    if names := [*config.load_questions()]:
        places = f"no corpus or no variant for them; see corpora, variants in config/scales/{config.scale}/"
        return f"questions {', '.join(names)}: {places}"
    papers = ", ".join(config.papers or ["any paper"])
    return f"papers: no chosen question belongs to {papers}; see studies/*/questions/, and the config's tasks"


def _with_every_seed(rows: list[PlanRow]) -> list[PlanRow]:
    """Give each configuration all seeds that any question asks for, so that all pages say the same
    of it.

    Trials come last, with the seed that judges nothing.
    """
    jobs: dict[str, dict[str, AnyJob]] = {}
    judged, trials = (
        [row for row in rows if row.tuning != "trial"],
        [row for row in rows if row.tuning == "trial"],
    )
    for row in judged:
        jobs.setdefault(row.job.configuration, {}).setdefault(row.job.digest, row.job)
    first: dict[tuple, PlanRow] = {}
    for row in judged:
        first.setdefault((row.question, row.variant, row.paper_corpus, row.job.configuration), row)
    seeded = [(row, job) for row in first.values() for job in jobs[row.job.configuration].values()]
    return [*(row.model_copy(update={"job": job}) for row, job in seeded), *trials]


def _recorded(rows: list[PlanRow], config: Config) -> list[PlanRow]:
    """Keep the rows whose record is precomputed or was trained here before."""
    records = own_store()
    kept = [row for row in rows if row.job.digest in records]
    if not kept:
        raise ConfigError(
            f"train = 'nothing': no run of scale {config.scale} is precomputed or was trained here"
        )
    return kept


def _check_named(task: str) -> None:
    """Refuse a task whose specification names code that is not there; the code itself is imported
    by runs alone.
    """
    for field in ("runner", "write_corpus", "costs"):
        dotted = getattr(TASKS[task], field)
        module, _, attribute = dotted.partition(":")
        where = f"workflow/tasks/{task}/__init__.py: {field} = '{dotted}'"
        file = sources.file_of(dotted)
        if not (ROOT / file).is_file():
            raise ConfigError(f"{where}: there is no {file}")
        defined = names_in(parse_python(ROOT / file))
        for name in [attribute] if attribute else COST_FUNCTIONS:
            check_known(f"name in {where}: {module} lacks", name, defined)


def _check_corpora_named(config: Config, task: str, scale: Scale) -> None:
    """Refuse a corpus of the scale that neither a question nor the catalogue names."""
    named = {corpus for name in known_questions() for corpus in load_question(name).corpora}
    where = f"in config/scales/{config.scale}/{task}.yaml"
    parts = {"corpora": scale.corpora, "recipes_at": scale.recipes_at}
    parts |= {f"recipes_of, {name}": recipes for name, recipes in scale.recipes_of.items()}
    for part, corpora in parts.items():
        for corpus in corpora:
            try:
                check_known(
                    f"corpus {where}, {part}:",
                    corpus,
                    named | set(load_corpora(task).choices(corpus)),
                )
            except ConfigError as error:
                raise place_of_name(error, *scale_contents(config.scale, task)) from None


def _rows(
    name: str, question: Question, scale: Scale, config: Config, missing: dict[str, str] | None
):
    """List the rows of one question: those of the recipe, then its trials and what follows them."""
    rows = list(_rows_of_recipe(name, question, scale, config, missing))
    try:
        refuse_unnamed(question, rows, scale)
        if not rows or question.trials is None or is_untuned(question, scale):
            return rows
        return [*rows, *tuned(question, [row for row in rows if row.size == 1], scale.trial_seed)]
    except ConfigError as error:
        raise (
            error
            if error.is_placed
            else ConfigError(f"question {name}, scale {scale.scale}: {error}")
        ) from None


def _rows_of_recipe(
    name: str, question: Question, scale: Scale, config: Config, missing: dict[str, str] | None
):
    """Yield those of the recipe; the config's own corpus replaces the scale's where the task can
    read it.
    """
    catalogue = load_corpora(question.task)
    stand_ins = {corpus: scale.corpora.get(corpus, corpus) for corpus in question.corpora}
    recipes_of = dict(zip(stand_ins, stand_ins, strict=True))
    if config.corpus is not None and catalogue.knows(config.corpus):
        stand_ins = {corpus: stand_in and config.corpus for corpus, stand_in in stand_ins.items()}
        recipes_of = dict.fromkeys(
            stand_ins, next((corpus for corpus in stand_ins if stand_ins[corpus]), None)
        )
    for (paper_corpus, corpus), (called, variant) in product(
        stand_ins.items(), question.variants.items()
    ):
        if corpus is None or called not in scale.variants.get(name, question.variants):
            continue
        about = {"question": name, "paper": question.paper, "variant": called}
        about |= {"paper_corpus": paper_corpus, "corpus": corpus}
        about |= {"label": variant.label, "colour": variant.colour, "baseline": variant.baseline}
        if not catalogue.knows(corpus):
            _refuse_unknown_corpus(name, question, scale, corpus, catalogue)
        data = {
            "corpus": catalogue.slug(corpus),
            "checksum": _checksum(catalogue, corpus, config, missing),
        }
        try:
            recipe = scale.recipe(variant.recipe, name, recipes_of[paper_corpus])
            cells = list(_jobs_of(variant, recipe, question, scale, data))
            _refuse_idle(
                [job.attention for *_, job in cells], catalogue.most_keys(corpus, cells[0][-1])
            )
            yield from (PlanRow(**about, size=size, S=S, k=k, job=job) for size, S, k, job in cells)
        except ConfigError as error:
            where = f"question {name}, variant {called}, scale {scale.scale}"
            raise _of_variant(error, where, name, called, scale) from None


def _refuse_unknown_corpus(
    name: str, question: Question, scale: Scale, corpus: str, catalogue: BaseCatalogue
) -> None:
    """Raise `ConfigError` with the place where the scale, or the question, names a dataset that is
    not there.
    """
    try:
        check_known(
            f"dataset of question {name}, scale {scale.scale}:", corpus, catalogue.choices(corpus)
        )
    except ConfigError as error:
        content = read_yaml(study_file("questions", name))
        raise place_of_name(error, content, *scale_contents(scale.scale, question.task)) from None


def _of_variant(
    error: ConfigError, where: str, name: str, called: str, scale: Scale
) -> ConfigError:
    """Begin an error about a variant with the line of what it names: a setting of the variant, or
    of the scale.

    Of anything else with the line of the variant. An error that says its place already stays as it
    is.
    """
    if error.is_placed:
        return error
    path, line = study_file("questions", name), str(error)
    content = read_yaml(path)
    given = [
        (part, key)
        for part in ("net", "training", "times")
        for key in content["variants"][called].get(part) or {}
    ]
    own = [each for each in given if each[1] in words_of(line)]
    of_scale = {} if own else places_of_settings(scale.scale, load_question(name).task, line)
    if of_scale:
        others = "; ".join(f"{key}: {place}" for key, place in [*of_scale.items()][1:])
        return placed(
            f"{line}{f' ({others})' if others else ''}", where, next(iter(of_scale.values()))
        )
    return placed(
        line,
        f"{shown_path(path)}: {where}",
        find(content, ["variants", called, *next(iter(own), ())]),
    )


def _checksum(
    catalogue: BaseCatalogue, corpus: str, config: Config, missing: dict[str, str] | None
) -> str:
    """Return the checksum of a dataset; a text of the user's own must be there, even for a mere
    plan.
    """
    try:
        return catalogue.checksum(corpus, config.data_dir)
    except ConfigError as error:
        if missing is None or corpus not in catalogue.entries:
            raise
        missing[corpus] = str(error)
        return "not at hand"


def _jobs_of(variant: Variant, recipe: Recipe, question: Question, scale: Scale, data: dict):
    """Yield (size, S, k, job) over the grid of one variant on one corpus. recipe: the variant's,
    for the corpus.
    """
    task = question.task
    contents = {
        "net": {**scaled(recipe.net, variant.times), **variant.net},
        "training": {**scale.training, **recipe.training, **variant.training},
        "evaluation": {**scale.evaluation, **recipe.evaluation},
    }
    models = {name: section(task, name) for name in contents}
    places = {f"under {name}": model for name, model in models.items()}
    sized = {size: grown(contents, size) for size in question.sizes}
    sections = {
        size: {
            name: parse(models[name], content, name, elsewhere=places)
            for name, content in each.items()
        }
        for size, each in sized.items()
    }
    limits = [S for S in scale.S if variant.largest_S is None or variant.largest_S >= S]
    spans = grid_values(variant.S if variant.S is not None else question.grid.S, limits, "S")
    counts = grid_values(variant.k if variant.k is not None else question.grid.k, scale.k, "k")
    if len(sections) > 1 and len(spans) * len(counts) > 1:
        raise ConfigError(
            f"sizes: with several sizes a variant has one S and one k, got S = {spans}, k = {counts}"
        )
    for size, S, k, seed in product(sections, spans, counts, scale.seeds[: question.seeds]):
        attention = attention_of(variant, recipe, scale, S, k, section(task, "attention"))
        job = {
            "scale": scale.scale,
            "task": task,
            **data,
            "attention": attention,
            **sections[size],
            "seed": seed,
        }
        yield size, S, attention.selection.get("k"), parse(JOBS[task], job, "job")


def _refuse_idle(choices: list[AttentionChoices], most: int) -> None:
    """Refuse an S beyond the `most` keys that there are, and a k that drops none at any S of a
    variant.

    At the smaller S of a grid k may keep all keys: they stand beside the larger.
    """
    widest = max(each.span.get("limit", most) for each in choices)
    if widest > most:
        raise ConfigError(
            f"S = {widest}: a query sees at most {most} keys here; valid: 1 to {most}"
        )
    k = max(each.selection.get("k", 1) for each in choices)
    if k > widest:
        raise ConfigError(
            f"k = {k} keeps all keys, because a query sees at most {widest} here; valid: 1 to {widest}"
        )
