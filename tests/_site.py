"""The results of one scale as the rules would leave them, from runs made up in `_runs`, and every
page made of them.
"""

import json
from collections import defaultdict
from pathlib import Path

import pytest

from tests._costs import MEASURED, split_costs
from tests._jobs import captioning, job, parsing, translation
from tests._layers import layer
from tests._runs import every_run, of_texts
from tests._training import origin
from workflow.claims.collect import collect_about
from workflow.claims.evidence import write_evidence
from workflow.claims.schema import claims_about, known_claims, load_claim, load_claims, sized_claims
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
MAKERS = {"char_lm": job, "translation": translation, "captioning": captioning, "parsing": parsing}
PLANNED = (
    "question",
    "paper",
    "variant",
    "paper_corpus",
    "corpus",
    "S",
    "k",
    "digest",
    "configuration",
)
EXECUTED = {"fixed": 9900.0, "adaptive": 10_670.0, "dynamic": 1.2e6}
COUNTED = {"macs_torch": 23456.0, "macs_fvcore": None, "unsupported": ["aten::topk"]}
COUNTED |= {"train_ms": 64.0, "train_turns": [63.0, 64.0, 65.0]}
SEARCHED = {"longest_span_status": "ok", "longest_S": 256.0, "longest_S_ended": "oom"}
NOT_WEIGHED = {"memory_status": "error", "memory_reason": EVIL, "memory_train_bytes": None}


def rows_of(questions: list[str] | None = None, broken: bool = False) -> list[dict]:
    """Make the runs of a scale with their costs. broken: one variant failed, and its reason is an
    attack.
    """
    rows = [row for row in every_run() if questions is None or row["question"] in questions]
    # a page a run: half of them will do
    rows = [row for row in rows if row["task"] == "char_lm" or row["seed"] == 1]
    rows = [row | COUNTED | {"macs_executed": EXECUTED.get(row["variant"], 6e4)} for row in rows]
    rows = [row | NOT_WEIGHED if row["variant"] == "fixed" else row for row in rows]
    rows = [
        row | SEARCHED if (row["question"], row["S"]) == ("span_limit", 64) else row for row in rows
    ]
    diverged = dict.fromkeys((*names("metric", "fact", "run"), *MEASURED))
    diverged |= {"status": "diverged", "reason": f"mean loss nan {EVIL}"}
    return [row | diverged if broken and row["variant"] == "sparsemax" else row for row in rows]


def write_results(folder: Path, rows: list[dict]) -> None:
    """Write all that the rules write before the pages, under folder/results."""
    scale, names = folder / "results" / SCALE, dict.fromkeys(row["question"] for row in rows)
    write_text(scale / "plan.json", json.dumps([planned(row) for row in rows]))
    for row in rows:
        write_record(folder / "results" / "runs" / row["digest"] / "record.json", record(row))
    write_rows_of(scale, rows)
    for name in names:
        write_artefacts(scale, name, load_question(name))
        about = load_claims(claims_about(name))
        on_sizes = load_claims(sized_claims(name))
        evidence = collect_about(about, on_sizes, read_frames(inputs(scale, name)))
        write_evidence(scale / "claims" / f"{name}.json", evidence)
    claimed = next(
        (load_claim(each).about for each in known_claims() if load_claim(each).about in names),
        min(names),
    )
    lines = json.loads((scale / "claims" / f"{claimed}.json").read_text())["claims"]
    lines = [line | {"verdict": "reproduced", "why": EVIL} for line in lines]
    others = {"set": "overnight", "scale": "overnight", "provenance": EVIL, "claims": lines}
    write_text(scale / "evidence" / "overnight.json", json.dumps(others))


def planned(row: dict) -> dict:
    return {key: row[key] for key in PLANNED} | {
        "job": MAKERS[row["task"]](seed=row["seed"]).model_dump(mode="json")
    }


def write_rows_of(scale: Path, rows: list[dict]) -> None:
    """Tables of runs, costs, layers and readers, each in its file."""
    (runs, costs), files = split_costs(rows), defaultdict(list)
    for row in runs:
        files["runs", f"questions/{row['question']}"].append(row)
    for kind in COSTS:
        for row in costs[kind]:
            files[kind, f"{kind}/{row['configuration']}"].append(row)
    if any(row["question"] == "transformer" for row in rows):
        files["layers", "layers"] = [
            layer(name, n, float(n)) for name in ("self", "rnn") for n in (64, 128)
        ]
    if any(row["question"] == "known_entropy" for row in rows):
        files |= {(kind, f"{kind}/topics"): content for kind, content in of_texts().items()}
    for (kind, place), content in files.items():
        write_text(scale / f"{place}.json", write_rows(kind, content))


def inputs(scale: Path, question: str, wanted: tuple[str, ...] = ("runs", *COSTS)) -> list[Path]:
    """Name the files of rows that something about a question stands on."""
    runs = scale / "questions" / f"{question}.json"
    configurations = dict.fromkeys(
        row["configuration"] for row in json.loads(runs.read_text())["rows"]
    )
    places = {kind: [scale / kind / f"{name}.json" for name in configurations] for kind in COSTS}
    places |= {kind: [scale / kind / "topics.json"] for kind in OF_TEXTS}
    places |= {"runs": [runs], "layers": [scale / "layers.json"]}
    return [path for kind in places if kind in wanted for path in places[kind] if path.exists()]


def write_artefacts(scale: Path, name: str, question: Question) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figure_files, "save", save_svg)
        for kind, write, ending in (
            ("tables", write_table, "json"),
            ("figures", write_figure, "svg"),
        ):
            for each in getattr(question, kind):
                frames = read_frames(inputs(scale, name, reads(kind, each)))
                write(scale / kind / f"{each}.{ending}", each, frames)


def save_svg(drawing, out: Path, title: str, origin: str, trace: str) -> None:
    """Save one format of three: pages show it, and only copy the other two."""
    with atomic_write(out) as file:
        drawing.savefig(
            file, format="svg", metadata=provenance.metadata(title, origin, trace)["svg"]
        )
    for ending in (".pdf", ".png"):
        write_text(out.with_suffix(ending), ending)


def record(row: dict) -> Record:
    cost = {"seconds": 3, "tokens_per_s": 1e4, "peak_memory_bytes": 1 << 28, "parameters": 1000}
    scores = {
        f"{kind}s": {key: row[key] for key in names(kind) if row[key] is not None}
        for kind in ("metric", "fact")
    }
    return Record(
        **{key: row[key] for key in ("status", "reason", "digest")},
        **scores,
        job=MAKERS[row["task"]](seed=row["seed"]),
        cost=Cost(**cost, macs=Macs(paper=1, dense=3, executed=2))
        if row["status"] == "ok"
        else None,
        curve=[Point(**point) for point in row["curve"]],
        origin=origin(),
        log=["step 1", EVIL],
    )


def site_of(folder: Path) -> Site:
    return Site(folder / "results" / SCALE, folder / "reports" / SCALE, folder / "results" / "runs")


def write_question(folder: Path, name: str) -> None:
    site = site_of(folder)
    frames = read_frames(inputs(site.results, name))
    records = {
        digest: read_or_refuse(site.runs / digest / "record.json")
        for digest in frames.everything["digest"]
    }
    question.write_pages(site, name, frames, records)


def write_report(folder: Path, *names: str) -> None:
    """Write the ledger, all runs as one table, and the pages that these questions share."""
    scale = folder / "results" / SCALE
    rows = dict.fromkeys(
        path for name in names for path in inputs(scale, name, ("runs", *COSTS, "layers"))
    )
    evidence = [
        path for kind in ("claims", "evidence") for path in sorted((scale / kind).glob("*.json"))
    ]
    words = ["--rows", *map(str, rows), "--evidence", *map(str, evidence)]
    report.main(["--scale", SCALE, *words, *where(folder)])


def where(folder: Path) -> list[str]:
    return ["--results", str(folder / "results"), "--reports", str(folder / "reports")]


def write_pages(folder: Path) -> None:
    """Write every page of the scale, in the order of the rules, and the root index."""
    names = sorted(path.stem for path in (folder / "results" / SCALE / "questions").glob("*.json"))
    for name in names:
        write_question(folder, name)
    write_report(folder, *names)
    told = {"first": EVIL, "differs": [EVIL], "reasons": [EVIL], "record": record(rows_of()[0])}
    audit.write_page(
        site_of(folder), [EVIL] * 3, [Finding("cafe0123cafe", EVIL, "inconclusive", **told)]
    )
    summary.main([SCALE, *where(folder)])
