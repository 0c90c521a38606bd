"""A results folder as the rules would leave it, from runs made up in `_runs`."""

import json

import pytest

from tests._engine import measured
from tests._jobs import captioning, job, parsing, translation
from tests._runs import everything, failed
from workflow.report.pages import learning
from workflow.results.record import Cost, Macs, Point, Record, write_record, write_text
from workflow.results.runs_table import FACTS, METRICS
from workflow.scripts import claims, figure, page, table
from workflow.training.origin import describe, pick_device

EVIL = "<script>alert('x')</script>"

MEASURED = {"macs_torch": 23456.0, "unsupported": ["aten::topk"], "train_spread": 0.034, "longest_S": 256.0}
EXECUTED = {"fixed": 9900.0, "adaptive": 10_670.0, "dynamic": 1.2e6}
MEASURED |= {"longest_S_ended": "oom", "memory_status": "error", "memory_reason": EVIL}


def results(folder, broken=False) -> None:
    """plan, runs, records, tables and figures; `broken`: one ablation's runs failed with a reason that is an attack."""
    runs = everything()
    runs = runs[(runs["task"] == "char_lm") | (runs["seed"] == 1)]  # a page a run: half of them will do
    rows = [row | MEASURED for row in json.loads(runs.to_json(orient="records"))]
    rows = [row | {"macs_executed": EXECUTED.get(row["variant"], 6e4)} for row in rows]
    if broken:
        rows = [failed(**_who(row)) | {"reason": EVIL} if row["variant"] == "sparsemax" else row for row in rows]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "runs.json").write_text(json.dumps(rows))
    plan = [{**_who(row), "digest": row["digest"], "job": {"seed": row["seed"]}} for row in rows]
    (folder / "plan.json").write_text(json.dumps(plan))
    write_text(folder / "measures" / "engine.json", json.dumps(measured()))
    for row in rows:
        write_record(folder / "runs" / row["digest"] / "record.json", record(row))
    for kind, script in (("tables", table), ("figures", figure)):
        (folder / kind).mkdir()
        for name in script.names():
            script.main([name, str(folder / "runs.json"), str(folder / kind / name)])
    claims.main([str(folder / "runs.json"), str(folder / "claims")])


def _who(row: dict) -> dict:
    return {key: row[key] for key in ("ablation", "paper", "variant", "S", "k", "seed", "corpus", "configuration")}


def record(row: dict) -> Record:
    makers = {"char_lm": job, "translation": translation, "captioning": captioning, "parsing": parsing}
    made = makers[row["task"]](seed=row["seed"])
    points = [Point(**point) for point in row["curve"]]
    cost = Cost(
        seconds=3, tokens_per_s=1e4, peak_memory_bytes=1 << 28, parameters=1000, macs=Macs(paper=1, dense=3, executed=2)
    )
    facts = {key: row[key] for key in FACTS if row[key] is not None}
    return Record(
        status=row["status"],
        reason=row["reason"],
        digest=row["digest"],
        job=made,
        metrics={key: row[key] for key in METRICS if row[key] is not None},
        facts=facts,
        cost=cost if row["status"] == "ok" else None,
        curve=points,
        origin=describe(pick_device("cpu"), "fp32"),
        log=["step 1", EVIL],
    )


def pages(results_folder, reports) -> None:
    """Every page of the report. The runs of a task share one curve here, so it is drawn once."""
    where = ["--results", str(results_folder), "--reports", str(reports)]
    drawn = {}

    def curve(record, draw=learning.curve):
        task = record.job.task
        if task not in drawn:
            drawn[task] = draw(record)
        return drawn[task]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learning, "curve", curve)
        page.main(["all", *where])
