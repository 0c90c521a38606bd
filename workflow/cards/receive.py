"""Read the archive of a card that was made elsewhere, and check what it says.

1. The archive holds the files of its manifest and no others, each as its checksum says.
2. Each record is whole, of the job that names it, and of a run of this card. The runs of the
   variant choose what card.json says.
3. The scores in card.json are those of the records.
4. The comparison is computed again, from these records and those that ship with the project. What
   differs is listed.

The first three refuse an archive. They detect damage and careless edits; an invented record that
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
from workflow.settings.battery import BASELINE, Battery, Part, load_battery

SAME = 1e-6  # relative difference of two numbers that is rounding
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
    missing = sorted(set(store.only or ()) - set(store.shipped))
    unchecked = ""
    card = as_card(stored)
    differences: list[str] = []
    notes = _compare_battery(stored)
    if missing:
        unchecked = f"{len(missing)} of the records that it compares do not ship with this project"
        _check_scores(stored, own, {}, path)
    else:
        runs = _collect(stored, rows, store)
        _check_scores(stored, own, runs, path)
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


def _check_scores(
    stored: StoredCard, own: dict[str, Record], runs: dict[str, PartRuns], path: Path
) -> None:
    """Refuse scores that are not those of the records, as far as there are records."""
    for part in stored.parts:
        if part.name in runs:
            found = runs[part.name]
            sides = {
                "ours": (part.ours, found.scores(found.ours)),
                "baseline": (part.baseline, found.scores(found.baseline)),
            }
            digests = {record.digest for record in found.ours.values()}
        else:
            records = {own[each].job.seed: own[each] for each in part.digests if each in own}
            scored = PartRuns(part.part, ours=records, baseline={})
            sides = {"ours": (part.ours, scored.scores(records))}
            digests = set(part.digests)
            if len(records) < len(digests):
                # some of the variant's own records ship with the sender's project
                sides = {}
        for side, (told, scores) in sides.items():
            if not _are_same(told, scores):
                raise ConfigError(
                    f"{path}: {CARD}, part '{part.name}': the scores in '{side}' "
                    "are not those of the records"
                )
        if digests != set(part.digests):
            raise ConfigError(f"{path}: {CARD}, part '{part.name}': other runs than its records")


def _are_same(one, other) -> bool:
    """Say whether two values are the same but for rounding."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_are_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_are_same, one, other))
    numbers = (int, float)
    if isinstance(one, numbers) and isinstance(other, numbers):
        return math.isclose(one, other, rel_tol=SAME, abs_tol=1e-12)
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
