"""Plan the trials of a question, and the runs that follow the best of them.

Each variant has as many trials, with a tuning seed, and is then run again as its best trial says.
"""

import math
from collections import defaultdict
from collections.abc import Iterator

from workflow.config.errors import ConfigError
from workflow.config.trials import every_trial
from workflow.plan.rows import PlanRow
from workflow.settings.questions import Question
from workflow.settings.scales import Scale

OTHER_RATES = (0.5, 2.0)  # factors of the learning rate that a card tries


def is_untuned(question: Question, scale: Scale) -> bool:
    """Say whether a question has trials that this scale does not run, for want of a seed."""
    return question.trials is not None and scale.trial_seed is None


def tuned(question: Question, rows: list[PlanRow], seed: int) -> Iterator[PlanRow]:
    """Yield the trials of each variant, and its own runs again, which follow them.

    A variant is tried on its first corpus, at its largest S and k: what is chosen there holds for
    it everywhere. rows: those of the recipe, in the order of the grid. seed: of the trials.
    `ConfigError` where they are too many for so few seeds.
    """
    by_variant: dict[str, list[PlanRow]] = defaultdict(list)
    for row in rows:
        by_variant[row.variant].append(row)
    trials = {}
    for name, own_rows in by_variant.items():
        trials[name] = _trials_of(question, name, own_rows, seed)
    tried = sum(map(len, trials.values()))
    _refuse_too_many(tried, rows)
    for name, own_rows in by_variant.items():
        yield from trials[name]
        for row in _following(own_rows, trials[name]):
            yield row.model_copy(update={"tuning": "tuned"})


def tuned_on_each_corpus(question: Question, rows: list[PlanRow], seed: int) -> Iterator[PlanRow]:
    """Yield the trials of each variant on each corpus, and its own runs there, which follow them.

    Nothing is run as the recipe says, but for the trial with factor 1: the tuned runs are those
    that pages show. rows, seed: as for `tuned`.
    """
    by_place: dict[tuple[str, str], list[PlanRow]] = defaultdict(list)
    for row in rows:
        by_place[row.paper_corpus, row.variant].append(row)
    for (_, name), own_rows in by_place.items():
        trials = _trials_of(question, name, own_rows, seed)
        yield from trials
        yield from _following(own_rows, trials)


def at_other_rates(rows: list[PlanRow], variant: str) -> Iterator[PlanRow]:
    """Yield a variant's first run again, at half and at twice the learning rate.

    They have the seed of that run, so that seeds do not differ, and the scale's size.
    """
    own = [row for row in rows if row.variant == variant and row.plain]
    for row in own[:1]:
        for factor in OTHER_RATES:
            factors = {"lr": factor}
            changes = {"tuning": "trial", "factors": factors, "job": row.job.varied(factors)}
            yield row.model_copy(update=changes)


def _following(rows: list[PlanRow], trials: list[PlanRow]) -> Iterator[PlanRow]:
    """Yield rows whose jobs follow the best of some trials."""
    follows = {trial.job.digest: trial.factors for trial in trials}
    for row in rows:
        job = row.job.model_copy(update={"trials": follows})
        yield row.model_copy(update={"job": job})


def _refuse_too_many(tried: int, rows: list[PlanRow]) -> None:
    """Raise `ConfigError` where trials are more than a fifth of all runs.

    All runs: the rows, as many tuned ones, and the trials.
    """
    most = len(rows) // 2
    if tried <= most:
        return
    others = 2 * len(rows)
    seeds = len({row.job.seed for row in rows})
    # each further seed adds as many rows as each has now
    needed = 2 * tried * seeds
    enough = math.ceil(needed / len(rows))
    valid = f"at most {most} (a fifth of all runs), or {enough} seeds instead of {seeds}"
    raise ConfigError(f"trials: {tried} trials for {others} other runs; valid: {valid}")


def _trials_of(question: Question, name: str, rows: list[PlanRow], seed: int) -> list[PlanRow]:
    """List the trials of a variant."""
    asked = question.variants[name].trials
    own = every_trial(asked or question.trials)
    alike = len(every_trial(question.trials))
    if len(own) != alike:
        raise ConfigError(
            f"trials of {name}: {len(own)}, the others have {alike}; valid: the same number for all"
        )
    first_corpus = rows[0].paper_corpus
    on_first_corpus = [row for row in rows if row.paper_corpus == first_corpus]
    # the grid rises
    largest = on_first_corpus[-1]
    trials = []
    for factors in own:
        job = largest.job.varied(factors, seed=seed)
        changes = {"tuning": "trial", "factors": factors, "job": job}
        trials.append(largest.model_copy(update=changes))
    return trials
