"""Collect what a card compares: the runs of its variant, and of all known ones, part by part."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from workflow.config.job import Job
from workflow.plan.plan import plan
from workflow.plan.rows import PlanRow
from workflow.results.record import Record
from workflow.results.rows import read_rows
from workflow.results.store import Store
from workflow.settings.battery import BASELINE, OF_NET, Battery, Part, name_part
from workflow.settings.config import Setup

NOT_TRAINED = "the config trains nothing, and a run of it does not ship"
NOT_SHARED = ("attention", "seed", "scale", "trials")


@dataclass(frozen=True)
class PartRuns:
    """The finished and failed runs of a part.

    ours, baseline: by seed, with all that ship. rates: one seed of the variant at other learning
    rates, by their factor. sizes: of the variant and of the baseline with models of other sizes.
    known: of every other known variant, by what it chooses, by seed. is_baseline: the variant
    chooses what the baseline does.
    """

    part: Part
    ours: dict[int, Record]
    baseline: dict[int, Record]
    known: dict[str, dict[int, Record]] = field(default_factory=dict)
    rates: dict[float, Record] = field(default_factory=dict)
    sizes: dict[float, tuple[dict[int, Record], dict[int, Record]]] = field(default_factory=dict)
    is_baseline: bool = False

    @property
    def records(self) -> list[Record]:
        """List all that the part compares."""
        every = [self.ours, self.baseline, *self.known.values(), self.rates]
        for of_size in self.sizes.values():
            every += of_size
        return [record for runs in every for record in runs.values()]

    def scores(self, runs: dict[int, Record]) -> dict[int, float]:
        """Read the part's score of each run that has one."""
        found = {}
        for seed, record in sorted(runs.items()):
            score = score_of(record, self.part)
            if score is not None:
                found[seed] = score
        return found


def score_of(record: Record, part: Part) -> float | None:
    """Return the score that a part compares; None where the run has none."""
    there = {each.at: each.metrics for each in record.over_condition}
    return pick_score(record.status, record.metrics, there, part)


def pick_score(
    status: str,
    metrics: Mapping[str, float],
    over_condition: Mapping[float, Mapping[str, float]],
    part: Part,
) -> float | None:
    """Pick the score that a part compares from those of a run; None where it has none."""
    if status != "ok":
        return None
    scores = metrics if part.at is None else over_condition.get(part.at, {})
    score = scores.get(part.score)
    return score if score is not None and math.isfinite(score) else None


def collect_asked(
    setup: Setup, store: Store
) -> tuple[dict[str, PartRuns], dict[str, tuple[Part, str]]]:
    """Collect the runs of the card that a config asks for, and the parts that are left out.

    By the name of the part; one that is left out has a reason.
    """
    unfit: dict[str, str] = {}
    rows = plan(setup, {}, unfit)
    runs = collect(setup.battery, setup.card.name, rows, store)
    empty = {}
    for name, part in setup.battery.parts.items():
        question = name_part(name)
        if question in unfit:
            empty[name] = (part, unfit[question])
        elif question in setup.asked and name not in runs:
            empty[name] = (part, NOT_TRAINED)
    return runs, empty


def collect(
    battery: Battery, variant: str, rows: Iterable[PlanRow], store: Store
) -> dict[str, PartRuns]:
    """Collect the runs of each part that the plan has rows of, by the name of the part.

    variant: its name in the plan.
    """
    by_question: dict[str, dict[str, list[PlanRow]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        by_question[row.question][row.variant].append(row)
    known = _Known(store)
    parts = {}
    for name, part in battery.parts.items():
        asked = by_question.get(name_part(name), {})
        # a plan that trains nothing may lack one of the two
        sides = [any(row.plain for row in asked.get(side, ())) for side in (variant, BASELINE)]
        if all(sides):
            parts[name] = _runs_of(part, asked[variant], asked[BASELINE], known)
    return parts


def read_costs(files: Iterable[Path]) -> dict[str, dict[str, dict]]:
    """Read rows of costs, by kind and configuration."""
    costs: dict[str, dict[str, dict]] = defaultdict(dict)
    for file in files:
        kind, rows = read_rows(file)
        for row in rows:
            costs[kind][row["configuration"]] = row
    return costs


def _runs_of(part: Part, rows: list[PlanRow], theirs: list[PlanRow], known: "_Known") -> PartRuns:
    sizes = {row.size for row in rows} - {1}
    by_size = {size: (known.of_size(size, rows), known.of_size(size, theirs)) for size in sizes}
    ours = [row for row in rows if row.plain]
    theirs = [row for row in theirs if row.plain]
    rates = {}
    for row in rows:
        if row.tuning == "trial" and row.job.digest in known.store:
            rates[row.factors["lr"]] = known.read(row.job.digest)
    by_choice = known.like(ours[0].job)
    for rows in (ours, theirs):
        runs = by_choice.setdefault(choice_of(rows[0].job), {})
        for row in rows:
            if row.job.digest in known.store:
                runs[row.job.seed] = known.read(row.job.digest)
    own = choice_of(ours[0].job)
    baseline = choice_of(theirs[0].job)
    others = {choice: runs for choice, runs in by_choice.items() if choice not in (own, baseline)}
    return PartRuns(
        part=part,
        ours=by_choice[own],
        baseline=by_choice[baseline],
        known=others,
        rates=rates,
        sizes=by_size,
        is_baseline=own == baseline,
    )


def choice_of(job: Job) -> str:
    """Write what a variant chooses, as JSON: its attention, and what the net does with it."""
    content = job.model_dump(mode="json", include={"attention", "net"})
    return choice_in(content)


def choice_in(content: dict) -> str:
    # a job leaves out what is not chosen
    of_net = {key: content["net"].get(key) or None for key in OF_NET}
    return json.dumps({"attention": content["attention"]} | of_net, sort_keys=True)


def setting_of(content: dict) -> str:
    """Write everything else that a job says: what runs that are compared share."""
    net = {key: value for key, value in content["net"].items() if key not in OF_NET}
    shared = {key: value for key, value in content.items() if key not in NOT_SHARED}
    return json.dumps(shared | {"net": net}, sort_keys=True)


class _Known:
    """The shipped records, by what else their jobs say; each is read once."""

    def __init__(self, store: Store):
        self.store = store
        self._records: dict[str, Record] = {}
        self._by_setting: dict[tuple[str, str], dict[str, list[tuple[str, str]]]] = {}

    def read(self, digest: str) -> Record:
        if digest not in self._records:
            self._records[digest] = self.store.read_or_refuse(digest)
        return self._records[digest]

    def of_size(self, size: float, rows: Iterable[PlanRow]) -> dict[int, Record]:
        """Read the runs of models of a size, by seed."""
        found = {}
        for row in rows:
            if row.size == size and row.tuning is None and row.job.digest in self.store:
                found[row.job.seed] = self.read(row.job.digest)
        return found

    def like(self, job: Job) -> dict[str, dict[int, Record]]:
        """Find the shipped runs that differ from a job in attention and seed alone."""
        place = (job.scale, job.task)
        if place not in self._by_setting:
            self._by_setting[place] = self._index(*place)
        setting = setting_of(job.model_dump(mode="json"))
        found: dict[str, dict[int, Record]] = {}
        for choice, digest in self._by_setting[place].get(setting, ()):
            record = self.read(digest)
            found.setdefault(choice, {})[record.job.seed] = record
        return found

    def _index(self, scale: str, task: str) -> dict[str, list[tuple[str, str]]]:
        by_setting = defaultdict(list)
        for digest, job in self.store.jobs_shipped(scale, task):
            if not job.get("trials"):
                by_setting[setting_of(job)].append((choice_in(job), digest))
        return by_setting
