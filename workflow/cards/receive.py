"""Read the archive of a card that was made elsewhere, and check what it says.

1. The archive holds the files of its manifest and no others, each as its checksum says.
2. Each record is whole, of the job that names it, and of a run of this card. The runs of the
   variant choose what card.json says.
3. The scores in card.json, of the variant, the baseline, other rates and other sizes, are those of
   the records in the archive and of those that ship with the project.
4. The comparison is computed again, if no record is missing. What differs is listed.

The first three refuse an archive. Where records are missing, the page says how many scores have
none. They detect damage and careless edits; an invented record that
is consistent passes. Code in an archive is text: it is shown, and neither run nor imported.
"""

import ast
import hashlib
import json
import math
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from workflow.cards.card import Card, card_json, make_card
from workflow.cards.collect import PartRuns, collect, read_costs
from workflow.cards.share import ARCHIVE, CARD, CODE, OF_CARD, PLAN
from workflow.cards.stored import StoredCard, StoredPart, as_card, read_card
from workflow.config.choices import ATTENTION
from workflow.config.errors import ConfigError, shown
from workflow.config.files import list_folder, shown_path
from workflow.config.strict import parse
from workflow.plan.rows import PlanRow, WrittenRow, read_plan
from workflow.results.archive import opened
from workflow.results.numbers import count
from workflow.results.record import Record
from workflow.results.store import Store, records_beside
from workflow.settings.battery import BASELINE, Battery, Part, load_battery, name_part

TOLERANCE = 1e-6  # relative difference of two numbers that is rounding
LONGEST_CODE = 200_000  # bytes of a file of code
DIGITS = 12  # of a checksum that a page shows


@dataclass(frozen=True)
class Code:
    """A file of code in an archive. place: `normalisers/softmax`. is_here: whether this project has
    the same file.
    """

    place: str
    text: str
    is_here: bool

    @property
    def docstring(self) -> str:
        """Return what it says of itself; empty where it is not Python."""
        try:
            with warnings.catch_warnings(action="ignore"):  # such as of an escape in a text
                return ast.get_docstring(ast.parse(self.text)) or ""
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ""


@dataclass(frozen=True)
class Received:
    """A card from elsewhere.

    card: as computed here, or as card.json has it where it cannot be. file: the name of the
    archive. checksum: of the archive, sha256. code: of its choices. unchecked: why nothing was
    computed again; empty where it was. differences: numbers of card.json that are others here.
    notes: what else a reader should know of the comparison.
    """

    card: Card
    file: str
    checksum: str
    code: tuple[Code, ...]
    unchecked: str
    differences: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """Say in a sentence what the check found."""
        if self.unchecked:
            return f"Not checked: {self.unchecked}."
        if self.differences:
            differing = count(len(self.differences), "difference")
            return f"Checked: {differing} between {CARD} and what this project computes."
        return f"Checked: its numbers agree with those in {CARD}."


def receive(path: Path) -> Received:
    """Read and check an archive; `ConfigError` for one that is damaged or contradicts itself."""
    if not path.is_file():
        raise ConfigError(f"{path}: no such file; expected the archive of a card")
    size = path.stat().st_size
    if size > ARCHIVE.largest:
        raise ConfigError(f"{path}: {size:,} bytes; the limit is {ARCHIVE.largest:,}")
    checksum = hashlib.sha256(path.read_bytes()).hexdigest()
    with opened(path, ARCHIVE) as folder:
        return _read(folder, path, checksum)


def _read(folder: Path, path: Path, checksum: str) -> Received:
    for name in (CARD, PLAN):
        if not (folder / name).is_file():
            raise ConfigError(f"{path}: there is no {name} in it")
    others = {each.name for each in list_folder(folder.parent)} - {folder.name, "runs"}
    if others:
        raise ConfigError(f"{path}: {shown(min(others))} in it is no part of this card")
    stored = read_card(folder / CARD)
    is_of_card = folder.name.startswith(stored.scale) and folder.name.endswith(
        f"-card-{stored.name}"
    )
    if not is_of_card:
        raise ConfigError(f"{path}: its results are those of {folder.name}, not of {stored.name}")
    rows = _read_rows(folder / PLAN)
    store = records_beside(folder)
    own = _check_records(store, rows, path)
    _check_choices(stored, rows, path)
    _check_trials(rows, path)
    missing = set(store.only or ()) - set(store.shipped)
    runs = _collect(stored, rows, store)
    checked, without_record = _check_scores(stored, runs, rows, missing, path)
    unchecked = ""
    card = as_card(stored)
    differences: list[str] = []
    notes = _compare_battery(stored)
    if missing:
        unchecked = f"{len(missing)} of the records that it compares do not ship with this project"
        notes.append(
            f"{checked} of its {checked + without_record} scores are those of records in the "
            "archive or here; the others, and all intervals, p-values and costs, are unchecked"
        )
    else:
        card = _make_again(stored, runs, folder)
        differences = list(_differences(as_card(stored), card))
        notes += _own_baseline(runs, own)
    return Received(
        card=card,
        file=path.name,
        checksum=checksum,
        code=tuple(_read_code(folder / "choices", path)),
        unchecked=unchecked,
        differences=tuple(differences),
        notes=tuple(notes),
    )


# --- what refuses an archive -----------------------------------------------------------------


def _read_rows(path: Path) -> list[PlanRow]:
    rows = []
    for row in read_plan(path):
        planned = parse(WrittenRow, row, shown_path(path))
        if planned.digest != planned.job.digest:
            raise ConfigError(f"{shown_path(path)}: {planned.digest} is not the digest of its job")
        rows.append(planned)
    return rows


def _check_records(store: Store, rows: list[PlanRow], path: Path) -> dict[str, Record]:
    """Read each record in the archive: by digest."""
    known = {row.job.digest for row in rows} | set(store.only or ())
    own = {}
    for place in list_folder(store.runs):
        digest = place.name
        if digest not in known:
            raise ConfigError(f"{path}: record {digest} is of no run of this card")
        record = store.read(digest)
        if record.job.digest != digest:
            raise ConfigError(f"{path}: record {digest} is of another job, {record.job.digest}")
        own[digest] = record
    return own


def _check_choices(stored: StoredCard, rows: list[PlanRow], path: Path) -> None:
    """Refuse runs of another variant than the card's."""
    variants = {row.variant for row in rows}
    if variants != {stored.name, BASELINE}:
        named = shown(", ".join(sorted(variants)))
        raise ConfigError(f"{path}: its plan compares {named}; expected {stored.name}, {BASELINE}")
    for row in rows:
        if row.variant == BASELINE:
            continue
        for axis, choice in stored.choices.axes.items():
            told = choice if isinstance(choice, dict) else {"name": choice}
            chosen = getattr(row.job.attention, axis)
            for key, value in told.items():
                if chosen.get(key) != value:
                    raise ConfigError(
                        f"{path}: its runs have {axis} {key} = {shown(chosen.get(key))}, "
                        f"but {CARD} says {shown(value)}"
                    )
        for key, value in stored.choices.net.items():
            if (getattr(row.job.net, key, None) or None) != (value or None):
                raise ConfigError(f"{path}: its runs do not have {key} = {shown(value)}")


def _check_trials(rows: list[PlanRow], path: Path) -> None:
    """Refuse runs at other rates or sizes that are not those of the card's models."""
    recipe = {}
    for row in rows:
        if row.plain:
            recipe[row.question, row.variant, row.job.seed] = row.job
    for row in rows:
        own = recipe.get((row.question, row.variant, row.job.seed))
        if own is None:
            continue  # not compared: a plan that trains nothing may lack it
        if row.tuning is not None:
            is_rate = row.tuning == "trial" and row.factors.keys() == {"lr"}
            if not is_rate or own.varied(row.factors).digest != row.job.digest:
                raise ConfigError(
                    f"{path}: {row.question}: run {row.job.digest} is not that of the recipe at "
                    f"another rate: {shown(row.factors)}"
                )
        elif row.job.net.d_model != row.size * own.net.d_model:
            raise ConfigError(
                f"{path}: {row.question}: run {row.job.digest} has no model of size {row.size:g}"
            )


@dataclass(frozen=True)
class _Side:
    """Scores of a part in card.json, and those of the records that are here, by seed or rate.

    records: what has a record here, with a score or not. is_complete: no record is missing.
    """

    name: str
    told: dict[float, float]
    scores: dict[float, float]
    records: frozenset[float]
    is_complete: bool

    @property
    def agrees(self) -> bool:
        keys = self.records | self.told.keys() if self.is_complete else self.records
        return all(_are_same(self.told.get(key), self.scores.get(key)) for key in keys)


def _check_scores(
    stored: StoredCard,
    runs: dict[str, PartRuns],
    rows: list[PlanRow],
    missing: set[str],
    path: Path,
) -> tuple[int, int]:
    """Refuse scores that are not those of the records; count those with a record and those without.

    missing: digests of the records that are neither in the archive nor here.
    """
    checked = 0
    without_record = 0
    for part in stored.parts:
        where = f"{path}: {CARD}, part '{part.name}'"
        digests: set[str] = set()
        sides = [_Side("ours", part.ours, {}, frozenset(), is_complete=True)]
        if part.name in runs:
            found = runs[part.name]
            digests = {record.digest for record in found.ours.values()}
            others = [row for row in rows if row.question == name_part(part.name) and not row.plain]
            sides = list(_sides(part, found, others, missing))
        for side in sides:
            if not side.agrees:
                raise ConfigError(
                    f"{where}: the scores in '{side.name}' are not those of the records"
                )
            checked += len(side.scores)
            without_record += len(side.told.keys() - side.scores.keys())
        if part.name in runs:
            _check_gains(part, runs[part.name], where)
        told = set(part.digests)
        if not digests <= told or not told - digests <= missing:
            raise ConfigError(f"{where}: other runs than its records")
    return checked, without_record


def _sides(
    part: StoredPart, found: PartRuns, others: list[PlanRow], missing: set[str]
) -> Iterator[_Side]:
    """Yield the scores of the variant and of the baseline, at the recipe, other sizes and rates.

    others: rows of runs at other sizes and rates.
    """

    def side(name: str, told: dict, records: dict, *, is_complete: bool) -> _Side:
        return _Side(name, told, found.scores(records), frozenset(records), is_complete)

    yield side("ours", part.ours, found.ours, is_complete=missing.isdisjoint(part.digests))
    yield side("baseline", part.baseline, found.baseline, is_complete=not missing)
    have_records = missing.isdisjoint(row.job.digest for row in others)
    told = {at.size: at for at in part.sizes}
    # the baseline is not compared with itself
    sizes = told.keys() if found.is_baseline else told.keys() | found.sizes.keys()
    for size in sorted(sizes):
        at = told.get(size)
        ours, baseline = found.sizes.get(size, ({}, {}))
        for name, records in (("ours", ours), ("baseline", baseline)):
            scores = getattr(at, name) if at else {}
            yield side(f"sizes, {size:g}, {name}", scores, records, is_complete=have_records)
    at_rates = {rate.factor: rate.score for rate in part.rates if rate.score is not None}
    yield side("rates", at_rates, found.rates, is_complete=have_records)


def _check_gains(part: StoredPart, found: PartRuns, where: str) -> None:
    """Refuse a gain at another rate that is not the difference of its scores."""
    for rate in part.rates:
        record = found.rates.get(rate.factor)
        if rate.gain is None or record is None:
            continue
        own = part.ours.get(record.job.seed)
        if own is None or rate.score is None or not _are_same(rate.gain, rate.score - own):
            raise ConfigError(f"{where}: the gain in 'rates' is not the difference of its scores")


def _are_same(one, other) -> bool:
    """Say whether two values are the same but for rounding."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_are_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_are_same, one, other))
    numbers = (int, float)
    if isinstance(one, numbers) and isinstance(other, numbers):
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=1e-12)
    return one == other


# --- what is computed again ------------------------------------------------------------------


def _collect(stored: StoredCard, rows: list[PlanRow], store: Store) -> dict[str, PartRuns]:
    parts = {part.name: part.part for part in stored.parts}
    battery = Battery(about="", seeds=1, parts=parts)
    return collect(battery, stored.name, rows, store)


def _make_again(stored: StoredCard, runs: dict[str, PartRuns], folder: Path) -> Card:
    empty: dict[str, tuple[Part, str]] = {}
    for part in stored.parts:
        if part.name not in runs:
            empty[part.name] = (part.part, part.why or "not run")
    files = [file for kind in OF_CARD for file in list_folder(folder / kind, ".json")]
    about = (stored.name, stored.title, stored.chosen, stored.scale)
    return make_card(*about, runs, empty, read_costs(files))


def _differences(told: Card, made: Card) -> Iterator[str]:
    """List the numbers that differ between two cards of the same parts."""
    one = json.loads(card_json(told))
    other = json.loads(card_json(made))
    for key in one:
        if key != "parts" and one[key] != other[key]:
            yield f"{key}: {shown(one[key])} in {CARD}, {shown(other[key])} here"
    here = {part["name"]: part for part in other["parts"]}
    for part in one["parts"]:
        made_here = here[part["name"]]
        for key in dict.fromkeys([*part, *made_here]):
            said = part.get(key)
            found = made_here.get(key)
            if not _are_same(said, found):
                yield (f"{part['title']}, {key}: {_short(said)} in {CARD}, {_short(found)} here")


def _short(value) -> str:
    return f"{value:.4g}" if isinstance(value, float) else shown(value)


def _own_baseline(runs: dict[str, PartRuns], own: dict[str, Record]) -> list[str]:
    """Say how many runs of the baseline are the sender's."""
    digests = {record.digest for part in runs.values() for record in part.baseline.values()}
    sent = digests & own.keys()
    if not sent:
        return []
    if len(sent) == len(digests):
        return ["all runs of the baseline came with the archive"]
    return [
        f"{len(sent)} of {len(digests)} runs of the baseline came with the archive; "
        "the others ship with this project"
    ]


def _compare_battery(stored: StoredCard) -> list[str]:
    """Say where its parts are others than those of this project's battery."""
    battery = load_battery().parts
    notes = []
    for part in stored.parts:
        own = battery.get(part.name)
        if own is None:
            notes.append(f"'{part.title}' is no part of this project's battery")
        else:
            notes += _compare_part(part, own)
    lacking = battery.keys() - {part.name for part in stored.parts}
    if lacking:
        count = f"{len(lacking)} of the {len(battery)} parts"
        notes.append(f"it lacks {count} of this project's battery")
    return notes


def _compare_part(part: StoredPart, own: Part) -> Iterable[str]:
    for key in ("task", "corpus", "score", "at", "margin"):
        if getattr(part, key) != getattr(own, key):
            told = shown(getattr(part, key))
            yield f"{part.title}: {key} is {told}, {shown(getattr(own, key))} in this project"


# --- code ------------------------------------------------------------------------------------


def _read_code(folder: Path, path: Path) -> Iterator[Code]:
    for each in sorted(folder.glob(f"*/*{CODE}")):
        place = f"{each.parent.name}/{each.name.removesuffix(CODE)}"
        content = each.read_bytes()
        if len(content) > LONGEST_CODE:
            raise ConfigError(f"{path}: {place} has more than {LONGEST_CODE:,} bytes")
        here = ATTENTION / f"{place}.py"
        is_here = here.is_file() and here.read_bytes() == content
        yield Code(place, content.decode(errors="replace"), is_here)
