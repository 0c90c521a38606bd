"""Turn the configuration into rows: `plan` yields one for each run that a question asks for.

Pure: no torch, nothing written. There is one `PlanRow` per (question, variant, corpus, S, k, size,
seed), and per trial. Two questions that ask for the same job share its digest, and so its run. A
configuration has all the seeds that any question asks for.
"""

from collections.abc import Iterable, Iterator

from workflow.config.errors import ConfigError, check_known, shown
from workflow.config.files import ROOT
from workflow.config.places import find, place_of_name, placed, words_of
from workflow.config.strict import parse_python, read_yaml
from workflow.config.studies import shown_path, study_file, study_files
from workflow.plan import sources
from workflow.plan.jobs import Cell, Dataset, cells_of, refuse_idle
from workflow.plan.reads import names_in
from workflow.plan.rows import PlanRow
from workflow.plan.same_training import refuse_unnamed
from workflow.plan.tuning import at_other_rates, is_untuned, tuned, tuned_on_each_corpus
from workflow.results.store import own_store
from workflow.settings.battery import BASELINE, dataset_of, name_part, place_in_battery
from workflow.settings.config import Setup
from workflow.settings.questions import Question
from workflow.settings.scales import Scale
from workflow.tasks.catalogue import BaseCatalogue
from workflow.tasks.spec import TASKS, AnyJob
from workflow.tasks.task import COST_FUNCTIONS

# in place of the checksum of a dataset that is not there
NOT_AVAILABLE = "not available"


def plan(
    setup: Setup,
    missing: dict[str, str] | None = None,
    unfit: dict[str, str] | None = None,
) -> list[PlanRow]:
    """List every job that the config asks for, in a stable order.

    missing: collects the datasets that are not available, with the reason; their jobs lack only the
    checksum and serve for estimates. Without `missing` such a dataset is refused. unfit: collects
    the parts of a card that its variant cannot do, with the reason.
    """
    config = setup.config
    for task in setup.scales:
        _check_named(task)
        _check_corpora_named(setup, task)
    if config.corpus is not None:
        setup.task_of_corpus(config.corpus)
    rows: dict[tuple, PlanRow] = {}
    unfit = {} if unfit is None else unfit
    for name, question in setup.asked.items():
        try:
            asked = _rows(name, question, setup, missing)
        except ConfigError as error:
            if setup.card is None:
                raise
            _refuse_faulty(setup, name, question)
            unfit[name] = str(error)
            continue
        if setup.card and not asked:
            unfit[name] = f"scale {setup.config.scale} has no dataset for it"
        if setup.card:
            _refuse_unmeasured(setup, name, asked)
        if setup.card and config.card_rates:
            asked = [*asked, *at_other_rates(asked, setup.card.name)]
        for row in asked:
            # a variant without S or k appears once however large the grid is
            key = (name, row.variant, row.paper_corpus, row.job.digest)
            rows.setdefault(key, row)
    if unfit and not rows:
        raise ConfigError(next(iter(unfit.values())))
    _refuse_none(setup, rows.values(), unfit)
    every = _with_every_seed(rows.values())
    if config.train == "nothing":
        return _recorded(every, config.scale)
    return every


def _refuse_faulty(setup: Setup, name: str, question: Question) -> None:
    """Raise `ConfigError` where a part of a card cannot be planned for its baseline alone either.

    Then the battery is at fault, and not the variant.
    """
    if setup.corpus_of(name) is not None:
        return  # of the config, which says what is wrong with it
    variants = {BASELINE: question.variants[BASELINE]}
    alone = question.model_copy(update={"variants": variants, "sizes": [1.0]})
    try:
        _rows(name, alone, setup, {})
    except ConfigError as error:
        parts = {name_part(part): part for part in setup.battery.parts}
        raise place_in_battery(error, parts[name]) from None


def _refuse_unmeasured(setup: Setup, question: str, rows: Iterable[PlanRow]) -> None:
    """Raise `ConfigError` for a part of a card whose score is read where its runs have none."""
    parts = {name_part(name): (name, part) for name, part in setup.battery.parts.items()}
    name, part = parts[question]
    for row in rows:
        if part.at is None:
            continue
        multiples = row.job.evaluation.multiples
        if part.at not in multiples:
            valid = ", ".join(f"{each:g}" for each in multiples)
            raise ConfigError(
                f"part '{name}': at = {part.at:g} is not measured at scale "
                f"{setup.config.scale}; valid: {valid}"
            )


def _refuse_none(setup: Setup, rows: Iterable[PlanRow], unfit: dict[str, str]) -> None:
    """Raise `ConfigError` where nothing is asked for, or nothing of the config's corpus.

    unfit: parts of a card without rows, with the reason.
    """
    if not rows:
        raise ConfigError(_why_none(setup))
    corpus = setup.config.corpus
    read = {row.corpus for row in rows}
    if corpus is not None and corpus not in read:
        for name, why in unfit.items():
            if setup.corpus_of(name) == corpus:
                raise ConfigError(why)
        task = setup.task_of_corpus(corpus)
        raise ConfigError(
            f"corpus '{corpus}': a dataset of task {task}, which no chosen question uses"
        )


def _why_none(setup: Setup) -> str:
    """Say why there is no row: no question, or nothing of the scale for those there are."""
    if setup.asked:
        names = ", ".join(setup.asked)
        scale = f"config/scales/{setup.config.scale}/"
        return (
            f"questions {names}: no corpus or no variant for them; see corpora, variants in {scale}"
        )
    if setup.battery:
        tasks = dict.fromkeys(part.task for part in setup.battery.parts.values())
        return (
            f"tasks = {shown(setup.config.tasks)}: no part of the battery is of these at scale "
            f"{setup.config.scale}; the battery's: {', '.join(tasks)}"
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
        group = trials if row.tuning == "trial" else judged
        group.append(row)
    # by configuration, the job of each seed
    jobs: dict[str, dict[str, AnyJob]] = {}
    for row in judged:
        of_configuration = jobs.setdefault(row.job.configuration, {})
        of_configuration.setdefault(row.job.digest, row.job)
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
    """Keep the rows whose record ships with the project or was made here before."""
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
        needed = [attribute] if attribute else COST_FUNCTIONS
        for name in needed:
            check_known(f"name in {where}: {module} lacks", name, defined)


def _check_corpora_named(setup: Setup, task: str) -> None:
    """Refuse a corpus of the scale that neither a question nor the catalogue names."""
    scale = setup.scales[task]
    catalogue = setup.catalogues[task]
    named: set[str] = set()
    for question in setup.known.values():
        named.update(question.corpora)
    parts = {
        "corpora": scale.corpora,
        "recipes_at": scale.recipes_at,
        "seeds_at": scale.seeds_at,
    }
    for name, recipes in scale.recipes_of.items():
        parts[f"recipes_of, {name}"] = recipes
    for part, corpora in parts.items():
        what = f"corpus in config/scales/{scale.scale}/{task}.yaml, {part}:"
        for corpus in corpora:
            choices = named.union(catalogue.choices(corpus))
            try:
                check_known(what, corpus, choices)
            except ConfigError as error:
                raise place_of_name(error, *scale.contents) from None


# the rows of one question


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
        if question.tuning == "each_corpus":
            return list(tuned_on_each_corpus(question, rows, scale.trial_seed))
        own_size = [row for row in rows if row.size == 1]
        rows += tuned(question, own_size, scale.trial_seed)
        return rows
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
    chosen = scale.variants.get(name, question.variants)
    stand_ins, recipes_of = _corpora(name, question, setup)
    for paper_corpus, corpus in stand_ins.items():
        if corpus is None:
            continue
        for called, variant in question.variants.items():
            if called not in chosen:
                continue
            if not catalogue.knows(corpus):
                _refuse_unknown_corpus(name, question, scale, corpus, catalogue)
            checksum = _checksum(catalogue, corpus, setup.config.data_dir, missing)
            data = Dataset(catalogue.slug(corpus), checksum)
            try:
                place = recipes_of[paper_corpus]
                recipe = scale.recipe(variant.recipe, name, place)
                seeds = scale.seeds_at.get(place, scale.seeds)[: question.seeds]
                cells = list(cells_of(variant, recipe, seeds, question, scale, data))
                most = catalogue.most_keys(corpus, cells[0].job)
                refuse_idle([cell.job.attention for cell in cells], most)
            except ConfigError as error:
                raise _of_variant(error, name, question, called, scale) from None
            for cell in cells:
                yield _row(name, question, called, paper_corpus, corpus, cell)


def _row(
    name: str, question: Question, called: str, paper_corpus: str, corpus: str, cell: Cell
) -> PlanRow:
    """Make the row of a cell. name: of the question. called: the variant's name."""
    variant = question.variants[called]
    return PlanRow(
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
    name: str, question: Question, setup: Setup
) -> tuple[dict[str, str | None], dict[str, str | None]]:
    """Map each corpus of a question to what is read in its place, and to the one with its recipe.

    The config's own corpus replaces the scale's if the task can read it.
    """
    scale = setup.scales[question.task]
    catalogue = setup.catalogues[question.task]
    custom = setup.corpus_of(name)
    if custom is None or not catalogue.knows(custom):
        stand_ins = {}
        for corpus in question.corpora:
            if setup.card:
                stand_ins[corpus] = dataset_of(corpus, scale, catalogue)
            else:
                stand_ins[corpus] = scale.corpora.get(corpus, corpus)
        return stand_ins, {corpus: corpus for corpus in stand_ins}
    replaced = {}
    first = None
    for corpus in question.corpora:
        # what the scale leaves out stays left out
        is_left_out = scale.corpora.get(corpus, corpus) is None
        replaced[corpus] = None if is_left_out else custom
        if not is_left_out and first is None:
            first = corpus
    return replaced, dict.fromkeys(replaced, first)


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
        return NOT_AVAILABLE


# errors, which begin with the place of what they name


def _refuse_unknown_corpus(
    name: str, question: Question, scale: Scale, corpus: str, catalogue: BaseCatalogue
) -> None:
    """Raise `ConfigError` with the place where scale or question names an unknown dataset."""
    what = f"dataset of question {name}, scale {scale.scale}:"
    try:
        check_known(what, corpus, catalogue.choices(corpus))
    except ConfigError as error:
        if name not in study_files("questions"):  # a part of a card
            raise
        content = read_yaml(study_file("questions", name))
        raise place_of_name(error, content, *scale.contents) from None


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
    if name not in study_files("questions"):  # a part of a card
        return error
    path = study_file("questions", name)
    content = read_yaml(path)
    own = _setting_named(content["variants"][called], line)
    of_scale = {} if own else scale.places_of_settings(line)
    if not of_scale:
        place = find(content, ["variants", called, *own])
        return placed(line, f"{shown_path(path)}: {where}", place)
    first, *others = of_scale.items()
    if others:
        also = "; ".join(f"{key}: {place}" for key, place in others)
        line += f" ({also})"
    return placed(line, where, first[1])


def _setting_named(variant: dict, line: str) -> tuple[str, ...]:
    """Find the first setting of a variant that a line names: its section and key, or nothing."""
    words = words_of(line)
    for part in ("net", "training", "times"):
        for key in variant.get(part) or {}:
            if key in words:
                return part, key
    return ()
