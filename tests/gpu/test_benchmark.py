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
    timed = {(row["case"], row["candidate"]) for row in rows if row["ms_median"]}
    expected = {("smoke fixed", "definition"), ("smoke adaptive", "definition")}
    for name in right:
        expected |= {("S=24 fixed", name), ("S=24 adaptive", name)}
    assert timed == expected
    assert rows[-1]["part"] == "end"
