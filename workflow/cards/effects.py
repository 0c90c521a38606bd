"""The effects of all known variants at one scale: what the back-test of the battery compares.

Read from the records that ship. Variants are matched between scales by what they choose in place of
the baseline's choices: by the names of choices, their settings that are words, an output gate and
shared keys. Numbers are left out, because S, k and penalties follow the scale. Of several S and k,
the largest S at which a scale has the baseline too counts, and then the largest k.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from workflow.cards.collect import choice_in, pick_score, setting_of
from workflow.cards.compare import Compared, compare
from workflow.config.choices import AXES
from workflow.plan.jobs import attention_of
from workflow.results.store import Store
from workflow.settings.battery import OF_NET, Battery, Part, dataset_of
from workflow.settings.scales import Scale, load_scale, tasks_of_scale
from workflow.tasks.spec import TASKS, load_corpora, section

UNCHANGED = ""  # the name of what chooses nothing in place of the baseline's choices


@dataclass(frozen=True)
class Run:
    """What is read of a run. choice: as JSON. macs: per token, as executed."""

    choice: str
    score: float
    macs: float | None


@dataclass(frozen=True)
class Effect:
    """The effect of a variant on a part at one scale, in margins of the part; positive is better.

    low, high: its 95 % interval, as on a card; None where seeds do not scatter. p: of that test.
    macs: as a ratio to the baseline, None where they were not counted. seeds: of the variant.
    """

    difference: float
    low: float | None
    high: float | None
    p: float | None
    macs: float | None
    seeds: int

    @property
    def is_known(self) -> bool:
        """Whether the interval excludes 0, so that the sign is known."""
        return self.low is not None and (self.low > 0 or self.high < 0)


Effects = Mapping[str, Mapping[str, Effect]]  # by part and variant


def effects_at(scale: str, battery: Battery, store: Store) -> Effects:
    """Compare all variants that ship at a scale with the baseline of each part."""
    scales = {}
    lines = {}
    for task in dict.fromkeys(part.task for part in battery.parts.values()):
        if task in tasks_of_scale(scale):
            scales[task] = load_scale(scale, task)
            lines[task] = list(store.lines_shipped(scale, task))
    effects: dict[str, dict[str, Effect]] = {}
    for name, part in battery.parts.items():
        effects[name] = {}
        if lines.get(part.task):
            effects[name] = _effects_on(part, scales[part.task], lines[part.task])
    return effects


def _effects_on(part: Part, scale: Scale, lines: Iterable[dict]) -> dict[str, Effect]:
    """Compare the variants of one part; empty where no runs of its baseline ship.

    lines: the shipped records of its task.
    """
    usual = _usual_choices(scale, part)
    by_choice: dict[str, list[Run]] = defaultdict(list)
    for run in _runs_on(part, scale, usual, lines):
        by_choice[run.choice].append(run)
    # the name of each variant, and the S and k of each choice that has it
    cells: dict[str, dict[tuple[int, int], list[Run]]] = defaultdict(dict)
    # of choices that differ in other numbers alone, the one with most runs
    for choice, runs in sorted(by_choice.items(), key=lambda each: (len(each[1]), each[0])):
        chosen = json.loads(choice)
        cells[name_variant(chosen, usual)][_S_and_k(chosen)] = runs
    baselines = {S: runs for (S, _), runs in cells.pop(UNCHANGED, {}).items()}
    effects = {}
    for name, of_variant in cells.items():
        common = [cell for cell in of_variant if cell[0] in baselines]
        if common:
            S, k = max(common)
            effects[name] = _effect(part, of_variant[S, k], baselines[S], by_choice)
    return effects


def _usual_choices(scale: Scale, part: Part) -> dict:
    """Return what the baseline of a part chooses at a scale: its attention and its net."""
    recipe = scale.recipe(part.baseline.recipe, "", part.corpus)
    S = max(scale.S, default=None)
    model = section(part.task, "attention")
    attention = attention_of(part.baseline, recipe, scale, S, max(scale.k), model)
    net = recipe.net | part.baseline.net
    content = {"attention": attention.model_dump(mode="json"), "net": net}
    return json.loads(choice_in(content))


def name_variant(chosen: dict, usual: dict) -> str:
    """Name a variant by what it chooses in place of the baseline's choices: `span: adaptive`.

    chosen, usual: what the variant and the baseline choose. Numbers are left out.
    """
    words = []
    ours = chosen["attention"]
    theirs = usual["attention"]
    for axis in (*AXES, "apply_to"):
        said = _words_of(ours.get(axis))
        if said != _words_of(theirs.get(axis)):
            words.append(f"{axis}: {said}")
    for key in OF_NET:
        if chosen[key] != usual[key]:
            words.append(f"{key}: {json.dumps(chosen[key])}")
    return ", ".join(words)


def _words_of(choice: dict | list | None) -> str:
    """Write a choice without its numbers; an axis that a job leaves out is `none`."""
    if choice is None:
        return "none"
    if isinstance(choice, list):
        return " and ".join(choice)
    return " ".join(value for value in choice.values() if isinstance(value, str))


def _S_and_k(chosen: dict) -> tuple[int, int]:
    """Read S and k; 0 where there is none."""
    attention = chosen["attention"]
    return attention["span"].get("limit") or 0, attention["selection"].get("k") or 0


def _runs_on(part: Part, scale: Scale, usual: dict, lines: Iterable[dict]) -> Sequence[Run]:
    """Read the runs of the setting in which most runs ship, of those with the baseline.

    A setting is all that the runs of a comparison share: the model, its training, and whether each
    variant's rate was tuned.
    """
    corpus = dataset_of(part.corpus, scale, load_corpora(part.task))
    settings: dict[tuple[bool, str], list[Run]] = defaultdict(list)
    for raw in lines:
        job = raw["job"]
        if job["corpus"] != corpus:
            continue
        there = {each["at"]: each["metrics"] for each in raw.get("over_condition") or ()}
        score = pick_score(raw["status"], raw["metrics"], there, part)
        if score is not None:
            is_tuned = bool(job.get("trials"))
            run = Run(choice_in(job), score, _macs(raw))
            settings[is_tuned, setting_of(job)].append(run)
    # of two with as many runs the untuned one: a card does not tune either
    for _, runs in sorted(settings.items(), key=lambda each: (-len(each[1]), each[0])):
        choices = {run.choice for run in runs}
        if any(name_variant(json.loads(choice), usual) == UNCHANGED for choice in choices):
            return runs
    return ()


def _macs(raw: dict) -> float | None:
    macs = (raw.get("cost") or {}).get("macs")
    return macs["executed"] if macs else None


def _effect(
    part: Part, ours: list[Run], theirs: list[Run], by_choice: Mapping[str, list[Run]]
) -> Effect:
    """Compare a variant with the baseline as a card does. by_choice: all runs, these included."""
    known = {}
    for choice, runs in by_choice.items():
        if runs is not ours and runs is not theirs:
            known[choice] = [run.score for run in runs]
    scores = Compared(
        ours=[run.score for run in ours],
        baseline=[run.score for run in theirs],
        known=known,
        margin=part.margin,
    )
    sign = 1 if TASKS[part.task].known[part.score].better == "higher" else -1
    in_margins = sign / part.margin
    difference = (fmean(scores.ours) - fmean(scores.baseline)) * in_margins
    macs = _ratio(ours, theirs)
    found = compare(scores, parts=1)
    if found is None:
        return Effect(difference, None, None, None, macs, len(ours))
    low, high = sorted((found.low * in_margins, found.high * in_margins))
    return Effect(difference, low, high, found.p, macs, len(ours))


def _ratio(ours: Iterable[Run], theirs: Iterable[Run]) -> float | None:
    counts = []
    for runs in (ours, theirs):
        counted = [run.macs for run in runs if run.macs]
        if not counted:
            return None
        counts.append(fmean(counted))
    return counts[0] / counts[1]
