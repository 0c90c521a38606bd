"""The scripts that measure one configuration from the weights.pt of a run, which is empty where the
run failed.
"""

import json

import pytest

from tests._jobs import VARIANTS, captioning, job, parsing, translation
from tests._training import CPU, write_weights
from workflow.config.errors import ConfigError
from workflow.costs.trained_net import build_model
from workflow.results.registry import COSTS, names
from workflow.results.rows import read_rows, write_rows
from workflow.scripts import costs, longest_span, throughput

MEASURE = json.dumps(
    {"passes": 2, "seconds": 0.01, "memory_mb": 256, "longest_S": 96, "predict_batch": 2}
)
TASKS = {"char_lm": job, "translation": translation, "captioning": captioning, "parsing": parsing}


def run_script(kind: str, weights: str, folder) -> None:
    """Measure one configuration; one script writes flops and memory."""
    out, device = str(folder / f"{kind}.json"), ("--device", "cpu")
    if kind in ("flops", "memory"):
        outputs = ("--flops", str(folder / "flops.json"), "--memory", str(folder / "memory.json"))
        costs.main([weights, *outputs, *device])
    elif kind == "longest_span":
        longest_span.main([weights, out, "--measure", MEASURE, *device])
    else:
        quiet = folder / "reference.json"
        # so slow that the machine is quiet
        quiet.write_text(write_rows("reference", [{"threads": 1, "ms": 1000.0}]))
        throughput.main([out, weights, "--reference", str(quiet), "--measure", MEASURE, *device])


def measure(kind: str, small, folder, weights: dict) -> dict:
    """The one row that a script writes for a run with these weights."""
    path = write_weights(small, folder / "run", weights)
    if not (folder / f"{kind}.json").exists():
        run_script(kind, str(path), folder)
    written, rows = read_rows(folder / f"{kind}.json")
    assert written == kind and len(rows) == 1
    return rows[0]


@pytest.mark.parametrize("kind", COSTS)
def test_a_failed_run_gives_a_row_that_says_so(kind, tmp_path):
    row = measure(kind, job(), tmp_path, {})
    assert (row["configuration"], row["digest"]) == (job().configuration, job().digest)
    assert row["status"] == "error" and row["reason"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", COSTS)
@pytest.mark.filterwarnings("ignore")
def test_a_net_gives_a_row_with_every_registered_column(kind, tmp_path):
    small = job(normaliser={"name": "sparsemax"})  # which the entmax library is timed with as well
    row = measure(kind, small, tmp_path, build_model(small, CPU, 7).state_dict())
    assert row["status"] == "ok" and row["configuration"] == small.configuration
    # of a GPU
    assert all(row[name] is not None for name in names(kind) if name != "memory_reserved_bytes")


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.filterwarnings("ignore")
def test_every_task_is_measured(task, tmp_path):
    small = TASKS[task]()
    weights = build_model(small, CPU, 13).state_dict()
    flops = measure("flops", small, tmp_path, weights)
    assert flops["macs_torch"] == pytest.approx(flops["macs_analytic"], rel=1e-6)
    for kind in ("flops", "memory", "throughput"):
        assert measure(kind, small, tmp_path, weights)["status"] == "ok"


def test_a_span_without_a_limit_cannot_be_raised(tmp_path):
    small = job(**VARIANTS["transformer_xl"])
    with pytest.raises(ConfigError, match="span full has no limit S to raise"):
        measure("longest_span", small, tmp_path, {})


def test_the_search_for_the_longest_span_ends_at_the_budget(tmp_path, monkeypatch):
    """Every other step is said to fit: S = 24, 48, then out of memory."""
    answers = iter([{"status": "ok"}, {"status": "ok"}, {"status": "oom"}])
    monkeypatch.setattr(longest_span, "in_fresh_process", lambda *arguments, seconds: next(answers))
    row = measure("longest_span", job(), tmp_path, build_model(job(), CPU, 7).state_dict())
    assert (row["longest_S"], row["longest_S_ended"]) == (48, "oom")
    assert row["memory_budget_bytes"] == 256 << 20
