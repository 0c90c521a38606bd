"""Records, plans and costs of a scale's results, as `merge` reads them."""

import json
from collections.abc import Callable

from tests import _site
from tests.compare.test_sets import RUN, scale_of, write_set
from tests.refused._kind import Kind

SCALE = f"results/{_site.SCALE}"
COMMAND = f"cli.merge out.csv {SCALE}"
RECORD, PLAN = f"results/runs/{RUN}/record.json", f"{SCALE}/plan.json"


def changed(place: str, change: Callable) -> Callable:
    """Writes a set of results, one file of it changed: its text, or what it holds where that is JSON."""

    def make(folder):
        path = write_set(folder) / place
        path.parent.mkdir(exist_ok=True)
        content = json.loads(path.read_text()) if path.exists() else None
        content = change(content)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())

    return make


def record(says: str, change: Callable) -> Kind:
    return Kind(COMMAND, says, make=changed(RECORD, change))


def field(says: str, **changes) -> Kind:
    return record(says, lambda content: content | changes)


def plan(says: str, change: Callable) -> Kind:
    return Kind(COMMAND, says, make=changed(PLAN, change))


def row(says: str, **changes) -> Kind:
    return plan(says, lambda rows: [rows[0] | changes, *rows[1:]])


def costs(says: str, content: object, kind: str = "memory") -> Kind:
    return Kind(COMMAND, says, make=changed(f"{SCALE}/{kind}/x.json", lambda _: content))


def layers(says: str, content: object) -> Kind:
    return Kind(COMMAND, says, make=changed(f"{SCALE}/layers.json", lambda _: content))


def point(says: str, **changes) -> Kind:
    return record(says, lambda content: content | {"curve": [content["curve"][0] | changes]})


KINDS = {
    "a record cut off": record("not a record, delete it and run again", lambda content: b'{"version": 2, "sta'),
    "a record that is a list": record("record version None, this suite reads 2", lambda content: [content]),
    "a record of another version": field("record version 1, this suite reads 2", version=1),
    "a record with an unknown key": field("unknown key 'metric': did you mean 'metrics'?", metric={}),
    "a record without a job": record("job = ", lambda content: {key: content[key] for key in content if key != "job"}),
    "a record of no status": field("status = 'fine': Input should be 'ok'", status="fine"),
    "a record of another run": field(f"says that it is {RUN[:-1]}2's", digest=f"{RUN[:-1]}2"),
    "a record whose name leads out": field("digest = '../../evil': String should match", digest="../../evil"),
    "a metric that is a word": field(
        "metrics.dev_bpc = 'low': Input should be a valid number", metrics={"dev_bpc": "low"}
    ),
    "a metric without end": field("metrics.dev_bpc = 1", metrics={"dev_bpc": 10**400}),
    "facts that are a list": field("facts = [1]: Input should be a valid dictionary", facts=[1]),
    "costs that are a word": field("cost = 'dear': Input should be a valid dictionary", cost="dear"),
    "a time that is none": record(
        "cost.seconds = None", lambda content: content | {"cost": {**content["cost"], "seconds": None}}
    ),
    "a curve that is a word": field("curve = 'steep': Input should be a valid list", curve="steep"),
    "a point of a curve without a step": field("curve.0.step", curve=[{"tokens_per_s": 1.0}]),
    "a point at half a step": point("curve.0.step = 1.5: Input should be a valid integer", step=1.5),
    "a point with an unknown score": point("unknown key 'dev_bcp': did you mean 'dev_bpc'?", dev_bcp=1.0),
    "a point of words": point("curve.0.dev_bpc = 'low': Input should be a valid number", dev_bpc="low"),
    "half a letter in a log": record("surrogates not allowed", lambda content: b'{"version": 2, "log": ["\\ud800"]}'),
    "a plan cut off": plan("truncated or not JSON", lambda rows: b"[{"),
    "a plan of nothing": plan("expected a list of runs", lambda rows: []),
    "a plan that is no list": plan("expected a list of runs", lambda rows: {"rows": rows}),
    "a plan of words": plan("run 0: 'x': Input should be a valid dictionary", lambda rows: ["x"]),
    "a plan with an unknown key": row("run 0: unknown key 'sed'", sed=1),
    "a run whose name leads out": row("run 0: digest = '..': String should match", digest=".."),
    "an ablation that leads out": row("run 0: ablation = '../../evil': String should match", ablation="../../evil"),
    "a variant with markup": row("run 0: variant = '<b>': String should match", variant="<b>"),
    "S that is a word": row("run 0: S = 'x': Input should be a valid integer", S="x"),
    "a plan of other runs": plan("none of its", lambda rows: [each | {"digest": "abc"} for each in rows]),
    "costs of no kind": costs("expected rows of one kind", [1]),
    "costs of another kind": costs("expected rows of memory, got flops", {"kind": "flops", "rows": []}),
    "layers of another kind": layers("expected rows of layers, got flops", {"kind": "flops", "rows": []}),
    "layers of nothing": layers("row 0: layer = ", {"kind": "layers", "rows": [{}]}),
    "costs without rows": costs("expected a list of rows", {"kind": "memory", "rows": 3}),
    "costs of nothing": costs("measures or facts that are not this suite's", {"kind": "memory", "rows": [{}]}),
    "costs of words": costs(
        "not this suite's", {"kind": "memory", "rows": [{"configuration": RUN[:-2], "memory_train_bytes": "much"}]}
    ),
    "no such folder": Kind("cli.merge out.csv none", "none: no such results folder"),
    "a folder of nothing": Kind("cli.merge out.csv a", "neither plan.json nor records in it", {"a/b": ""}),
    "a folder of scales": Kind("cli.merge out.csv results", f"did you mean {SCALE}?", make=write_set),
    "nothing to watch": Kind("cli.watch --once --scale none", "results/none/plan.json: no plan yet"),
    "a plan that nobody can watch": Kind(
        f"cli.watch --once --scale {_site.SCALE}", "run 0: unknown key", make=changed(PLAN, lambda rows: [{"a": 1}])
    ),
    "no archive of nothing": Kind("scripts.bundle out.zip --scale none", "run the workflow first"),
    "no archive through a link": Kind(
        f"scripts.bundle out.zip --scale {_site.SCALE}",
        "leads out of the results",
        make=lambda folder: (scale_of(write_set(folder)) / "tables").symlink_to("/etc"),
    ),
}
