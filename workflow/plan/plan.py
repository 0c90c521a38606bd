"""Turn the configuration into rows, and keep the comparison of variants fair.

Pure: no torch, nothing written. `plan` yields one `PlanRow` per (question, variant, corpus, S, k,
size, seed), and per trial. Two questions that ask for the same job share its digest, and so its
run. A configuration has all the seeds that any question asks for.

A difference between variants of a question may come from how they were trained. So `refuse_unnamed`
finds the training settings in which they differ although the question does not name them: a variant
names a setting by its own `training`, or by trials that choose it. A recipe names nothing: it
belongs to the scale, and a question does not see it.

The trials of a question (`tuned`) give each variant as many, with a tuning seed; each variant is
then run again as its best trial says.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from workflow.config.errors import ConfigError, check_known
from workflow.config.files import ROOT
from workflow.config.places import find, place_of_name, placed, words_of
from workflow.config.strict import parse_python, read_yaml
from workflow.config.studies import shown_path, study_file
from workflow.config.trials import every_trial
from workflow.plan import sources
from workflow.plan.jobs import Dataset, cells_of, refuse_idle
from workflow.plan.planned_runs import PlanRow
from workflow.plan.reads import names_in
from workflow.results.store import own_store
from workflow.settings.config import Setup
from workflow.settings.questions import Question
from workflow.settings.scales import Scale, places_of_settings, scale_contents
from workflow.tasks.catalogue import BaseCatalogue
from workflow.tasks.spec import TASKS, AnyJob
from workflow.tasks.task import COST_FUNCTIONS

# how a run is organised: what a network learns does not depend on it
ORGANISATION = {"devices", "threads", "time_limit_s", "evaluate_every", "checkpoint_every"}


@dataclass(frozen=True)
class Trained:
    """How one run of a question's recipes was trained.

    compared_within: the paper's corpus, whose recipe it follows, and its size; variants are
    compared where both are equal. training: that section of its job.
    """

    variant: str
    compared_within: tuple[str, float]
    training: dict[str, object]


def unnamed_settings(
    question: Question, runs: Iterable[Trained], tuned: bool
) -> dict[str, dict[str, object]]:
    """Map each training setting that differs and is not named to its value in each variant that
    does not name it.

    tuned: whether the trials of the question are run, so that they choose the settings that they
    try.
    """
    values: dict[tuple, dict[str, object]] = defaultdict(dict)
    for run in runs:
        _, size = run.compared_within
        # trials are run at the scale's own size alone
        named = _named_by(question, run.variant, tuned and size == 1)
        for setting in run.training.keys() - named - ORGANISATION:
            values[setting, run.compared_within][run.variant] = run.training[setting]
    differing: dict[str, dict[str, object]] = {}
    for (setting, _), by_variant in sorted(values.items(), key=lambda item: item[0]):
        if _first_other(by_variant) is not None:
            differing.setdefault(setting, by_variant)
    return differing


def _named_by(question: Question, variant: str, tuned: bool) -> set[str]:
    """Collect the training settings that a variant sets itself, or that its trials choose."""
    asked = question.variants[variant]
    named = set(asked.training)
    if tuned:
        named.update(asked.trials or question.trials or ())
    return named


def refuse_unnamed(question: Question, rows: list[PlanRow], scale: Scale) -> None:
    """Raise `ConfigError` where variants differ in an unnamed setting, unless the scale follows the
    papers' recipes.

    rows: those of the question's recipes at every size, without trials.
    """
    if scale.follows_papers:
        return
    runs = []
    for row in rows:
        within = (row.paper_corpus, row.size)
        runs.append(Trained(row.variant, within, row.job.training.model_dump()))
    differing = unnamed_settings(question, runs, tuned=scale.trial_seed is not None)
    if differing:
        in_words = [_in_words(setting, values) for setting, values in differing.items()]
        settings = " and ".join(in_words)
        place = f"config/scales/{scale.scale}/{question.task}.yaml"
        raise ConfigError(
            f"variants differ in {settings}, which the question does not vary; valid: one value "
            f"for all recipes of {place}, or `training` of a variant that sets it"
        )


def _in_words(setting: str, values: dict[str, object]) -> str:
    """Write the value of the first variant, and that of the first one that differs.

    >>> _in_words("warmup", {"fixed": 100, "adaptive": 100, "xl": 0})
    'warmup (fixed: 100, xl: 0)'
    """
    first = next(iter(values))
    other = _first_other(values)
    return f"{setting} ({first}: {values[first]}, {other}: {values[other]})"


def _first_other(values: dict[str, object]) -> str | None:
    """Return the first variant whose value is not that of the first of all; None where all are
    equal.
    """
    expected = next(iter(values.values()))
    for variant, value in values.items():
        if value != expected:
            return variant
    return None


def is_untuned(question: Question, scale: Scale) -> bool:
    """Say whether a question has trials that this scale does not run, for want of a seed."""
    return question.trials is not None and scale.trial_seed is None


def tuned(question: Question, rows: list[PlanRow], seed: int) -> Iterator[PlanRow]:
    """Yield the trials of a question's variants, and its own runs again, each following the trials
    of its variant.

    A variant is tried on its first text, at its largest S and k: what is chosen there holds for it
    everywhere. rows: those of the recipe, in the order of the grid. seed: of the trials.
    `ConfigError` where they are too many for so few seeds.
    """
    by_variant: dict[str, list[PlanRow]] = defaultdict(list)
    for row in rows:
        by_variant[row.variant].append(row)
    trials = {}
    for name, mine in by_variant.items():
        trials[name] = _trials_of(question, name, mine, seed)
    tried = sum(map(len, trials.values()))
    most = len(rows) // 2  # a fifth of rows, as many tuned, and the trials
    if tried > most:
        seeds = len({row.job.seed for row in rows})
        enough = math.ceil(2 * tried * seeds / len(rows))
        valid = f"at most {most} (a fifth of all runs), or {enough} seeds instead of {seeds}"
        raise ConfigError(f"trials: {tried} trials for {2 * len(rows)} other runs; valid: {valid}")
    for name, mine in by_variant.items():
        yield from trials[name]
        follows = {trial.job.digest: trial.factors for trial in trials[name]}
        for row in mine:
            job = row.job.model_copy(update={"trials": follows})
            yield row.model_copy(update={"tuning": "tuned", "job": job})


def _trials_of(question: Question, name: str, rows: list[PlanRow], seed: int) -> list[PlanRow]:
    """List the trials of a variant."""
    own = every_trial(question.variants[name].trials or question.trials)
    alike = len(every_trial(question.trials))
    if len(own) != alike:
        raise ConfigError(
            f"trials of {name}: {len(own)}, the others have {alike}; valid: the same number for all"
        )
    first = [row for row in rows if row.paper_corpus == rows[0].paper_corpus]
    last = first[-1]  # the grid rises
    trials = []
    for factors in own:
        job = last.job.varied(factors, seed=seed)
        changes = {"tuning": "trial", "factors": factors, "job": job}
        trials.append(last.model_copy(update=changes))
    return trials


def plan(setup: Setup, missing: dict[str, str] | None = None) -> list[PlanRow]:
    """List every job that the config asks for, in a stable order.

    missing: collects the datasets that are not available, with the reason; their jobs lack only the
    checksum and serve for estimates. Without `missing` such a dataset is refused.
    """
    config = setup.config
    for task in setup.scales:
        _check_named(task)
        _check_corpora_named(setup, task)
    if config.corpus is not None:
        setup.task_of_corpus(config.corpus)
    rows: dict[tuple, PlanRow] = {}
    for name, question in setup.asked.items():
        for row in _rows(name, question, setup, missing):
            # a variant without S or k appears once however large the grid is
            rows.setdefault((name, row.variant, row.paper_corpus, row.job.digest), row)
    if not rows:
        raise ConfigError(_why_none(setup))
    if config.corpus is not None and all(row.corpus != config.corpus for row in rows.values()):
        task = setup.task_of_corpus(config.corpus)
        raise ConfigError(
            f"corpus '{config.corpus}': a dataset of task {task}, which no chosen question uses"
        )
    every = _with_every_seed(rows.values())
    return _recorded(every, config.scale) if config.train == "nothing" else every


def _why_none(setup: Setup) -> str:
    """Say why there is no row: no question, or nothing of the scale for those there are."""
    if setup.asked:
        names = ", ".join(setup.asked)
        scale = f"config/scales/{setup.config.scale}/"
        return (
            f"questions {names}: no corpus or no variant for them; see corpora, variants in {scale}"
        )
    papers = ", ".join(setup.config.papers or ["any paper"])
    return (
        f"papers: no chosen question belongs to {papers}; "
        "see studies/*/questions/, and the config's tasks"
    )


def _with_every_seed(rows: Iterable[PlanRow]) -> list[PlanRow]:
    """Give each configuration all seeds that any question asks for: all pages say the same of it.

    Trials come last, with the tuning seed.
    """
    judged = []
    trials = []
    for row in rows:
        (trials if row.tuning == "trial" else judged).append(row)
    # by configuration, the job of each seed
    jobs: dict[str, dict[str, AnyJob]] = {}
    for row in judged:
        jobs.setdefault(row.job.configuration, {}).setdefault(row.job.digest, row.job)
    first: dict[tuple, PlanRow] = {}
    for row in judged:
        asked = (row.question, row.variant, row.paper_corpus, row.job.configuration)
        first.setdefault(asked, row)
    seeded = []
    for row in first.values():
        for job in jobs[row.job.configuration].values():
            seeded.append(row.model_copy(update={"job": job}))
    return [*seeded, *trials]


def _recorded(rows: list[PlanRow], scale: str) -> list[PlanRow]:
    """Keep the rows whose record is precomputed or was trained here before."""
    records = own_store()
    kept = [row for row in rows if row.job.digest in records]
    if not kept:
        raise ConfigError(
            f"train = 'nothing': no run of scale {scale} is precomputed or was trained here"
        )
    return kept


def _check_named(task: str) -> None:
    """Refuse a task whose specification names code that does not exist.

    The code itself is imported by runs alone.
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


def _check_corpora_named(setup: Setup, task: str) -> None:
    """Refuse a corpus of the scale that neither a question nor the catalogue names."""
    scale = setup.scales[task]
    catalogue = setup.catalogues[task]
    named: set[str] = set()
    for question in setup.known.values():
        named.update(question.corpora)
    parts = {"corpora": scale.corpora, "recipes_at": scale.recipes_at}
    for name, recipes in scale.recipes_of.items():
        parts[f"recipes_of, {name}"] = recipes
    for part, corpora in parts.items():
        what = f"corpus in config/scales/{scale.scale}/{task}.yaml, {part}:"
        for corpus in corpora:
            try:
                check_known(what, corpus, named | set(catalogue.choices(corpus)))
            except ConfigError as error:
                raise place_of_name(error, *scale_contents(scale.scale, task)) from None


def _rows(
    name: str, question: Question, setup: Setup, missing: dict[str, str] | None
) -> list[PlanRow]:
    """List the rows of one question: those of the recipe, then its trials and what follows them."""
    scale = setup.scales[question.task]
    rows = list(_rows_of_recipe(name, question, setup, missing))
    try:
        refuse_unnamed(question, rows, scale)
        if not rows or question.trials is None or is_untuned(question, scale):
            return rows
        own_size = [row for row in rows if row.size == 1]
        return [*rows, *tuned(question, own_size, scale.trial_seed)]
    except ConfigError as error:
        if error.is_placed:
            raise
        raise ConfigError(f"question {name}, scale {scale.scale}: {error}") from None


def _rows_of_recipe(
    name: str, question: Question, setup: Setup, missing: dict[str, str] | None
) -> Iterator[PlanRow]:
    """Yield the rows of the recipe, corpus by corpus and variant by variant."""
    scale = setup.scales[question.task]
    catalogue = setup.catalogues[question.task]
    variants = scale.variants.get(name, question.variants)
    stand_ins, recipes_of = _corpora(question, setup)
    for paper_corpus, corpus in stand_ins.items():
        if corpus is None:
            continue
        for called, variant in question.variants.items():
            if called not in variants:
                continue
            if not catalogue.knows(corpus):
                _refuse_unknown_corpus(name, question, scale, corpus, catalogue)
            checksum = _checksum(catalogue, corpus, setup.config.data_dir, missing)
            data = Dataset(catalogue.slug(corpus), checksum)
            try:
                recipe = scale.recipe(variant.recipe, name, recipes_of[paper_corpus])
                cells = list(cells_of(variant, recipe, question, scale, data))
                most = catalogue.most_keys(corpus, cells[0].job)
                refuse_idle([cell.job.attention for cell in cells], most)
            except ConfigError as error:
                raise _of_variant(error, name, question, called, scale) from None
            for cell in cells:
                yield PlanRow(
                    question=name,
                    paper=question.paper,
                    variant=called,
                    paper_corpus=paper_corpus,
                    corpus=corpus,
                    S=cell.S,
                    k=cell.k,
                    label=variant.label,
                    colour=variant.colour,
                    baseline=variant.baseline,
                    size=cell.size,
                    job=cell.job,
                )


def _corpora(
    question: Question, setup: Setup
) -> tuple[dict[str, str | None], dict[str, str | None]]:
    """Map each corpus of a question to what is read in its place, and to the one with its recipe.

    The config's own corpus replaces the scale's if the task can read it.
    """
    scale = setup.scales[question.task]
    stand_ins = {corpus: scale.corpora.get(corpus, corpus) for corpus in question.corpora}
    custom = setup.config.corpus
    if custom is None or not setup.catalogues[question.task].knows(custom):
        return stand_ins, {corpus: corpus for corpus in stand_ins}
    replaced = {corpus: stand_in and custom for corpus, stand_in in stand_ins.items()}
    first = next((corpus for corpus in replaced if replaced[corpus]), None)
    return replaced, dict.fromkeys(replaced, first)


def _refuse_unknown_corpus(
    name: str, question: Question, scale: Scale, corpus: str, catalogue: BaseCatalogue
) -> None:
    """Raise `ConfigError` with the place where scale or question names an unknown dataset."""
    what = f"dataset of question {name}, scale {scale.scale}:"
    try:
        check_known(what, corpus, catalogue.choices(corpus))
    except ConfigError as error:
        content = read_yaml(study_file("questions", name))
        raise place_of_name(error, content, *scale_contents(scale.scale, question.task)) from None


def _of_variant(
    error: ConfigError, name: str, question: Question, called: str, scale: Scale
) -> ConfigError:
    """Begin an error about a variant with the line of the setting that it names.

    That is a setting of the variant or of the scale; for anything else, the line of the variant. An
    error that has its place already stays as it is.
    """
    if error.is_placed:
        return error
    where = f"question {name}, variant {called}, scale {scale.scale}"
    line = str(error)
    path = study_file("questions", name)
    content = read_yaml(path)
    own = _setting_named(content["variants"][called], line)
    of_scale = {} if own else places_of_settings(scale.scale, question.task, line)
    if not of_scale:
        place = find(content, ["variants", called, *own])
        return placed(line, f"{shown_path(path)}: {where}", place)
    first, *others = of_scale.items()
    if others:
        line += f" ({'; '.join(f'{key}: {place}' for key, place in others)})"
    return placed(line, where, first[1])


def _setting_named(variant: dict, line: str) -> tuple[str, ...]:
    """Find the first setting of a variant that a line names: its section and key, or nothing."""
    words = words_of(line)
    for part in ("net", "training", "times"):
        for key in variant.get(part) or {}:
            if key in words:
                return part, key
    return ()


def _checksum(
    catalogue: BaseCatalogue, corpus: str, data_dir: str | None, missing: dict[str, str] | None
) -> str:
    """Return the checksum of a dataset; a custom corpus must be there, even for a mere plan."""
    try:
        return catalogue.checksum(corpus, data_dir)
    except ConfigError as error:
        if missing is None or corpus not in catalogue.entries:
            raise
        missing[corpus] = str(error)
        return "not at hand"
