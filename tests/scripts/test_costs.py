"""The scripts that measure one configuration from the weights of a run, empty where it failed."""

import json

import pytest

from tests._jobs import captioning, job, parsing, translation
from tests._training import CPU, write_weights
from workflow.costs.trained_net import build_model
from workflow.results.registry import COSTS, names
from workflow.results.rows import read_rows, write_rows
from workflow.scripts import costs, costs_over_S, longest_span, throughput

SETTINGS = {
    "passes": 2,
    "seconds": 0.01,
    "memory_mb": 256,
    "longest_S": 96,
    "predict_batch": 2,
}
MEASURE = ["--measure", json.dumps(SETTINGS), "--device", "cpu"]
TASKS = {"translation": translation, "captioning": captioning, "parsing": parsing}


def run_script(kind: str, weights: str, folder) -> None:
    """Measure one configuration; one script writes flops and memory."""
    out = str(folder / f"{kind}.json")
    if kind in ("flops", "memory"):
        words = [weights, "--device", "cpu"]
        words += ["--flops", str(folder / "flops.json")]
        words += ["--memory", str(folder / "memory.json")]
        costs.main(words)
    elif kind == "longest_span":
        longest_span.main([weights, out, *MEASURE])
    else:
        # so slow that the machine is quiet
        reference = folder / "reference.json"
        step = {"threads": 1, "ms": 1000.0}
        reference.write_text(write_rows("reference", [step]))
        words = [out, weights, "--reference", str(reference)]
        throughput.main(words + MEASURE)


def measure(kind: str, small, folder, weights: dict) -> dict:
    """Return the one row that a script writes for a run with these weights."""
    path = write_weights(small, folder / "run", weights)
    out = folder / f"{kind}.json"
    if not out.exists():
        run_script(kind, str(path), folder)
    written, (row,) = read_rows(out)
    assert written == kind
    assert row["configuration"] == small.configuration
    return row


def measure_untrained(kind: str, small, folder, seed: int = 7) -> dict:
    """Return the row that a script writes for a model as it is drawn."""
    model = build_model(small, CPU, seed)
    return measure(kind, small, folder, model.state_dict())


@pytest.mark.parametrize("kind", COSTS)
def test_a_failed_run_gives_a_row_with_a_reason(kind, tmp_path):
    small = job()
    row = measure(kind, small, tmp_path, weights={})
    assert row["digest"] == small.digest
    assert row["status"] == "error"
    assert row["reason"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", COSTS)
@pytest.mark.filterwarnings("ignore")
def test_a_model_gives_a_row_with_every_registered_column(kind, tmp_path):
    # which the entmax library is timed with as well
    small = job(normaliser={"name": "sparsemax"})
    row = measure_untrained(kind, small, tmp_path)
    assert row["status"] == "ok"
    missing = {name for name in names(kind) if row[name] is None}
    of_a_gpu = {"memory_reserved_bytes"}
    assert missing <= of_a_gpu


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.filterwarnings("ignore")
def test_a_formula_and_torch_count_the_same_macs_of_every_task(task, tmp_path):
    small = TASKS[task]()
    flops = measure_untrained("flops", small, tmp_path, seed=13)
    expected = flops["macs_analytic"]
    assert flops["macs_torch"] == pytest.approx(expected, rel=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", ["auto", "band"])
def test_costs_over_S_are_those_of_the_model_at_its_own_limit(backend, tmp_path):
    small = job()
    path = write_weights(small, tmp_path / "run", build_model(small, CPU, 7).state_dict())
    own = small.attention.span["limit"]
    words = [str(path), str(tmp_path / "out.json"), "--at", str(own), str(4 * own)]
    costs_over_S.main([*words, "--device", "cpu", "--backend", backend])
    _, (row,) = read_rows(tmp_path / "out.json")
    assert row["status"] == "ok", row["reason"]
    flops = measure_untrained("flops", small, tmp_path, seed=7)
    assert row["macs"][0] == flops["macs_analytic"]
    assert all(memory > 0 for memory in row["memory_train_bytes"])
    assert ("band" in row["backend"]) == (backend == "band")


def test_the_search_for_the_longest_span_ends_at_the_budget(tmp_path, monkeypatch):
    """S = 24 and 48 fit, then out of memory."""
    statuses = iter(["ok", "ok", "oom"])

    def answer(*given, seconds) -> dict:
        return {"status": next(statuses)}

    monkeypatch.setattr(longest_span, "in_fresh_process", answer)
    row = measure_untrained("longest_span", job(), tmp_path)
    assert row["longest_S"] == 48
    assert row["longest_S_ended"] == "oom"
    assert row["memory_budget_bytes"] == 256 << 20
