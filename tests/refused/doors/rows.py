"""What tables, figures, claims and pages are made from: rows of runs, evidence, the ledger."""

from tests._layers import layer
from tests._runs import write_inputs
from tests.refused._kind import Kind

RUNS = {"kind": "runs", "rows": [{"digest": "a"}]}
EVIDENCE = {"provenance": None, "claims": []}


def table(says: str, content: object, words: str = "adaptive_span_table1 out.json in.json") -> Kind:
    return Kind(f"scripts.table {words}", says, {"in.json": content})


def ledger(says: str, content: object) -> Kind:
    return Kind("scripts.ledger out.json --set a --scale laptop in.json", says, {"in.json": content})


def page(says: str, words: str, **files) -> Kind:
    results = {f"results/a/{name}.json": content for name, content in files.items()}
    return Kind(f"scripts.page {words} --scale a", says, results)


def hostile(folder) -> None:
    rows = (path for path in [folder / "ablations"] if not path.mkdir())
    write_inputs(next(rows))
    runs = folder / "ablations" / "runs.json"
    runs.write_text(runs.read_text().replace('"digest": "', '"digest": "javascript:'))


KINDS = {
    "an unknown table": table("unknown table 'table1'", RUNS, "table1 out.json in.json"),
    "an unknown figure": Kind("scripts.figure fig1 out.svg", "unknown figure 'fig1'"),
    "no rows": table("reads runs, but none were given", RUNS, "adaptive_span_table1 out.json"),
    "not there": table("none.json: No such file", RUNS, "adaptive_span_table1 out.json none.json"),
    "cut off": table("in.json: truncated or not JSON", '{"kind": "ru'),
    "no kind": table("expected rows of one kind", {"rows": []}),
    "an unknown kind": table("expected rows of one kind", {"kind": "run", "rows": []}),
    "a kind that is a list": table("expected rows of one kind", {"kind": ["runs"], "rows": []}),
    "rows that are a word": table("expected a list of rows", {"kind": "runs", "rows": "all"}),
    "a row that is a word": table("expected a list of rows", {"kind": "runs", "rows": ["one"]}),
    "rows of other columns": table("row 0: ablation = ", RUNS),
    "no rows at all": table("not runs as the workflow writes them", {"kind": "runs", "rows": []}),
    "names that are addresses": Kind(
        "scripts.run_files a.csv a.parquet b.csv ablations/runs.json", "digest = 'javascript:", make=hostile
    ),
    "a figure of other columns": Kind(
        "scripts.figure adaptive_span_figure4 out.svg in.json", "row 0: ablation = ", {"in.json": RUNS}
    ),
    "layers of other columns": Kind(
        "scripts.claims layers out.json in.json", "in.json", {"in.json": {"kind": "layers", "rows": [{"nn": 3}]}}
    ),
    "layers whose length is a word": Kind(
        "scripts.claims layers out.json in.json",
        "row 0: n = 'long'",
        {"in.json": {"kind": "layers", "rows": [layer("self", "long", 1.0, bytes=5)]}},
    ),
    "all runs of none": Kind(
        "scripts.run_files a.csv a.parquet b.csv in.json",
        "no table of runs among the inputs",
        {"in.json": {"kind": "layers", "rows": []}},
    ),
    "evidence that is a list": ledger("expected evidence as workflow.scripts.claims writes it", []),
    "evidence cut off": ledger("truncated or not JSON", "{"),
    "evidence without claims": ledger("expected evidence", {"provenance": None}),
    "evidence whose claims are a word": ledger("expected evidence", {**EVIDENCE, "claims": "all"}),
    "evidence whose claim is a word": ledger("expected evidence", {**EVIDENCE, "claims": ["one"]}),
    "evidence of an unknown claim": ledger("claim 0: expected evidence", {**EVIDENCE, "claims": [{"name": "mine"}]}),
    "evidence of nothing": ledger("expected evidence", {**EVIDENCE, "claims": [{"name": "flops_cut"}]}),
    "a set of a word": ledger("expected evidence", {**EVIDENCE, "set": "x", "claims": [{"name": "flops_cut"}]}),
    "an unknown page": page("invalid choice: 'index'", "index"),
    "a page of nothing": page("page ablation: needs a name", "ablation"),
    "a page of an unknown ablation": page("unknown ablation 'model': did you mean 'models'?", "ablation model"),
    "a page of an unknown paper": page("unknown paper 'aiyan': did you mean 'aiayn'?", "paper aiyan"),
    "a page without runs": page("no table of runs among the inputs", "paper aiayn"),
    "an engine that was not timed": page("results/a/engine.json: No such file", "engine"),
    "an engine cut off": page("results/a/engine.json: truncated or not JSON", "engine", engine="{"),
    "an engine that is a list": page("results/a/engine.json", "engine", engine=[]),
    "an engine of nothing": page("results/a/engine.json", "engine", engine={}),
    "a summary of a plan cut off": Kind(
        "scripts.summary a", "plan.json: truncated or not JSON", {"results/a/plan.json": "["}
    ),
    "a summary of a ledger cut off": Kind(
        "scripts.summary a", "ledger.json: truncated", {"results/a/ledger.json": "["}
    ),
    "a summary of a ledger of nothing": Kind("scripts.summary a", "ledger.json", {"results/a/ledger.json": {}}),
    "other results of nothing": Kind("scripts.evidence a none out.json", "none: no such results folder"),
}
