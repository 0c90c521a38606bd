"""Predict training steps: `python -m workflow.scripts.predictions OUT [--config CONFIG]`, CONFIG as JSON.

First the steps of the config's own scale are weighed and timed here: rates of this machine are fitted to some of them
and predict the others, so that a reader sees how far to trust a prediction. Then every variant of scale paper on every
device of config/devices.yaml, by its data sheet.
"""

import json
import os
from pathlib import Path

import torch

from workflow.config.command_line import Parser, run
from workflow.config.environment import CONFIG, DEVICES
from workflow.config.strict import parse_json
from workflow.costs.lease import lease
from workflow.costs.predicted_nets import distinct, step_of
from workflow.costs.predictions import FITTED_TO, Measured, about, predict_here, predict_there
from workflow.costs.step_times import machine_rates, time_steps, weigh_steps
from workflow.plan import sources
from workflow.plan.config import Config, load_config
from workflow.plan.devices import load_devices
from workflow.plan.plan import plan
from workflow.results.record import write_text
from workflow.training.origin import describe, pick_device

PAPER = "paper"


def here(config: Config, name: str) -> dict:
    """Steps of the config's scale on this machine's device of this name, measured and predicted."""
    groups = distinct(plan(config, {}))
    rows = [group[0] for group in groups]
    held = weigh_steps(rows, name)  # forks: before this process starts threads or touches a GPU
    device = pick_device(name)
    with lease(device, alone=True):
        most, spent = machine_rates(device), time_steps(rows, device)
    results = zip(groups, spent, held, strict=True)
    measured = [
        Measured(about(group), step_of(group[0], device.type), seconds, peak)
        for group, seconds, peak in results
        if peak is not None
    ]
    return predict_here(measured, most)


def there(config: Config) -> list[dict]:
    """Steps of scale paper on named devices."""
    devices, rows = load_devices(), []
    for group in distinct(plan(config.model_copy(update={"scale": PAPER, "corpus": None, "ablations": None}), {})):
        training = group[0].job.training
        steps = {"cpu": step_of(group[0], "cpu"), "gpu": step_of(group[0], "cuda")}
        on = {name: predict_there(steps, device, training.precision) for name, device in devices.items()}
        counted = {key: getattr(steps["gpu"], key) for key in ("macs", "launches", "parameters")}
        rows.append(about(group) | counted | {"updates": training.steps, "on": on})
    return rows


def predict(config: Config, name: str) -> dict:
    """As the page of predictions reads it."""
    report = {"scale": config.scale, "fitted_to": FITTED_TO, "here": here(config, name), "paper": there(config)}
    report["devices"] = {known: each.model_dump() for known, each in load_devices().items()}
    origin = describe(pick_device(name), "fp32", sources.recorded(sources.of_script("predictions")))
    return report | {"origin": origin.model_dump()}


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="predictions", description="Predict training steps, here and at paper size.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--config", default=os.environ.get(CONFIG, "{}"), help="as JSON; the workflow passes its own")
    parser.add_argument("--device", default="auto", choices=DEVICES)
    options = parser.parse_args(argv)
    torch.set_num_threads(1)  # no thread pool may exist before the forks
    report = predict(load_config(parse_json(options.config, "config")), options.device)
    write_text(options.out, json.dumps(report, indent=1))


if __name__ == "__main__":
    run(main)
