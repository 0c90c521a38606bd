"""The page of predicted steps: predictions are marked, measurements are not, and how far to trust it is told."""

import json
import re

import pytest

from workflow.report.pages.predictions import here_rows, paper_rows, rings, several_rows
from workflow.report.pages.root import root_page
from workflow.scripts import page

NAMES = {"variant": "<b>fixed</b>", "corpus": "text8", "S": 64, "k": None, "ablations": ["span_limit", "models"]}
STEP = NAMES | {"fitted": True, "seconds": 0.020, "predicted_seconds": 0.025}
STEP |= {"bytes": 40 << 20, "predicted_bytes": 30 << 20}
DEVICE = {"kind": "gpu", "fp32": 1e12, "bf16": None, "bandwidth": 1e11, "memory": 8e9, "launch": 1e-5, "share": 0.5}
DEVICE |= {"links": [{"devices": 8, "rate": 1e9}]}
SEVERAL = [{"devices": 8, "seconds": 0.06, "efficiency": 0.75}]
CELL = {"seconds": 0.3604, "least": 0.2049, "bytes": 12 << 30, "fits": False, "several": SEVERAL}
PAPER = {"updates": 20_000, "parameters": 1 << 20, "on": {"a device": CELL}}
RATES = {"products": 5e10, "bandwidth": 2e10, "launch": 1e-5, "held": 0.0}


def content(error=0.08) -> dict:
    other = STEP | {"fitted": False, "variant": "adaptive"}
    origin = {"device": "a cpu", "versions": {"torch": "2"}, "commit": "0123abc", "started": "today"}
    return {
        "scale": "test",
        "origin": origin,
        "fitted_to": ["span_limit"],
        "here": {
            "rates": {"measured": RATES | {"launch": 0.0}, "fitted": RATES},
            "steps": [STEP, other],
            "errors": {"seconds": error, "bytes": 0.02},
        },
        "devices": {"a device": DEVICE | {"source": "a data sheet"}},
        "paper": [NAMES | {"macs": 5_000_000, "launches": 900} | PAPER],
    }


def test_a_step_stands_beside_its_prediction_and_those_that_were_fitted_to_come_last():
    rows = list(here_rows(content()["here"]["steps"]))
    assert [row["fitted"] for row in rows] == [False, True]
    assert rows[0]["measured"] == ["20", "40.0 MiB"] and rows[0]["predicted"] == ["25", "30.0 MiB"]
    assert rows[0]["off"] == ["+25.0 %", "-25.0 %"]


def test_a_run_at_paper_size_takes_its_updates_times_a_step():
    (row,) = paper_rows(content()["paper"])
    assert row["on"] == [{"seconds": "0.36", "least": "0.2", "hours": "2", "bytes": "12.00 GiB", "fits": False}]
    assert (row["macs"], row["launches"]) == ("5M", "900")


def test_devices_that_share_a_run_stand_beside_what_is_left_of_their_speed():
    (row,) = several_rows(content()["paper"])
    assert (row["gradients"], row["on"]) == ("4.0 MiB", [{"seconds": "0.06", "left": "75 %"}])
    assert rings(content()["devices"]) == ["8 × a device"]


@pytest.fixture
def write(tmp_path):
    """Writes the page, and gives its text."""

    def write_page(predictions: dict) -> str:
        path = tmp_path / "results" / "test" / "predictions.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(predictions))
        where = ["--scale", "test", "--results", str(tmp_path / "results"), "--reports", str(tmp_path / "reports")]
        page.main(["predictions", *where])
        return (tmp_path / "reports" / "test" / "predictions.html").read_text()

    return write_page


def test_every_prediction_is_marked_and_no_measurement_is(write, tmp_path):
    text = write(content())
    marked = re.findall(r'<span class="predicted">([^<]*)</span>', text)
    assert {"25", "30.0 MiB", "0.36", "2", "12.00 GiB", "0.06", "75 %"} <= {*marked} and not {"20", "40.0 MiB"} & {
        *marked
    }
    assert "<td>20</td>" in text and "too much" in text
    assert "&lt;b&gt;fixed" in text and "<b>fixed" not in text
    lists = root_page(tmp_path / "reports")["scales"][0]["lists"]
    assert ("test/predictions.html", "Training steps at paper size, predicted") in [
        tuple(each) for pages in lists.values() for each in pages
    ]


@pytest.mark.parametrize("error, warned", [(0.08, False), (0.42, True)])
def test_the_median_error_is_told_and_a_large_one_is_marked(write, error, warned):
    text = write(content(error))
    assert f"within {100 * error:.0f} % in time and 2 % in memory" in text
    assert ("more than 30 %" in text) == warned
