"""The results of one scale as the rules would leave them, from runs made up in `_runs`, and every
page made of them.
"""

import json
from collections import defaultdict
from itertools import product
from pathlib import Path

import pytest

from tests._costs import MEASURED, split_costs
from tests._jobs import captioning, job, parsing, symbols, translation
from tests._layers import layer
from tests._runs import every_run, of_texts
from tests._training import origin
from workflow.claims.collect import collect_about
from workflow.claims.evidence import write_evidence
from workflow.claims.schema import claims_about, known_claims, load_claims, sized_claims
from workflow.config.files import atomic_write
from workflow.plan.reads import reads
from workflow.report import figure_files
from workflow.report.figure_files import write_figure
from workflow.report.pages.site import Site
from workflow.report.table_files import write_table
from workflow.results import provenance
from workflow.results.audit import Finding
from workflow.results.record import (
    Cost,
    Macs,
    Point,
    Record,
    ScoresAt,
    read_or_refuse,
    write_record,
    write_text,
)
from workflow.results.registry import COSTS, OF_TEXTS, names
from workflow.results.rows import write_rows
from workflow.results.runs_table import read_frames
from workflow.scripts import audit, question, report, summary
from workflow.settings.questions import Question, load_question

SCALE = "test"
EVIL = "<script>alert('x')</script>"
MAKERS = {
    "char_lm": job,
    "translation": translation,
    "captioning": captioning,
    "parsing": parsing,
    "symbols": symbols,
}
PLANNED = [
    "question",
    "paper",
    "variant",
    "paper_corpus",
    "corpus",
    "S",
    "k",
    "digest",
    "configuration",
]
EXECUTED = {"fixed": 9900.0, "adaptive": 10_670.0, "dynamic": 1.2e6}
COUNTED = {
    "macs_torch": 23456.0,
    "macs_fvcore": None,
    "unsupported": ["aten::topk"],
    "train_ms": 64.0,
    "train_turns": [63.0, 64.0, 65.0],
}
SEARCHED = {"longest_span_status": "ok", "longest_S": 256.0, "longest_S_ended": "oom"}
NOT_WEIGHED = {"memory_status": "error", "memory_reason": EVIL, "memory_train_bytes": None}
DIVERGED = dict.fromkeys((*names("metric", "fact", "run"), *MEASURED))
DIVERGED |= {"status": "diverged", "reason": f"mean loss nan {EVIL}"}


def rows_of(questions: list[str] | None = None, broken: bool = False) -> list[dict]:
    """Make the runs of a scale with their costs.

    broken: one variant failed, and its reason is an attack.
    """
    rows = []
    for made in every_run():
        if questions is not None and made["question"] not in questions:
            continue
        # a page a run: half of them will do
        if made["task"] != "char_lm" and made["seed"] != 1:
            continue
        row = made | COUNTED
        row["macs_executed"] = EXECUTED.get(row["variant"], 6e4)
        if row["variant"] == "fixed":
            row |= NOT_WEIGHED
        if (row["question"], row["S"]) == ("span_limit", 64):
            row |= SEARCHED
        if broken and row["variant"] == "sparsemax":
            row |= DIVERGED
        rows.append(row)
    return rows


def write_results(folder: Path, rows: list[dict]) -> None:
    """Write all that the rules write before the pages, under folder/results."""
    scale = folder / "results" / SCALE
    runs = folder / "results" / "runs"
    plan = [planned(row) for row in rows]
    write_text(scale / "plan.json", json.dumps(plan))
    for row in rows:
        path = runs / row["digest"] / "record.json"
        write_record(path, record(row))
    write_rows_of(scale, rows)
    questions = list(dict.fromkeys(row["question"] for row in rows))
    for name in questions:
        write_artefacts(scale, name, load_question(name))
        frames = read_frames(inputs(scale, name))
        about = load_claims(claims_about(name))
        on_sizes = load_claims(sized_claims(name))
        evidence = collect_about(about, on_sizes, frames)
        write_evidence(scale / "claims" / f"{name}.json", evidence)
    other = other_scale(scale, questions)
    write_text(scale / "evidence" / "overnight.json", json.dumps(other))


def other_scale(scale: Path, questions: list[str]) -> dict:
    """Make evidence of another scale, which reproduced the claims about one of these questions."""
    name = min(questions)
    for claim in load_claims(known_claims()).values():
        if claim.about in questions:
            name = claim.about
            break
    path = scale / "claims" / f"{name}.json"
    evidence = json.loads(path.read_text())
    lines = evidence["claims"]
    for line in lines:
        line["verdict"] = "reproduced"
        line["why"] = EVIL
    return {
        "set": "overnight",
        "scale": "overnight",
        "provenance": EVIL,
        "claims": lines,
    }


def planned(row: dict) -> dict:
    """Make a run's entry of the plan."""
    asked = job_of(row)
    entry = {key: row[key] for key in PLANNED}
    entry["job"] = asked.model_dump(mode="json")
    return entry


def job_of(row: dict):
    """Make the job of a made-up run."""
    make = MAKERS[row["task"]]
    return make(seed=row["seed"])


def write_rows_of(scale: Path, rows: list[dict]) -> None:
    """Write tables of runs, costs, layers and readers, each in its file."""
    runs, costs = split_costs(rows)
    files = defaultdict(list)
    for row in runs:
        files["runs", f"questions/{row['question']}"].append(row)
    for kind in COSTS:
        for row in costs[kind]:
            files[kind, f"{kind}/{row['configuration']}"].append(row)
    questions = {row["question"] for row in rows}
    if "transformer" in questions:
        for name, n in product(("self", "rnn"), (64, 128)):
            made = layer(name, n, float(n))
            files["layers", "layers"].append(made)
    if "known_entropy" in questions:
        for kind, content in of_texts().items():
            files[kind, f"{kind}/topics"] = content
    for (kind, place), content in files.items():
        written = write_rows(kind, content)
        write_text(scale / f"{place}.json", written)


def inputs(scale: Path, question: str, wanted: tuple[str, ...] = ("runs", *COSTS)) -> list[Path]:
    """Name the files of rows that something about a question stands on."""
    runs = scale / "questions" / f"{question}.json"
    content = json.loads(runs.read_text())
    configurations = dict.fromkeys(row["configuration"] for row in content["rows"])
    places = {"runs": [runs], "layers": [scale / "layers.json"]}
    for kind in COSTS:
        measured = scale / kind
        places[kind] = [measured / f"{name}.json" for name in configurations]
    for kind in OF_TEXTS:
        places[kind] = [scale / kind / "topics.json"]
    found = []
    for kind, paths in places.items():
        if kind in wanted:
            found += filter(Path.exists, paths)
    return found


def write_artefacts(scale: Path, name: str, question: Question) -> None:
    """Write the tables and figures of a question."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figure_files, "save", save_svg)
        for each in question.tables:
            wanted = reads("tables", each)
            frames = read_frames(inputs(scale, name, wanted))
            write_table(scale / "tables" / f"{each}.json", each, frames)
        for each in question.figures:
            wanted = reads("figures", each)
            frames = read_frames(inputs(scale, name, wanted))
            write_figure(scale / "figures" / f"{each}.svg", each, frames)


def save_svg(drawing, out: Path, title: str, origin: str, trace: str) -> None:
    """Save one format of three: pages show it, and only copy the other two."""
    about = provenance.metadata(title, origin, trace)["svg"]
    with atomic_write(out) as file:
        drawing.savefig(file, format="svg", metadata=about)
    for ending in (".pdf", ".png"):
        write_text(out.with_suffix(ending), ending)


def values_of(row: dict, kind: str) -> dict:
    """Return what a run has of a kind of numbers."""
    return {key: row[key] for key in names(kind) if row[key] is not None}


def record(row: dict) -> Record:
    """Make the record of a made-up run."""
    cost = None
    if row["status"] == "ok":
        cost = Cost(
            seconds=3,
            tokens_per_s=1e4,
            peak_memory_bytes=1 << 28,
            parameters=1000,
            macs=Macs(paper=1, dense=3, executed=2),
        )
    return Record(
        status=row["status"],
        reason=row["reason"],
        digest=row["digest"],
        metrics=values_of(row, "metric"),
        over_condition=[ScoresAt(**each) for each in row["over_condition"]],
        facts=values_of(row, "fact"),
        job=job_of(row),
        cost=cost,
        curve=[Point(**point) for point in row["curve"]],
        origin=origin(),
        log=["step 1", EVIL],
    )


def site_of(folder: Path) -> Site:
    results = folder / "results"
    return Site(results / SCALE, folder / "reports" / SCALE, results / "runs")


def write_question(folder: Path, name: str) -> None:
    """Write the pages of a question and of its runs."""
    site = site_of(folder)
    frames = read_frames(inputs(site.results, name))
    records = {}
    for digest in frames.everything["digest"]:
        path = site.runs / digest / "record.json"
        records[digest] = read_or_refuse(path)
    question.write_pages(site, name, frames, records)


def write_report(folder: Path, *names: str) -> None:
    """Write the ledger, all runs as one table, and the pages that these questions share."""
    scale = folder / "results" / SCALE
    rows = {}
    for name in names:
        rows |= dict.fromkeys(inputs(scale, name, ("runs", *COSTS, "layers")))
    evidence = sorted((scale / "claims").glob("*.json"))
    evidence += sorted((scale / "evidence").glob("*.json"))
    words = ["--scale", SCALE]
    words += ["--rows", *map(str, rows)]
    words += ["--evidence", *map(str, evidence)]
    report.main(words + where(folder))


def where(folder: Path) -> list[str]:
    results = folder / "results"
    reports = folder / "reports"
    return ["--results", str(results), "--reports", str(reports)]


def write_pages(folder: Path) -> None:
    """Write every page of the scale, in the order of the rules, and the root index."""
    questions = folder / "results" / SCALE / "questions"
    names = sorted(path.stem for path in questions.glob("*.json"))
    for name in names:
        write_question(folder, name)
    write_report(folder, *names)
    first, *_ = rows_of()
    finding = Finding(
        "cafe0123cafe",
        EVIL,
        "inconclusive",
        first=EVIL,
        differs=[EVIL],
        reasons=[EVIL],
        record=record(first),
    )
    audit.write_page(site_of(folder), [EVIL] * 3, [finding])
    summary.main([SCALE, *where(folder)])
