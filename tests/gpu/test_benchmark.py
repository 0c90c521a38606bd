"""benchmarks/gpu.py on a CPU, at tiny sizes: what a GPU run would do, but for its times."""

import csv

import pytest
import torch

pytest.importorskip("triton", reason="triton has no build for this platform")

from benchmarks import gpu
from benchmarks.steps import SEEDS, SMOKE, VARIANTS, gradients_of_seeds
from models.attention.engine import equivalence
from models.attention.layers import CHOICES
from tests._banded import small_tiles


# of torch's own tracing of autograd functions
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
@pytest.mark.slow
def test_equal_candidates_are_timed_and_others_are_not(tmp_path, monkeypatch):
    monkeypatch.setattr(equivalence, "STREAMS", 1)
    monkeypatch.setattr(equivalence, "BEYOND", 17)
    monkeypatch.setattr(equivalence, "BLOCKS", ((19, 41, True),))

    def wrong(*tensors, **settings):
        return 0 * gpu.dense(*tensors, **settings)

    right = {*gpu.ON_CPU}
    monkeypatch.setattr(gpu, "ON_CPU", gpu.ON_CPU | {"wrong": wrong})
    out = tmp_path / "gpu.csv"
    with small_tiles(monkeypatch):
        gpu.main(["--device", "cpu", "--smoke", "--out", str(out)])
    rows = list(csv.DictReader(out.read_text().splitlines()))
    for row in rows:
        if row["part"] == "equal" and row["candidate"] == "wrong":
            assert row["note"].startswith("Mismatch")
        elif row["part"] == "equal" and row["bits"] == "32":
            assert row["note"] == "ok"
    of_part = {}
    for row in rows[:-1]:
        of_part.setdefault(row["part"], []).append(row)
    layers = {(row["case"], row["candidate"]) for row in of_part["layer"]}
    spans = ("fixed", "adaptive")
    assert layers == {(f"S=24 {span}", name) for span in spans for name in right}
    modes = ("eager", "traced")
    steps = {(row["case"], row["mode"]) for row in of_part["step"]}
    assert steps == {(f"smoke {variant}", mode) for variant in VARIANTS for mode in modes}
    choices = {(row["candidate"], row["mode"]) for row in of_part["choice"]}
    names = [f"{axis} {name}" for axis, listed in CHOICES.items() for name in listed]
    assert choices == {(name, mode) for name in names for mode in modes}
    assert {row["candidate"] for row in of_part["seeds"]} == {"one by one", "stacked"}
    for part in ("step", "layer", "choice", "seeds"):
        for row in of_part[part]:
            assert float(row["ms_median"]) > 0, row["note"]
    assert rows[-1]["part"] == "end"


def test_what_is_not_begun_in_time_is_a_row_that_says_so(tmp_path):
    out = tmp_path / "gpu.csv"
    gpu.main(["--device", "cpu", "--smoke", "--minutes", "0", "--out", str(out)])
    *rows, end = csv.DictReader(out.read_text().splitlines())
    assert end["part"] == "end"
    assert {row["note"] for row in rows} == {"left out: no time left"}
    assert rows[0]["case"] == "smoke fixed"


def test_stacked_seeds_have_the_gradients_of_one_after_the_other():
    cpu = torch.device("cpu")
    alone = gradients_of_seeds(SMOKE, cpu, stacked=False)()
    stacked = gradients_of_seeds(SMOKE, cpu, stacked=True)()
    for name, gradient in alone.items():
        torch.testing.assert_close(stacked[name], gradient, msg=name)
        assert len(gradient) == SEEDS


def test_both_ways_to_top_k_keep_the_same_keys():
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 2, 2, 40, 8)
    sorted_ = gpu.top_k(gpu.by_sorting, q, k, v)
    bisected = gpu.top_k(gpu.by_bisection, q, k, v)
    torch.testing.assert_close(bisected, sorted_)
