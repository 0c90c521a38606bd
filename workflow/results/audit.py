"""Compare a record with the same job trained again: bit for bit where that must hold, else against
seed noise.
"""

import json
from dataclasses import dataclass, field

from workflow.results.record import Origin, Record
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
    torch = {each.origin.versions.get("torch", "").partition("+")[0] for each in (record, here)}
    return record.bits == here.bits == "portable" and len(torch) == 1


def compare(label: str, record: Record, here: Record, seeds: list[Record]) -> Finding:
    """Compare a record with what was trained `here`. seeds: records of the same configuration,
    itself among them.
    """
    must, differs = must_be_equal(record, here), list_differences(record, here)
    about = {"must": must, "record": record, "here": here}
    if not differs:
        return Finding(record.digest, label, "equal", **about)
    about |= {
        "differs": differs,
        "first": find_first(record, here),
        "reasons": list_reasons(record.origin, here.origin),
    }
    return Finding(
        record.digest, label, "unequal" if must else judge_scatter(record, here, seeds), **about
    )


def list_differences(record: Record, here: Record) -> list[str]:
    """Name what differs: status, scores, facts, the learning curve, losses, weights."""
    found = (
        []
        if record.status == here.status
        else [f"status {record.status} in the record, {here.status} here"]
    )
    for name in sorted({*record.metrics, *here.metrics}):
        theirs, ours = record.metrics.get(name), here.metrics.get(name)
        if not _same(theirs, ours):
            found.append(f"{name} {theirs!r} in the record, {ours!r} here")
    # a record that is passed on lacks sentences, and attention maps but for a few runs
    kept = sorted(record.facts.items())
    found += [
        f"fact {name}"
        for name, fact in kept
        if name not in here.facts or not _same(fact, here.facts[name])
    ]
    curves = (
        [point.model_dump(exclude={"tokens_per_s"}) for point in each.curve]
        for each in (record, here)
    )
    if not _same(*curves):
        found.append("the learning curve")
    for name in ("losses", "weights"):
        theirs, ours = getattr(record, name), getattr(here, name)
        if theirs and theirs != ours:
            found.append(
                f"the {name}"
                if name == "losses"
                else f"the weights, {theirs} in the record, {ours} here"
            )
    return found


def _same(a, b) -> bool:
    """Say whether two values are written alike: not a number is equal to itself."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def find_first(record: Record, here: Record) -> str:
    """Name the first update whose loss differs, as closely as records know."""
    for power, (theirs, ours) in enumerate(zip(record.losses, here.losses, strict=False)):
        if not _same(theirs, ours):
            before = 2 ** (power - 1) if power else 0
            exact = (
                f"update {2**power}"
                if 2**power - before == 1
                else f"one of updates {before + 1} to {2**power}"
            )
            return f"losses first differ at {exact}"
    for theirs, ours in zip(record.curve, here.curve, strict=False):
        trained = ("train_bpc", "train_ppl")
        if not _same(*([getattr(point, name) for name in trained] for point in (theirs, ours))):
            return f"losses first differ by update {theirs.step}"
    return "no loss differs, only the scores"


def list_reasons(record: Origin, here: Origin) -> list[str]:
    """List what was not the same for the two, the likeliest first."""
    theirs, ours = record.fields(), here.fields()
    other = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
    named = [name for name in REASONS if name in other]
    named += [name for name in other if name.startswith("version of ") and name not in REASONS]
    reasons = [
        f"{name}: {theirs.get(name, 'none')} there, {ours.get(name, 'none')} here" for name in named
    ]
    changed = sorted(name.removeprefix("source ") for name in other if name.startswith("source "))
    if changed:
        more = f" and {len(changed) - FILES} more" if len(changed) > FILES else ""
        reasons.insert(
            0,
            f"code: {', '.join(changed[:FILES])}{more}; the record is from commit {record.commit[:7]}",
        )
    return reasons


def judge_scatter(record: Record, here: Record, seeds: list[Record]) -> str:
    """Say whether the scores differ from the record's by no more than its configuration's seeds
    differ.
    """
    scores = [name for name in TASKS[record.job.task].known if name in record.metrics]
    known = [[each.metrics[name] for each in seeds if name in each.metrics] for name in scores]
    if here.status != record.status or any(len(values) < 2 for values in known) or not scores:
        return "inconclusive"
    near = all(
        name in here.metrics
        and abs(here.metrics[name] - record.metrics[name]) <= max(values) - min(values)
        for name, values in zip(scores, known, strict=True)
    )
    return "within seed noise" if near else "beyond seed noise"
