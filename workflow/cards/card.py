"""The card of a variant: what it changes on each part of the battery, and what it costs there."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from statistics import fmean

from workflow.cards.backtest import BackTest
from workflow.cards.collect import PartRuns, score_of
from workflow.cards.compare import Compared, Comparison, compare, judge, p_of_pair
from workflow.config.choices import AXES, REQUIRED, choice_names, choice_settings
from workflow.results.record import Record
from workflow.results.registry import OVER_S
from workflow.results.statistics import holm
from workflow.settings.battery import Part
from workflow.tasks.quantities import Quantity
from workflow.tasks.spec import TASKS

# facts and scores that say how a model attends
BEHAVIOUR = ("mean_span", "test_entropy", "test_support", "dead_heads")
STEADY = 0.25  # the spread up to which a ratio of timings says something
AS_BASELINE = "the same as the baseline here"
SETTING_WORDS = {"limit": "S"}  # as papers call it
ADDED = "positional_encoding"  # in `against`: what a model adds to its input
# what two measurements of a kind must share, or their ratio compares code or machines
ALIKE = {"memory": ("backend", "machine"), "throughput": ("backend", "reference_ms")}


@dataclass(frozen=True)
class Known:
    """A known variant on a part. choice: what it chooses, as JSON. difference: of its mean score
    from the baseline's. seeds: how many. macs: as a ratio to the baseline, None where they were not
    counted.
    """

    choice: str
    difference: float
    seeds: int
    macs: float | None = None


@dataclass(frozen=True)
class Costs:
    """What the variant costs, as ratios to the baseline on the same backend; None: not measured.

    macs: per token, as executed. memory: peak of a training step. train, predict: time of a step.
    train_spread, predict_spread: half the 95 % interval of a timing over its rounds, as a share of
    it; of the variant or of the baseline, whichever is more.
    """

    macs: float | None = None
    memory: float | None = None
    train: float | None = None
    predict: float | None = None
    train_spread: float | None = None
    predict_spread: float | None = None

    def is_steady(self, name: str) -> bool:
        """Say whether a cost is no time, or one whose rounds agreed."""
        return (getattr(self, f"{name}_spread", None) or 0.0) <= STEADY


@dataclass(frozen=True)
class AtLimit:
    """What the variant costs at a limit S, as ratios to the baseline there; None: not measured."""

    S: int
    macs: float | None
    memory: float | None


@dataclass(frozen=True)
class Failed:
    """A run that failed. curve: (update, training loss) pairs."""

    seed: int
    status: str
    reason: str
    curve: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Length:
    """A mean score at one value of a task's condition, of the variant and of the baseline."""

    at: float
    ours: float
    baseline: float


@dataclass(frozen=True)
class Rate:
    """One run of the variant at another learning rate.

    factor: of the recipe's rate. gain: its score less that of the same seed at the recipe's rate;
    None where there is no such difference, for the reason in `why`. p: that two seeds differ by so
    much; holm: corrected over all such runs of the card. score: None where the run has none.
    """

    factor: float
    gain: float | None = None
    p: float = 1.0
    holm: float = 1.0
    score: float | None = None
    why: str | None = None


@dataclass(frozen=True)
class AtSize:
    """What the variant changes with models of another size; `comparison`, `failed` and `why` as of
    a `CardPart`.

    The verdicts of a size are corrected over the parts.
    """

    size: float
    ours: dict[int, float]
    baseline: dict[int, float]
    comparison: Comparison | None
    failed: tuple[Failed, ...] = ()
    why: str | None = None


@dataclass(frozen=True)
class CardPart:
    """What a card says of one part.

    ours, baseline: scores by seed. why: there is no comparison. behaviour: facts of the trained
    models that are numbers, of the variant and of the baseline. digests: of the variant's runs.
    rates, sizes: what other learning rates and sizes change, where they were tried. limits: costs
    over S. against: what the baseline chooses, by axis, and as `positional_encoding` what is added
    to the input.
    """

    name: str
    part: Part
    score: Quantity
    ours: dict[int, float]
    baseline: dict[int, float]
    comparison: Comparison | None
    known: tuple[Known, ...]
    costs: Costs
    failed: tuple[Failed, ...]
    lengths: tuple[Length, ...]
    behaviour: dict[str, tuple[float | None, float | None]]
    digests: tuple[str, ...]
    rates: tuple[Rate, ...] = ()
    limits: tuple[AtLimit, ...] = ()
    sizes: tuple[AtSize, ...] = ()
    why: str | None = None
    against: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Card:
    """The card of a variant. scale: at which it was measured. devices: on which it was trained.
    Its recipe is the one that was tuned for the baseline. settings: of each chosen axis, in words,
    defaults included. back_test: of the battery, the same for every card.
    """

    name: str
    title: str
    choices: dict
    parts: tuple[CardPart, ...]
    scale: str
    devices: tuple[str, ...]
    settings: dict[str, str] = field(default_factory=dict)
    back_test: BackTest | None = None

    def with_verdict(self, verdict: str) -> list[CardPart]:
        """List the parts with a verdict."""
        return [
            each for each in self.parts if each.comparison and each.comparison.verdict == verdict
        ]


def make_card(
    name: str,
    title: str,
    choices: dict,
    scale: str,
    runs: Mapping[str, PartRuns],
    empty: Mapping[str, tuple[Part, str]],
    costs: Mapping[str, Mapping[str, dict]],
) -> Card:
    """Compare a variant on all parts.

    runs: of the parts that it can do. empty: the others, with the reason. costs: rows by kind and
    configuration.
    """
    different = {key: each for key, each in runs.items() if not each.is_baseline}
    judged = _judge({key: _compared(each) for key, each in different.items()}, runs)
    parts = [_part(key, each, judged.get(key), costs) for key, each in runs.items()]
    parts = _with_corrected_rates(parts)
    for size in sorted({size for each in different.values() for size in each.sizes}):
        parts = _with_size(parts, size, different)
    for key, (part, why) in empty.items():
        parts.append(_empty(key, part, why))
    devices = {record.origin.device for each in runs.values() for record in each.ours.values()}
    settings = _settings(choices, runs)
    return Card(name, title, choices, tuple(parts), scale, tuple(sorted(devices)), settings)


def _settings(choices: dict, runs: Mapping[str, PartRuns]) -> dict[str, str]:
    """Write the settings of what is chosen on each axis: `S = 64 or 256, ramp = 32`."""
    found = {}
    for axis in AXES:
        if axis not in choices:
            continue
        # those of several parts may differ; seeds of a part have the same
        values: dict[str, list[str]] = {}
        for each in runs.values():
            record = next(iter(each.ours.values()), None)
            if record is None:
                continue
            for key, value in _settings_in(record, axis).items():
                written = f"{value:g}" if isinstance(value, int | float) else str(value)
                of_key = values.setdefault(key, [])
                if written not in of_key:
                    of_key.append(written)
        if values:
            said = [f"{key} = {' or '.join(written)}" for key, written in values.items()]
            found[axis] = ", ".join(said)
    return found


def _settings_in(record: Record, axis: str) -> dict[str, float | str]:
    """Read the settings of a run's choice, with the defaults of those that its job leaves out."""
    chosen = dict(getattr(record.job.attention, axis))
    name = chosen.pop("name")
    # of a choice from elsewhere only what its job says
    declared = choice_settings(axis, name) if name in choice_names(axis) else {}
    defaults = {key: setting.default for key, setting in declared.items()}
    settings = {}
    for key, value in (defaults | chosen).items():
        if value is not None and value is not REQUIRED:
            settings[SETTING_WORDS.get(key, key)] = value
    return settings


def _judge(pairs: Mapping[str, Compared], runs: Mapping[str, PartRuns]) -> dict[str, Comparison]:
    """Compare what has scores on both sides, corrected over all of it."""
    pairs = {key: each for key, each in pairs.items() if each.ours and each.baseline}
    compared: dict[str, Comparison] = {}
    better = {}
    for key, pair in pairs.items():
        found = compare(pair, len(pairs))
        if found is not None:
            compared[key] = found
            better[key] = score_quantity(runs[key].part).better
    return judge(compared, better)


def _with_size(parts: list[CardPart], size: float, runs: Mapping[str, PartRuns]) -> list[CardPart]:
    """Add to each part what the variant changes with models of this size, or why nothing is
    compared.
    """
    at_size = {}
    pairs = {}
    for key, each in runs.items():
        if size in each.sizes:
            records = each.sizes[size]
            ours, baseline = map(each.scores, records)
            failed = _failed_of(records[0])
            why = _why_not(each.part, *records, ours, baseline, with_reason=True)
            at_size[key] = AtSize(size, ours, baseline, None, failed, why)
            pairs[key] = Compared(
                ours=list(ours.values()),
                baseline=list(baseline.values()),
                known={},
                margin=each.part.margin,
            )
    judged = _judge(pairs, runs)
    found = []
    for each in parts:
        at = at_size.get(each.name)
        if at is not None:
            if each.name in judged:
                at = replace(at, comparison=judged[each.name], why=None)
            each = replace(each, sizes=(*each.sizes, at))
        found.append(each)
    return found


def _with_corrected_rates(parts: list[CardPart]) -> list[CardPart]:
    compared = [rate for each in parts for rate in each.rates if rate.gain is not None]
    corrected = iter(holm([rate.p for rate in compared]))
    found = []
    for each in parts:
        rates = []
        for rate in each.rates:
            is_compared = rate.gain is not None
            rates.append(replace(rate, holm=next(corrected)) if is_compared else rate)
        found.append(replace(each, rates=tuple(rates)))
    return found


def score_quantity(part: Part) -> Quantity:
    """Return what is known of the score that a part compares."""
    return TASKS[part.task].known[part.score]


def _compared(runs: PartRuns) -> Compared:
    known = {choice: list(runs.scores(each).values()) for choice, each in runs.known.items()}
    return Compared(
        ours=list(runs.scores(runs.ours).values()),
        baseline=list(runs.scores(runs.baseline).values()),
        known=known,
        margin=runs.part.margin,
    )


def _part(
    name: str,
    runs: PartRuns,
    comparison: Comparison | None,
    costs: Mapping[str, Mapping[str, dict]],
) -> CardPart:
    ours = runs.scores(runs.ours)
    baseline = runs.scores(runs.baseline)
    why = None
    if runs.is_baseline:
        why = AS_BASELINE
    elif comparison is None:
        why = _why_not(runs.part, runs.ours, runs.baseline, ours, baseline)
    return CardPart(
        name=name,
        part=runs.part,
        score=score_quantity(runs.part),
        ours=ours,
        baseline=baseline,
        comparison=comparison,
        known=tuple(_known(runs, baseline)),
        costs=_costs(runs, costs),
        failed=_failed_of(runs.ours),
        lengths=tuple(_lengths(runs)),
        behaviour=_behaviour(runs),
        digests=tuple(record.digest for record in runs.ours.values()),
        rates=tuple(_rates(runs, comparison)),
        limits=tuple(_limits(runs, costs)),
        why=why,
        against=_against(runs.baseline),
    )


def _why_not(
    part: Part,
    records: dict[int, Record],
    of_baseline: dict[int, Record],
    ours: dict[int, float],
    baseline: dict[int, float],
    *,
    with_reason: bool = False,
) -> str:
    """Say why scores are not compared: by seed, the records and scores of the variant and of the
    baseline.

    with_reason: of runs that failed, where no list of these runs has it.
    """
    tell = _tell_failure if with_reason else _status_of
    if not ours:
        finished = [record for record in records.values() if record.status == "ok"]
        if finished:
            return _no_score(part, finished)
        told = sorted({tell(record) for record in records.values()})
        return f"no run finished: {', '.join(told)}" if told else "not run"
    if not baseline:
        told = sorted({tell(record) for record in of_baseline.values()}) if with_reason else []
        reason = f": {', '.join(told)}" if told else ""
        return f"the baseline has no finished run{reason}"
    return "too few seeds"


def _no_score(part: Part, finished: Iterable[Record]) -> str:
    """Say that no finished run has the score, with the reasons that the runs give."""
    at = "" if part.at is None else f" at {part.at:g}×"
    told = {
        _first_line(each.missing[part.score]) for each in finished if part.score in each.missing
    }
    reasons = f": {', '.join(sorted(told))}" if told else ""
    return f"no finished run has {part.score}{at}{reasons}"


def _status_of(record: Record) -> str:
    return record.status


def _tell_failure(record: Record) -> str:
    """Write the status of a run with the first line of its reason."""
    reason = _first_line(record.reason or "")
    return f"{record.status}: {reason}" if reason else record.status


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def _empty(name: str, part: Part, why: str) -> CardPart:
    return CardPart(
        name=name,
        part=part,
        score=score_quantity(part),
        ours={},
        baseline={},
        comparison=None,
        known=(),
        costs=Costs(),
        failed=(),
        lengths=(),
        behaviour={},
        digests=(),
        why=why,
    )


def _failed_of(runs: dict[int, Record]) -> tuple[Failed, ...]:
    return tuple(_failed(record) for record in runs.values() if record.status != "ok")


def _failed(record: Record) -> Failed:
    column = f"train_{TASKS[record.job.task].curve.loss.name}"
    curve = []
    for point in record.curve:
        loss = getattr(point, column)
        if loss is not None:
            curve.append((point.step, loss))
    return Failed(record.job.seed, record.status, record.reason or "", tuple(curve))


def _known(runs: PartRuns, baseline: dict[int, float]) -> Iterable[Known]:
    if not baseline:
        return
    base = fmean(baseline.values())
    macs = _macs(runs.baseline)
    for choice, each in runs.known.items():
        scores = runs.scores(each)
        if scores:
            difference = fmean(scores.values()) - base
            yield Known(choice, difference, len(scores), _ratio(_macs(each), macs))


def _rates(runs: PartRuns, comparison: Comparison | None) -> Iterable[Rate]:
    for factor, record in sorted(runs.rates.items()):
        score = score_of(record, runs.part)
        seed = record.job.seed
        same_seed = runs.ours.get(seed)
        own = score_of(same_seed, runs.part) if same_seed else None
        if score is None:
            is_failure = record.status != "ok"
            why = _tell_failure(record) if is_failure else _no_score(runs.part, [record])
            yield Rate(factor, why=why)
        elif own is None:
            status = same_seed.status if same_seed else "not run"
            why = f"nothing to compare with: seed {seed} at the recipe's rate: {status}"
            yield Rate(factor, score=score, why=why)
        elif comparison is None:
            yield Rate(factor, score=score, why="the part is not compared")
        else:
            gain = score - own
            p = p_of_pair(gain, comparison.scatter)
            yield Rate(factor, gain, p, score=score)


def _costs(runs: PartRuns, rows: Mapping[str, Mapping[str, dict]]) -> Costs:
    def ratio(kind: str, column: str) -> float | None:
        ours, theirs = _pair(runs, rows.get(kind, {}))
        if any(ours.get(key) != theirs.get(key) for key in ALIKE[kind]):
            return None
        return _ratio(ours.get(column), theirs.get(column))

    def spread(column: str) -> float | None:
        found = [row.get(column) for row in _pair(runs, rows.get("throughput", {}))]
        return None if None in found else max(found)

    return Costs(
        macs=_ratio(_macs(runs.ours), _macs(runs.baseline)),
        memory=ratio("memory", "memory_train_bytes"),
        train=ratio("throughput", "train_ms"),
        predict=ratio("throughput", "predict_ms"),
        train_spread=spread("train_spread"),
        predict_spread=spread("predict_spread"),
    )


def _pair(runs: PartRuns, rows: Mapping[str, dict]) -> tuple[dict, dict]:
    """Return the rows of the variant and of the baseline, empty where there is none."""
    pair = []
    for side in (runs.ours, runs.baseline):
        configurations = (record.job.configuration for record in side.values())
        pair.append(rows.get(next(configurations, ""), {}))
    return tuple(pair)


def _limits(runs: PartRuns, rows: Mapping[str, Mapping[str, dict]]) -> Iterable[AtLimit]:
    ours, theirs = _pair(runs, rows.get(OVER_S, {}))
    if ours.get("status") != "ok" or theirs.get("status") != "ok" or ours["S"] != theirs["S"]:
        return
    is_alike = all(ours.get(key) == theirs.get(key) for key in ALIKE["memory"])
    for place, S in enumerate(ours["S"]):
        macs = _ratio(ours["macs"][place], theirs["macs"][place])
        memory = _ratio(ours["memory_train_bytes"][place], theirs["memory_train_bytes"][place])
        yield AtLimit(S, macs, memory if is_alike else None)


def _against(baseline: dict[int, Record]) -> dict[str, str]:
    """Say what a baseline chooses: see `CardPart`."""
    for record in baseline.values():
        job = record.job
        chosen = {axis: getattr(job.attention, axis)["name"] for axis in AXES}
        added = getattr(job.net, ADDED, None)
        return chosen | ({ADDED: added} if added else {})
    return {}


def _macs(runs: dict[int, Record]) -> float | None:
    counts = []
    for record in runs.values():
        if record.cost and record.cost.macs:
            counts.append(record.cost.macs.executed)
    return fmean(counts) if counts else None


def _ratio(ours: float | None, theirs: float | None) -> float | None:
    return ours / theirs if ours and theirs else None


def _lengths(runs: PartRuns) -> Iterable[Length]:
    ours = _by_length(runs.ours, runs.part.score)
    theirs = _by_length(runs.baseline, runs.part.score)
    for at in sorted(ours.keys() & theirs.keys()):
        yield Length(at, ours[at], theirs[at])


def _by_length(runs: dict[int, Record], score: str) -> dict[float, float]:
    found: dict[float, list[float]] = {}
    for record in runs.values():
        for each in record.over_condition:
            if score in each.metrics:
                found.setdefault(each.at, []).append(each.metrics[score])
    return {at: fmean(values) for at, values in found.items()}


def _behaviour(runs: PartRuns) -> dict[str, tuple[float | None, float | None]]:
    found = {}
    for name in BEHAVIOUR:
        pair = (_mean_fact(runs.ours, name), _mean_fact(runs.baseline, name))
        if pair != (None, None):
            found[name] = pair
    return found


def _mean_fact(runs: dict[int, Record], name: str) -> float | None:
    values = []
    for record in runs.values():
        value = record.facts.get(name, record.metrics.get(name))
        if isinstance(value, int | float):
            values.append(value)
    return fmean(values) if values else None


def card_json(card: Card) -> str:
    """Write the numbers of a card as JSON."""
    return json.dumps(card_content(card), indent=1) + "\n"


def card_content(card: Card) -> dict:
    """Return the numbers of a card as JSON has them."""
    return {
        "name": card.name,
        "title": card.title,
        "choices": card.choices,
        "settings": card.settings,
        "scale": card.scale,
        "devices": card.devices,
        "parts": [_part_json(each) for each in card.parts],
        "back_test": asdict(card.back_test) if card.back_test else None,
    }


def _part_json(part: CardPart) -> dict:
    content = {
        "name": part.name,
        "title": part.part.title,
        "task": part.part.task,
        "corpus": part.part.corpus,
        "score": part.part.score,
        "at": part.part.at,
        "margin": part.part.margin,
        "ours": part.ours,
        "baseline": part.baseline,
        "against": part.against,
        "costs": asdict(part.costs),
        "digests": list(part.digests),
        "rates": [asdict(each) for each in part.rates],
        "limits": [asdict(each) for each in part.limits],
        "sizes": [_size_json(each) for each in part.sizes],
        "why": part.why,
    }
    return content | (asdict(part.comparison) if part.comparison else {})


def _size_json(at: AtSize) -> dict:
    content = {"size": at.size, "ours": at.ours, "baseline": at.baseline, "why": at.why}
    return content | (asdict(at.comparison) if at.comparison else {})
