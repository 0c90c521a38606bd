"""Predictions of time and memory from counts: by hand, and told by steps that the rates were not fitted to."""

from collections import Counter

import pytest

from workflow.config.errors import ConfigError
from workflow.costs.operators import Operator
from workflow.costs.predictions import Measured, predict_here, predict_there
from workflow.costs.roofline import Rates, fit_rates, median_error, seconds
from workflow.costs.step_counts import Step
from workflow.plan import devices

PRODUCT, COPY = Operator("product", macs=500, bytes=80), Operator("copy", macs=0, bytes=400)
DEVICE = {"kind": "gpu", "fp32": 1e3, "bf16": 4e3, "bandwidth": 100.0, "memory": 900.0, "launch": 0.5, "share": 0.5}


def step(products=2, copies=3, size=1000, macs=500) -> Step:
    return Step(Counter({PRODUCT._replace(macs=macs): products, COPY: copies}), size, 100)


def test_a_step_by_hand():
    """2 products: 1,000 operations in 1 s, longer than 80 bytes in .8 s; 3 copies of 400 bytes in 4 s; 5 launches."""
    assert seconds(step(), Rates(1000.0, 100.0, 0.5)) == pytest.approx(2 * 1.0 + 3 * 4.0 + 5 * 0.5)
    assert seconds(step(macs=350), Rates(1000.0, 100.0, 0.0)) == pytest.approx(2 * 0.8 + 3 * 4.0)
    assert seconds(step(macs=350), Rates(1000.0, 100.0, 0.0), half=True) == pytest.approx(2 * 0.7 + 3 * 4.0)


def test_a_device_by_hand():
    """In bfloat16: half of 4,000 operations a second, 40 bytes a product; without launches and with all of the rate."""
    steps, device = {"cpu": step(0), "gpu": step()}, devices.Device(**DEVICE, source="a data sheet")
    told = predict_there(steps, device, "bf16")
    assert told["seconds"] == pytest.approx(2 * 0.5 + 3 * 4.0 + 5 * 0.5)
    assert told["least"] == pytest.approx(2 * 0.4 + 3 * 4.0)
    assert (told["bytes"], told["fits"], told["several"]) == (1000, False, [])
    assert predict_there(steps, device, "fp32")["seconds"] == pytest.approx(2 * 2.0 + 3 * 4.0 + 5 * 0.5)


def test_two_of_a_device_by_hand():
    """Half of 14 s of work, all of the launches, and 400 bytes of gradients at 100 bytes a second; alone 16.5 s."""
    steps, pair = {"gpu": step(macs=250)}, {"devices": 2, "rate": 100.0}
    (told,) = predict_there(steps, devices.Device(**DEVICE, links=[pair], source="a data sheet"), "fp32")["several"]
    assert told["seconds"] == pytest.approx((2 * 1.0 + 3 * 4.0) / 2 + 5 * 0.5 + 4.0)
    assert told["efficiency"] == pytest.approx(16.5 / 2 / told["seconds"])


def some_steps() -> list[Step]:
    sizes = [(1, 2, 50_000), (9, 4, 800_000), (3, 30, 20_000), (40, 9, 90_000), (5, 1, 9_000_000), (2, 90, 300)]
    return [step(products, copies, 1000 * products, macs) for products, copies, macs in sizes]


def test_rates_are_found_again_from_steps_that_follow_them():
    true = Rates(4e7, 1e5, 2e-5, held=5000.0)
    steps = some_steps()
    spent, held = [seconds(each, true) for each in steps], [true.bytes(each) for each in steps]
    found = fit_rates(steps, spent, held, Rates(1e8, 4e4, 0.0))
    assert found.products == pytest.approx(4e7, rel=1e-3) and found.bandwidth == pytest.approx(1e5, rel=1e-3)
    assert found.held == 5000.0


def measured(question: str, count: Step, slower=1.0) -> Measured:
    rates = Rates(4e7, 1e5, 2e-5, held=5000.0)
    return Measured({"ablations": [question]}, count, slower * seconds(count, rates), int(slower * rates.bytes(count)))


def test_the_error_is_that_of_steps_which_the_rates_were_not_fitted_to():
    fitted_to = [measured("span_limit", each) for each in some_steps()]
    others = [measured("models", each, slower) for each, slower in zip(some_steps(), (1, 1, 2, 2, 2, 4), strict=True)]
    told = predict_here([*fitted_to, *others], Rates(1e8, 4e4, 0.0))
    assert told["errors"]["seconds"] == pytest.approx(0.5, abs=0.01)  # half of what was measured, in the middle
    assert told["errors"]["bytes"] == pytest.approx(0.5, abs=0.01)
    assert [each["fitted"] for each in told["steps"]] == [True] * 6 + [False] * 6
    assert told["steps"][-1]["predicted_seconds"] == pytest.approx(others[-1].seconds / 4, rel=0.01)


def test_too_few_steps_tell_nothing():
    with pytest.raises(ConfigError, match="4 variants to fit to and 4 others are needed, here are 6 of span_limit"):
        predict_here([measured("span_limit", each) for each in some_steps()], Rates(1e8, 4e4, 0.0))


def test_a_median_error_counts_too_much_and_too_little_alike():
    assert median_error([2.0, 0.5, 1.1], [1.0, 1.0, 1.0]) == 0.5


def test_a_device_is_read_strictly(tmp_path, monkeypatch):
    assert {"H100 SXM", "A100 80G SXM"} <= {*devices.load_devices()}
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "devices.yaml").write_text("mine: {kind: gpu, bandwith: 1}\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="config/devices.yaml: mine: .*bandwith.*bandwidth"):
        devices.load_devices()
