"""Compare a record with the same job trained again: bit for bit where that must hold, else against
seed noise.
"""

import json
from dataclasses import dataclass, field, replace

from workflow.results.record import CURVE_COLUMNS, Origin, Point, Record
from workflow.tasks.spec import TASKS

FILES = 4  # of other sources that are named
# what may change a number, the likeliest first; other versions come after
REASONS = (
    "version of torch",
    "device",
    "devices",
    "driver",
    "precision",
    "version of compiler",
    "threads",
)


@dataclass(frozen=True)
class Finding:
    """What an audit says of one record.

    digest, label: of the run. verdict: `equal`, `within seed noise`, `unequal`, `beyond seed
    noise`, `inconclusive`, or `refused`. must: whether it has to be equal to the bit. first: where
    the first loss differs. differs: each number that does. reasons: what was not the same.
    """

    digest: str
    label: str
    verdict: str
    must: bool = False
    first: str = ""
    differs: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    record: Record | None = None
    here: Record | None = None

    @property
    def fails(self) -> bool:
        return self.verdict in ("refused", "unequal")


def must_be_equal(record: Record, here: Record) -> bool:
    """Say whether bits must match: both runs are portable and used the same version of torch."""
    both_portable = record.bits == here.bits == "portable"
    return both_portable and _torch_version(record) == _torch_version(here)


def _torch_version(record: Record) -> str:
    """Return the version without what follows a plus, the build: 2.13.0 of 2.13.0+cpu."""
    return record.origin.versions.get("torch", "").partition("+")[0]


def compare(label: str, record: Record, here: Record, seeds: list[Record]) -> Finding:
    """Compare a record with what was trained `here`. seeds: records of the same configuration,
    itself among them.
    """
    must = must_be_equal(record, here)
    differs = list_differences(record, here)
    equal = Finding(record.digest, label, "equal", must, record=record, here=here)
    if not differs:
        return equal
    verdict = "unequal" if must else judge_scatter(record, here, seeds)
    return replace(
        equal,
        verdict=verdict,
        differs=differs,
        first=find_first(record, here),
        reasons=list_reasons(record.origin, here.origin),
    )


def list_differences(record: Record, here: Record) -> list[str]:
    """Name what differs: status, scores, facts, the learning curve, losses, weights."""
    found = []
    if record.status != here.status:
        found.append(f"status {record.status} in the record, {here.status} here")
    for name in sorted({*record.metrics, *here.metrics}):
        theirs = record.metrics.get(name)
        ours = here.metrics.get(name)
        if not _same(theirs, ours):
            found.append(f"{name} {theirs!r} in the record, {ours!r} here")
    # a record that is passed on lacks sentences, and attention maps but for a few runs
    for name, fact in sorted(record.facts.items()):
        if name not in here.facts or not _same(fact, here.facts[name]):
            found.append(f"fact {name}")
    if not _same(_curve_of(record), _curve_of(here)):
        found.append("the learning curve")
    if record.losses and record.losses != here.losses:
        found.append("the losses")
    if record.weights and record.weights != here.weights:
        found.append(f"the weights, {record.weights} in the record, {here.weights} here")
    return found


def _curve_of(record: Record) -> list[dict]:
    """Return the learning curve without its speeds, which are never the same."""
    return [point.model_dump(exclude={"tokens_per_s"}) for point in record.curve]


def _same(a, b) -> bool:
    """Say whether two values are written alike: not a number is equal to itself."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def find_first(record: Record, here: Record) -> str:
    """Name the first update whose loss differs, as closely as records know."""
    last = 0
    # losses are summed over the first 1, 2, 4, ... updates
    for power, (theirs, ours) in enumerate(zip(record.losses, here.losses, strict=False)):
        first = last + 1
        last = 2**power
        if not _same(theirs, ours):
            exact = f"update {last}" if first == last else f"one of updates {first} to {last}"
            return f"losses first differ at {exact}"
    for theirs, ours in zip(record.curve, here.curve, strict=False):
        if not _same(_train_losses(theirs), _train_losses(ours)):
            return f"losses first differ by update {theirs.step}"
    return "no loss differs, only the scores"


def _train_losses(point: Point) -> list[float | None]:
    names = [name for name in CURVE_COLUMNS if name.startswith("train_")]
    return [getattr(point, name) for name in names]


def list_reasons(record: Origin, here: Origin) -> list[str]:
    """List what was not the same for the two, the likeliest first."""
    theirs = record.fields()
    ours = here.fields()
    other = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
    versions = [name for name in other if name.startswith("version of ")]
    named = [name for name in REASONS if name in other]
    named += [name for name in versions if name not in REASONS]
    reasons = []
    changed = sorted(name.removeprefix("source ") for name in other if name.startswith("source "))
    if changed:
        files = ", ".join(changed[:FILES])
        if len(changed) > FILES:
            files += f" and {len(changed) - FILES} more"
        reasons.append(f"code: {files}; the record is from commit {record.commit[:7]}")
    for name in named:
        there = theirs.get(name, "none")
        reasons.append(f"{name}: {there} there, {ours.get(name, 'none')} here")
    return reasons


def judge_scatter(record: Record, here: Record, seeds: list[Record]) -> str:
    """Say whether the scores differ from the record's by no more than its configuration's seeds
    differ.
    """
    scores = [name for name in TASKS[record.job.task].known if name in record.metrics]
    if here.status != record.status or not scores:
        return "inconclusive"
    beyond = False
    for name in scores:
        values = [each.metrics[name] for each in seeds if name in each.metrics]
        if len(values) < 2:
            return "inconclusive"
        spread = max(values) - min(values)
        if name not in here.metrics or abs(here.metrics[name] - record.metrics[name]) > spread:
            beyond = True
    return "beyond seed noise" if beyond else "within seed noise"
