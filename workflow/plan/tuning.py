"""The trials of a question: each variant gets as many, by seeds that judge nothing, and is run
again as they say.
"""

import math
from collections import defaultdict
from collections.abc import Iterator

from workflow.config.errors import ConfigError
from workflow.config.trials import every_trial
from workflow.plan.questions import Question
from workflow.plan.row import PlanRow
from workflow.plan.scales import Scale


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
    trials = {name: _trials_of(question, name, mine, seed) for name, mine in by_variant.items()}
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
            yield row.model_copy(
                update={"tuning": "tuned", "job": row.job.model_copy(update={"trials": follows})}
            )


def _trials_of(question: Question, name: str, rows: list[PlanRow], seed: int) -> list[PlanRow]:
    """List the trials of a variant."""
    own = every_trial(question.variants[name].trials or question.trials)
    if len(own) != (alike := len(every_trial(question.trials))):
        raise ConfigError(
            f"trials of {name}: {len(own)}, the others have {alike}; valid: the same number for all"
        )
    first = [row for row in rows if row.paper_corpus == rows[0].paper_corpus]
    last = first[-1]  # the grid rises
    return [
        last.model_copy(
            update={
                "tuning": "trial",
                "factors": factors,
                "job": last.job.varied(factors, seed=seed),
            }
        )
        for factors in own
    ]
