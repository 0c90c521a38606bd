"""How long all trainings of a plan would take together, and what that is told from."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from workflow.config.job import Job
from workflow.plan.estimate import OFF, Estimate, Timed, estimate
from workflow.plan.work import FAR, SHARE, Device, device_seconds

MANY = 1000  # times the work of the nearest run; how many more says nothing


def spell(seconds: float) -> str:
    """90 -> '1.5 min'; the unit that keeps the number short."""
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def spell_hours(hours: float) -> str:
    """0.1304, 84.2, 4523.0 -> '0.13', '84', '4,523'; two digits of what is short."""
    if hours < 0.01:
        return "less than 0.01"
    return f"{hours:,.0f}" if hours >= 10 else f"{hours:.2g}"


@dataclass(frozen=True)
class Forecast:
    """estimates: one for each run of which something like it has ended. cores: of the machine; a GPU takes one run."""

    estimates: list[Estimate]
    cores: int

    @classmethod
    def of(cls, jobs: Iterable[Job], known: list[Timed], cores: int, *, gpu: bool = False) -> "Forecast":
        return cls([each for job in jobs if (each := estimate(job, known, gpu=gpu))], cores)

    @property
    def on_gpu(self) -> bool:
        """Whether all of it was told from a GPU."""
        return all(each.nearest.is_gpu for each in self.estimates)

    @property
    def device_seconds(self) -> float:
        """The seconds of a core, or of the GPU."""
        return sum(each.seconds * self._threads(each.job) for each in self.estimates)

    @property
    def wall(self) -> float:
        """Seconds of the wall clock: all that there is to do, shared among the cores, and at least the longest run."""
        longest = max(each.seconds for each in self.estimates)
        return max(self.device_seconds / (1 if self.on_gpu else self.cores), longest)

    def _threads(self, job: Job) -> int:
        return 1 if self.on_gpu else min(job.training.cores, self.cores)

    def source_lines(self) -> list[str]:
        """What it is told from, and how far that is from what is planned."""
        nearest = {id(each.nearest): each.nearest for each in self.estimates}.values()
        places = {
            f"{run.record.origin.device} ({'run here' if run.here else 'came with the project'})" for run in nearest
        }
        new = [each for each in self.estimates if not each.repeats]
        lines = [f"told from {len(nearest)} runs on {', '.join(sorted(places))}"]
        lines.append(f"{len(self.estimates) - len(new)} of {len(self.estimates)} repeat a configuration that has run")
        if new:
            far = max(each.times for each in new)
            lines[-1] += (
                f"; the others may be off by {OFF:g} times or more: the farthest computes {min(far, MANY):,.0f}"
            )
            lines[-1] += f" times{' and more' if far > MANY else ''} as much, or as little, as the nearest run"
            lines[-1] += ": its time is a guess" if far > FAR else ""
        if other := sorted({each.job.task for each in new if each.nearest.record.job.task != each.job.task}):
            lines.append(f"no run of {', '.join(other)} has a record: their time is a guess from another task")
        return lines


def device_lines(jobs: Iterable[Job], name: str, device: Device) -> list[str]:
    """What a named device would take to train all jobs, those that are trained already among them."""
    jobs, seconds = list(jobs), Counter()
    for job in jobs:
        seconds[job.task] += device_seconds(job, device)
    by_task = ", ".join(f"{task} {spell_hours(spent / 3600)}" for task, spent in seconds.items())
    return [
        f"on one {name}: about {spell_hours(seconds.total() / 3600)} hours to train all {len(jobs)} runs",
        f"  {by_task}",
        f"  predicted from multiply-adds, at {100 * SHARE:.0f} % of the device's peak rate: large nets reach 44 to 52 "
        "(Narayanan et al. 2021), small ones less; nothing here has measured it",
    ]
