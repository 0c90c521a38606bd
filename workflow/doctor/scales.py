"""Which scales fit this machine, and how long each would take, as `python -m workflow.cli.estimate` tells it."""

from collections.abc import Iterator
from pathlib import Path

import psutil

from workflow.config.files import config_file
from workflow.config.strict import read_yaml
from workflow.doctor import container
from workflow.doctor.finding import NOTE, OK, Finding
from workflow.monitor.durations import spell, spell_range
from workflow.monitor.estimate import Estimator
from workflow.monitor.forecast import Forecast
from workflow.monitor.resources import memory_bytes
from workflow.monitor.timed import read_timed
from workflow.plan.config import known_scales
from workflow.plan.other_results import strength
from workflow.plan.targets import Targets

LONG, TOO_LONG = 86400, 30 * 86400  # seconds


def targets_of(scale: str, device: str) -> Targets:
    """What a scale would run; data that is not at hand does not matter."""
    return Targets.of({**read_yaml(config_file("config.yaml")), "scale": scale, "device": device}, {})


def look_at_scales(results: Path, device: str) -> Iterator[Finding]:
    """device: as for snakemake."""
    known = read_timed(results / "runs")
    for scale in sorted(known_scales(), key=strength):
        targets = targets_of(scale, device)
        runs = [targets.runs.jobs[digest] for digest in targets.runs.trained]
        forecast = Forecast.of(runs, Estimator(known, gpu=bool(targets.config.gpus)), max(1, int(container.cores())))
        yield _described(f"scale {scale}", forecast, len(runs))


def _described(about: str, forecast: Forecast, count: int) -> Finding:
    """Fits: within a day, and within memory where that is known."""
    if not forecast.pairs:
        return Finding(about, OK, f"{count} runs to train")
    if forecast.estimator.gpu and not forecast.on_gpu:
        return Finding(about, NOTE, f"{count} runs to train; no record of a GPU is at hand: its files say how long")
    low, likely, high = forecast.wall
    peaks = [memory_bytes(job, estimate.nearest.record) for job, estimate in forecast.pairs]
    peak, holds = max(filter(None, peaks), default=0), container.memory_limit() or psutil.virtual_memory().total
    told = "months or more" if likely > TOO_LONG else f"about {spell(likely)}, likely {spell_range(low, high)}"
    said = f"{count} runs to train: {told}; up to {peak / 2**30:.1f} GiB a run" if peak else f"{count} runs: {told}"
    fits = likely <= LONG and (forecast.on_gpu or peak <= holds)
    return Finding(about, OK if fits else NOTE, said + ("" if fits else "; not for this machine"))
