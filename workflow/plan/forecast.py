"""How long all trainings of a plan would take together, and what that is learned from."""

from collections.abc import Iterable
from dataclasses import dataclass

from workflow.config.job import Job
from workflow.monitor.estimate import FAR, START, Errors, Estimate, Estimator

MANY = 1000  # times the work of the nearest run; how many more says nothing


@dataclass(frozen=True)
class Forecast:
    """pairs: each job with the estimate for it. cores: of the machine; on a GPU runs take turns."""

    pairs: list[tuple[Job, Estimate]]
    estimator: Estimator
    cores: int

    @classmethod
    def of(cls, jobs: Iterable[Job], estimator: Estimator, cores: int) -> "Forecast":
        pairs = [(job, estimate) for job in jobs if (estimate := estimator.estimate(job))]
        return cls(pairs, estimator, cores)

    @property
    def on_gpu(self) -> bool:
        """Whether all of it was learned from a GPU."""
        return all(estimate.nearest.is_gpu for _, estimate in self.pairs)

    @property
    def device_seconds(self) -> float:
        """Of a core, or of the GPU."""
        return sum(estimate.seconds * self._threads(job) for job, estimate in self.pairs)

    @property
    def wall(self) -> tuple[float, float, float]:
        """Seconds of the wall clock, the least and the most that are likely: all estimates too long, or too short.

        A sum is off by no more than its parts are on average.
        """
        low, likely, high = 0.0, 0.0, 0.0
        for job, estimate in self.pairs:
            share = self._threads(job) / self._lanes
            computing = max(0.0, estimate.seconds - START)
            low += share * (estimate.seconds - computing + computing / estimate.error)
            likely += share * estimate.seconds
            high += share * (estimate.seconds - computing + computing * estimate.error)
        longest = max(estimate.seconds for _, estimate in self.pairs)
        return low, max(likely, longest), max(high, longest)

    @property
    def _lanes(self) -> int:
        return 1 if self.on_gpu else self.cores

    def _threads(self, job: Job) -> int:
        return 1 if self.on_gpu else min(job.training.cores, self.cores)

    def source_lines(self) -> list[str]:
        """What it is learned from, how far that is, and how far off such estimates were."""
        nearest = {id(estimate.nearest): estimate.nearest for _, estimate in self.pairs}.values()
        runs = sum(len(known.digests) for known in nearest)
        devices = {f"{known.device} ({'run here' if known.here else 'came with the project'})" for known in nearest}
        same = sum(estimate.nearest.job.configuration == job.configuration for job, estimate in self.pairs)
        far = max(estimate.times for _, estimate in self.pairs)
        lines = [f"learned from {runs} runs on {', '.join(sorted(devices))}"]
        lines.append(f"{same} of {len(self.pairs)} repeat a configuration that has run")
        if same < len(self.pairs):
            lines[-1] += f"; the farthest computes {min(far, MANY):,.0f} times as much, or as little,"
            lines[-1] += f"{' and more' if far > MANY else ''} as the nearest run"
            lines[-1] += ": its time is a guess" if far > FAR else ""
        if unknown := sorted({job.task for job, estimate in self.pairs if not estimate.same_task}):
            lines.append(f"no run of {', '.join(unknown)} has a record: their time is a guess from another task")
        kinds = {"again": "told from other seeds", "near": "told from other configurations"}
        return lines + [
            line for kind, words in kinds.items() if (line := _describe(self.estimator.errors[kind], words))
        ]


def _describe(errors: Errors, words: str) -> str | None:
    """How far off the estimates of runs were that have ended here; None where nothing was measured."""
    if not errors.measured:
        return None
    off = f"half are off by less than {errors.median - 1:.0%}, nine in ten by less than {errors.most - 1:.0%}"
    return f"tried on {errors.count} runs that have ended here, {words}: {off}, other work on the machine included"
