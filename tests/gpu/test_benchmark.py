"""benchmarks/gpu.py on a CPU, at tiny sizes: what a GPU run would do, but for its times."""

import csv

import pytest

pytest.importorskip("triton", reason="triton has no build for this platform")

from benchmarks import gpu
from models.attention.engine import equivalence
from tests._banded import small_tiles


@pytest.mark.slow
def test_equal_candidates_are_timed_and_others_are_not(tmp_path, monkeypatch):
    monkeypatch.setattr(equivalence, "STREAMS", 1)
    monkeypatch.setattr(equivalence, "BEYOND", 17)
    monkeypatch.setattr(equivalence, "BLOCKS", ((19, 41, True),))
    wrong = {"wrong": lambda q, r, k, v, *_, **settings: 0 * gpu.dense(q, r, k, v, *_, **settings)}
    monkeypatch.setattr(gpu, "ON_CPU", gpu.ON_CPU | wrong)
    out = tmp_path / "gpu.csv"
    with small_tiles(monkeypatch):
        gpu.main(["--device", "cpu", "--smoke", "--out", str(out)])
    rows = list(csv.DictReader(out.read_text().splitlines()))
    notes = {(row["candidate"], row["bits"]): row["note"] for row in rows if row["part"] == "equal"}
    assert notes.pop(("wrong", "32")).startswith("Mismatch")
    assert notes.pop(("wrong", "16")).startswith("Mismatch")
    assert {notes[name, "32"] for name in gpu.ON_CPU if name != "wrong"} == {"ok"}
    timed = {(row["case"], row["candidate"]) for row in rows if row["ms_median"]}
    layers = {(f"S=24 {span}", name) for span in ("fixed", "adaptive") for name in gpu.ON_CPU}
    steps = {(f"smoke {span}", "definition") for span in ("fixed", "adaptive")}
    assert timed == {each for each in layers if each[1] != "wrong"} | steps
    assert rows[-1]["part"] == "end"
