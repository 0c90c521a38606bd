"""The scripts that measure one configuration from the weights of a run, empty where it failed."""

import json

import pytest

from tests._jobs import captioning, job, parsing, translation
from tests._training import CPU, write_weights
from workflow.costs.trained_net import build_model
from workflow.results.registry import COSTS, names
from workflow.results.rows import read_rows, write_rows
from workflow.scripts import costs, longest_span, throughput

SETTINGS = {"passes": 2, "seconds": 0.01, "memory_mb": 256, "longest_S": 96, "predict_batch": 2}
MEASURE = ["--measure", json.dumps(SETTINGS), "--device", "cpu"]
TASKS = {"translation": translation, "captioning": captioning, "parsing": parsing}


def run_script(kind: str, weights: str, folder) -> None:
    """Measure one configuration; one script writes flops and memory."""
    out = str(folder / f"{kind}.json")
    if kind in ("flops", "memory"):
        outputs = ["--flops", str(folder / "flops.json"), "--memory", str(folder / "memory.json")]
        costs.main([weights, *outputs, "--device", "cpu"])
    elif kind == "longest_span":
        longest_span.main([weights, out, *MEASURE])
    else:
        # so slow that the machine is quiet
        reference = folder / "reference.json"
        reference.write_text(write_rows("reference", [{"threads": 1, "ms": 1000.0}]))
        throughput.main([out, weights, "--reference", str(reference), *MEASURE])


def measure(kind: str, small, folder, weights: dict) -> dict:
    """Return the one row that a script writes for a run with these weights."""
    path = write_weights(small, folder / "run", weights)
    if not (folder / f"{kind}.json").exists():
        run_script(kind, str(path), folder)
    written, (row,) = read_rows(folder / f"{kind}.json")
    assert written == kind
    assert row["configuration"] == small.configuration
    return row


@pytest.mark.parametrize("kind", COSTS)
def test_a_failed_run_gives_a_row_with_a_reason(kind, tmp_path):
    row = measure(kind, job(), tmp_path, {})
    assert row["digest"] == job().digest
    assert row["status"] == "error"
    assert row["reason"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", COSTS)
@pytest.mark.filterwarnings("ignore")
def test_a_model_gives_a_row_with_every_registered_column(kind, tmp_path):
    small = job(normaliser={"name": "sparsemax"})  # which the entmax library is timed with as well
    row = measure(kind, small, tmp_path, build_model(small, CPU, 7).state_dict())
    assert row["status"] == "ok"
    missing = {name for name in names(kind) if row[name] is None}
    assert missing <= {"memory_reserved_bytes"}  # of a GPU


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.filterwarnings("ignore")
def test_a_formula_and_torch_count_the_same_macs_of_every_task(task, tmp_path):
    small = TASKS[task]()
    flops = measure("flops", small, tmp_path, build_model(small, CPU, 13).state_dict())
    assert flops["macs_torch"] == pytest.approx(flops["macs_analytic"], rel=1e-6)


def test_the_search_for_the_longest_span_ends_at_the_budget(tmp_path, monkeypatch):
    """S = 24 and 48 fit, then out of memory."""
    answers = iter([{"status": "ok"}, {"status": "ok"}, {"status": "oom"}])
    monkeypatch.setattr(longest_span, "in_fresh_process", lambda *given, seconds: next(answers))
    row = measure("longest_span", job(), tmp_path, build_model(job(), CPU, 7).state_dict())
    assert (row["longest_S"], row["longest_S_ended"]) == (48, "oom")
    assert row["memory_budget_bytes"] == 256 << 20
