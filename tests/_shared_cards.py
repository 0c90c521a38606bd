"""The archive of a card of made-up runs, with a choice that this project does not have."""

import hashlib
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tests._cards import planned
from tests._finished import finished
from tests._jobs import job
from workflow.cards.card import card_json, make_card
from workflow.cards.collect import collect
from workflow.cards.share import Shared, pack
from workflow.config.strict import parse
from workflow.plan.rows import PlanRow
from workflow.results import store as stores
from workflow.results.record import write_record, write_text
from workflow.results.store import Store, forget_lines, merge_records
from workflow.settings.battery import BASELINE, Battery, Carded, ChosenAxes

NAME = "half"
FOLDER = "test-card-half"
CHOSEN = {"normaliser": {"name": NAME}}
MARKER = "was-imported"
# a file that leaves a mark where it is run or imported, and what must be escaped
CODE = f'''"""Half of softmax <script>alert(1)</script>.

p_i = softmax(z)_i / 2
"""

open({MARKER!r}, "w").write("it was")
halves = [weight.softmax(-1) / 2 for weight in ()]
raise SystemExit("it was run")
'''
PART = {"title": "a toy", "task": "char_lm", "corpus": "toy", "score": "test_bpc", "margin": 0.1}
BATTERY = parse(Battery, {"about": "a toy", "seeds": 3, "parts": {"toy": PART}}, "battery")
OURS = {1: 2.51, 2: 2.52, 3: 2.54}
THEIRS = {1: 2.0, 2: 2.01, 3: 2.03, 4: 2.02}
KNOWN = {1: 2.2, 2: 2.21, 3: 2.24}


def ship(folder: Path, monkeypatch) -> None:
    """Ship the baseline and a known variant with a project, and make it this one."""
    records = [finished(job(seed=seed), test_bpc=score) for seed, score in THEIRS.items()]
    sparse = {"normaliser": {"name": "sparsemax"}}
    records += [finished(job(seed=seed, **sparse), test_bpc=bpc) for seed, bpc in KNOWN.items()]
    merge_records(records, folder)
    monkeypatch.setattr(stores, "PRECOMPUTED", folder)
    forget_lines()


WIDE = {"d_model": 32}


def shared(
    tmp_path: Path,
    monkeypatch,
    code: str = CODE,
    *,
    options: bool = False,
    baseline_trained: bool = False,
) -> Path:
    """Make a card as the rules would, and pack it; return the archive.

    options: with runs of the variant at other rates, and of both at twice the width.
    baseline_trained: its first seed was trained there too, as Snakemake does for timings.
    """
    shipped = tmp_path / "shipped"
    ship(shipped, monkeypatch)
    results = tmp_path / "sender" / "results"
    store = Store(results / "runs", shipped)
    ours = [job(seed=seed, **CHOSEN) for seed in OURS]
    for made, score in zip(ours, OURS.values(), strict=True):
        write_record(results / "runs" / made.digest / "record.json", finished(made, test_bpc=score))
    if baseline_trained:
        made = finished(job(seed=1), test_bpc=THEIRS[1])
        write_record(results / "runs" / made.digest / "record.json", made)
    rows = [planned(BASELINE, job(seed=1)), *(planned(NAME, made) for made in ours)]
    for row, score in _optional_runs(rows[1]) if options else ():
        path = results / "runs" / row.job.digest / "record.json"
        write_record(path, finished(row.job, test_bpc=score))
        rows.append(row)
    folder = results / FOLDER
    write_text(folder / "plan.json", json.dumps([each.record() for each in rows]))
    runs = collect(BATTERY, NAME, rows, store)
    chosen = CHOSEN | {"net": {}}
    card = make_card(NAME, NAME, chosen, "test", runs, {}, {})
    write_text(folder / "card.json", card_json(card))
    page = tmp_path / "sender" / "reports" / "test" / "cards" / "half.html"
    write_text(page, "<script>alert('the page of the sender')</script>")
    records = tuple(record for part in runs.values() for record in part.records)
    carded = Carded(NAME, NAME, ChosenAxes(**CHOSEN))
    made = Shared(carded, folder, page, records, {f"normalisers/{NAME}": code.encode()})
    out = tmp_path / "card.zip"
    pack(out, made, store)
    return out


def _optional_runs(recipe: PlanRow) -> Iterator[tuple[PlanRow, float]]:
    """Yield rows at half and at twice the rate, and of models of twice the width, with a score."""
    for factor, score in ((0.5, 2.4), (2.0, 2.7)):
        changes = {"tuning": "trial", "factors": {"lr": factor}}
        job_at_rate = recipe.job.varied({"lr": factor})
        yield recipe.model_copy(update=changes | {"job": job_at_rate}), score
    for seed in (1, 2):
        for variant, chosen, score in ((BASELINE, {}, 1.8), (NAME, CHOSEN, 2.2)):
            wide = planned(variant, job(seed=seed, net=WIDE, **chosen))
            yield wide.model_copy(update={"size": 2.0}), score + seed / 100


def rewritten(archive: Path, change, *, signed: bool = True) -> Path:
    """Change the files of an archive by hand. signed: with the checksums of what it then holds."""
    with zipfile.ZipFile(archive) as before:
        content = {name: before.read(name) for name in before.namelist()}
    change(content)
    if signed:
        manifest = json.loads(content["manifest.json"])
        files = {name: content[name] for name in content if name != "manifest.json"}
        sums = {name: hashlib.sha256(each).hexdigest() for name, each in files.items()}
        content["manifest.json"] = json.dumps(manifest | {"files": sums}).encode()
    with zipfile.ZipFile(archive, "w") as after:
        for name, each in content.items():
            after.writestr(name, each)
    return archive
