"""Keep the comparison of variants fair: equal training settings, and equally many trials.

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

from workflow.config.errors import ConfigError
from workflow.config.trials import every_trial
from workflow.plan.questions import Question
from workflow.plan.row import PlanRow
from workflow.plan.scales import Scale

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
    trials = asked.trials or question.trials or {}
    return {*asked.training, *(trials if tuned else ())}


def refuse_unnamed(question: Question, rows: list[PlanRow], scale: Scale) -> None:
    """Raise `ConfigError` where variants differ in an unnamed setting, unless the scale follows the
    papers' recipes.

    rows: those of the question's recipes at every size, without trials.
    """
    if scale.follows_papers:
        return
    runs = [
        Trained(row.variant, (row.paper_corpus, row.size), row.job.training.model_dump())
        for row in rows
    ]
    differing = unnamed_settings(question, runs, tuned=scale.trial_seed is not None)
    if differing:
        settings = " and ".join(_in_words(setting, values) for setting, values in differing.items())
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
    first, other = next(iter(values)), _first_other(values)
    return f"{setting} ({first}: {values[first]}, {other}: {values[other]})"


def _first_other(values: dict[str, object]) -> str | None:
    """Return the first variant whose value is not that of the first of all; None where all are
    equal.
    """
    expected = next(iter(values.values()))
    return next((variant for variant, value in values.items() if value != expected), None)


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
