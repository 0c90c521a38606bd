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
    if record.bits != "portable" or here.bits != "portable":
        return False
    return _torch_version(record) == _torch_version(here)


def _torch_version(record: Record) -> str:
    """Return the version without what follows a plus, the build: 2.13.0 of 2.13.0+cpu."""
    version = record.origin.versions.get("torch", "")
    number, _, _ = version.partition("+")
    return number


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
    scores = {*record.metrics, *here.metrics}
    for name in sorted(scores):
        theirs = record.metrics.get(name)
        ours = here.metrics.get(name)
        if not _same(theirs, ours):
            found.append(f"{name} {theirs!r} in the record, {ours!r} here")
    # a record that is passed on lacks sentences, and attention maps but for a few runs
    for name in sorted(record.facts):
        is_known = name in here.facts
        if not is_known or not _same(record.facts[name], here.facts[name]):
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
    points = []
    for point in record.curve:
        points.append(point.model_dump(exclude={"tokens_per_s"}))
    return points


def _same(a, b) -> bool:
    """Say whether two values are written alike: not a number is equal to itself."""
    one = json.dumps(a, sort_keys=True)
    other = json.dumps(b, sort_keys=True)
    return one == other


def find_first(record: Record, here: Record) -> str:
    """Name the first update whose loss differs, as closely as records know."""
    last = 0
    losses = zip(record.losses, here.losses, strict=False)
    # losses are summed over the first 1, 2, 4, ... updates
    for power, (theirs, ours) in enumerate(losses):
        first = last + 1
        last = 2**power
        if not _same(theirs, ours):
            exact = f"update {last}"
            if first < last:
                exact = f"one of updates {first} to {last}"
            return f"losses first differ at {exact}"
    for theirs, ours in zip(record.curve, here.curve, strict=False):
        if not _same(_train_losses(theirs), _train_losses(ours)):
            return f"losses first differ by update {theirs.step}"
    return "no loss differs, only the scores"


def _train_losses(point: Point) -> list[float | None]:
    losses = []
    for name in CURVE_COLUMNS:
        if name.startswith("train_"):
            losses.append(getattr(point, name))
    return losses


def list_reasons(record: Origin, here: Origin) -> list[str]:
    """List what was not the same for the two, the likeliest first."""
    theirs = record.fields()
    ours = here.fields()
    other = []
    for name in {**theirs, **ours}:
        if theirs.get(name) != ours.get(name):
            other.append(name)
    reasons = []
    changed = [name for name in other if name.startswith("source ")]
    if changed:
        files = _name_files(changed)
        reasons.append(f"code: {files}; the record is from commit {record.commit[:7]}")
    for name in _likeliest_first(other):
        there = theirs.get(name, "none")
        present = ours.get(name, "none")
        reasons.append(f"{name}: {there} there, {present} here")
    return reasons


def _name_files(changed: list[str]) -> str:
    """Name a few files of source."""
    names = sorted(name.removeprefix("source ") for name in changed)
    files = ", ".join(names[:FILES])
    if len(names) <= FILES:
        return files
    return f"{files} and {len(names) - FILES} more"


def _likeliest_first(other: list[str]) -> list[str]:
    """Order what may change a number; other versions come after, and sources are left out."""
    named = [name for name in REASONS if name in other]
    for name in other:
        if name.startswith("version of ") and name not in REASONS:
            named.append(name)
    return named


def judge_scatter(record: Record, here: Record, seeds: list[Record]) -> str:
    """Say whether the scores differ from the record's by more than the seeds of its configuration.

    It is inconclusive with fewer than two seeds.
    """
    known = TASKS[record.job.task].known
    scores = [name for name in known if name in record.metrics]
    if here.status != record.status or not scores:
        return "inconclusive"
    beyond = False
    for name in scores:
        values = [each.metrics[name] for each in seeds if name in each.metrics]
        if len(values) < 2:
            return "inconclusive"
        spread = max(values) - min(values)
        ours = here.metrics.get(name)
        if ours is None or abs(ours - record.metrics[name]) > spread:
            beyond = True
    return "beyond seed noise" if beyond else "within seed noise"
