"""Keep a comparison fair: variants of a question share every training setting it does not name.

A variant names a setting by its own `training`, or by trials that choose it. A recipe names
nothing: it belongs to the scale, and a question does not see it.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from workflow.config.errors import ConfigError
from workflow.plan.rows import PlanRow
from workflow.settings.questions import Question
from workflow.settings.scales import Scale

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
    """Map each training setting that differs and is not named to its values, by variant.

    Only of variants that do not name it. tuned: whether the trials of the question are run, so that
    they choose the settings that they try.
    """
    values: dict[tuple, dict[str, object]] = defaultdict(dict)
    for run in runs:
        _, size = run.compared_within
        # trials are run at the scale's own size alone
        named = _named_by(question, run.variant, tuned and size == 1)
        for setting in run.training.keys() - named - ORGANISATION:
            by_variant = values[setting, run.compared_within]
            by_variant[run.variant] = run.training[setting]
    differing: dict[str, dict[str, object]] = {}
    for key in sorted(values):
        setting, _ = key
        if _first_other(values[key]) is not None:
            differing.setdefault(setting, values[key])
    return differing


def _named_by(question: Question, variant: str, tuned: bool) -> set[str]:
    """Collect the training settings that a variant sets itself, or that its trials choose."""
    asked = question.variants[variant]
    named = set(asked.training)
    if tuned:
        named.update(asked.trials or question.trials or ())
    return named


def refuse_unnamed(question: Question, rows: list[PlanRow], scale: Scale) -> None:
    """Raise `ConfigError` where variants differ in an unnamed setting.

    Not at a scale that follows the papers' recipes. rows: those of the question's recipes at every
    size, without trials.
    """
    if scale.follows_papers:
        return
    runs = []
    for row in rows:
        within = (row.paper_corpus, row.size)
        training = row.job.training.model_dump()
        runs.append(Trained(row.variant, within, training))
    differing = unnamed_settings(question, runs, tuned=scale.trial_seed is not None)
    if not differing:
        return
    in_words = []
    for setting, values in differing.items():
        in_words.append(_in_words(setting, values))
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
    of_first = f"{first}: {values[first]}"
    of_other = f"{other}: {values[other]}"
    return f"{setting} ({of_first}, {of_other})"


def _first_other(values: dict[str, object]) -> str | None:
    """Return the first variant whose value is not that of the first; None where all are equal."""
    expected = next(iter(values.values()))
    for variant, value in values.items():
        if value != expected:
            return variant
    return None
