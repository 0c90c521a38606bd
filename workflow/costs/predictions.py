"""What is predicted of training steps: here, beside what was measured, and on named devices by their data sheets."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from workflow.config.errors import ConfigError
from workflow.costs.predicted_nets import distinct, step_of
from workflow.costs.roofline import Rates, fit_rates, median_error, seconds
from workflow.costs.sharing import efficiency, shared_seconds
from workflow.costs.step_counts import Step
from workflow.plan.devices import Device, Link
from workflow.plan.plan import PlanRow

FITTED_TO = ("span_limit", "transformer_variations")  # questions; a step that one of them asks for fits the rates
FEWEST = 4  # steps to fit to, and to predict


@dataclass(frozen=True)
class Measured:
    """A step that ran here. about: whose it is. seconds, bytes: as measured."""

    about: dict
    count: Step
    seconds: float
    bytes: int

    @property
    def fits(self) -> bool:
        """Whether the rates are fitted to it; otherwise it tells how far they are off."""
        return not set(FITTED_TO).isdisjoint(self.about["ablations"])


def about(rows: Sequence[PlanRow]) -> dict:
    """The first of some rows whose steps are the same, and the questions that ask for them."""
    row = rows[0]
    names = {key: getattr(row, key) for key in ("variant", "corpus", "S", "k")}
    return names | {"ablations": list(dict.fromkeys(each.ablation for each in rows)), "task": row.job.task}


def predict_here(measured: Sequence[Measured], most: Rates) -> dict:
    """rates: of this machine, measured (`most`) and fitted. steps: each as measured and as predicted.

    errors: medians over the steps that the rates were not fitted to. `ConfigError` where there are too few.
    """
    fitted_to = [each for each in measured if each.fits]
    others = [each for each in measured if not each.fits]
    if min(len(fitted_to), len(others)) < FEWEST:
        counts = f"{len(fitted_to)} of {' and '.join(FITTED_TO)} and {len(others)} others"
        raise ConfigError(f"predictions: {FEWEST} variants to fit to and {FEWEST} others are needed, here are {counts}")
    columns = ([getattr(each, key) for each in fitted_to] for key in ("count", "seconds", "bytes"))
    rates = fit_rates(*columns, most)
    return {
        "rates": {"measured": vars(most), "fitted": vars(rates)},
        "steps": [_beside(each, rates) for each in measured],
        "errors": {
            "seconds": median_error([seconds(each.count, rates) for each in others], [each.seconds for each in others]),
            "bytes": median_error([rates.bytes(each.count) for each in others], [each.bytes for each in others]),
        },
    }


def _beside(step: Measured, rates: Rates) -> dict:
    predicted = {"predicted_seconds": seconds(step.count, rates), "predicted_bytes": rates.bytes(step.count)}
    return step.about | {"fitted": step.fits, "seconds": step.seconds, "bytes": step.bytes} | predicted


def predict_there(steps: dict[str, Step], device: Device, precision: str) -> dict:
    """A step on a device: seconds, with its share of the peak rate of products; least: with all of it, and no launches.

    several: of as many devices as the device's links join, each with an equal part of the batch.

    steps: as counted for a cpu and for a gpu. precision: of the job.
    """
    step, half = steps[device.kind], precision == "bf16" and device.bf16 is not None
    peak = device.bf16 if half else device.fp32
    likely = Rates(device.share * peak, device.bandwidth, device.launch)
    alone = seconds(step, likely, half=half)
    least = seconds(step, Rates(peak, device.bandwidth, 0.0), half=half)
    several = [_shared(step, likely, half, link) for link in device.links]
    held = {"bytes": step.bytes, "fits": step.bytes <= device.memory}
    return {"seconds": alone, "least": least, "several": several} | held


@dataclass(frozen=True)
class PredictedTraining:
    """seconds: of one device, by task. too_large: how many runs take more memory than it has, by task."""

    seconds: Counter[str]
    too_large: Counter[str]


def predict_training(rows: Sequence[PlanRow], device: Device) -> PredictedTraining:
    """All updates of all runs of a plan on one such device, by its data sheet; without evaluation and reading of data.

    Each run once, however many questions ask for it. One that does not fit is counted as if it did.
    """
    training = PredictedTraining(Counter(), Counter())
    for group in distinct(list({row.job.digest: row for row in rows}.values())):
        job = group[0].job
        step = step_of(group[0], "cuda" if device.kind == "gpu" else "cpu")
        predicted = predict_there({device.kind: step}, device, job.training.precision)
        training.seconds[job.task] += predicted["seconds"] * sum(row.job.training.steps for row in group)
        training.too_large[job.task] += 0 if predicted["fits"] else len(group)
    return training


def _shared(step: Step, rates: Rates, half: bool, link: Link) -> dict:
    part = seconds(step, rates, half=half, devices=link.devices)
    shared = shared_seconds(part, step.parameters, link.devices, link.rate)
    left = efficiency(seconds(step, rates, half=half), shared, link.devices)
    return {"devices": link.devices, "seconds": shared, "efficiency": left}
