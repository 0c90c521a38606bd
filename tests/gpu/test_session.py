"""A short session on a GPU, rehearsed without one: cut off, it leaves what it has made."""

import csv
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests._copied import copied

pytest.importorskip("triton", reason="triton has no build for this platform")


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("timeout"), reason="no timeout command here")
def test_it_trains_measures_and_packs_until_its_time_is_up(tmp_path):
    suite = copied(tmp_path)
    out = tmp_path / "out"
    done = subprocess.run(
        ["bash", "profiles/gpu/session.sh", str(out), "2"],
        cwd=suite,
        env=os.environ
        | {
            "BIN": str(Path(sys.executable).parent),
            "SCALE": "smoke",
            "DEVICE": "cpu",
            "FIRST": "top_k",
            "TRITON_INTERPRET": "1",
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with tarfile.open(out / "records.tar") as packed:
        names = packed.getnames()
    assert any(name.endswith("record.json") for name in names), done.stdout
    assert any(name.startswith("results/smoke/flops/") for name in names), done.stdout
    rows = list(csv.DictReader((out / "gpu.csv").read_text().splitlines()))
    assert rows[0]["case"] == "smoke fixed"
    # what all questions need takes longer than the rest of the time
    assert "no time left" in done.stdout
