"""Print what would run, and what it would take: `python -m workflow.cli.estimate [--config scale=small ...]`.

Nothing is run and nothing is written. Estimates come from the nearest records, in results/runs and precomputed.
"""

import argparse
import os
from collections import Counter
from pathlib import Path

from workflow.config.command_line import run
from workflow.config.errors import ConfigError
from workflow.config.files import PRECOMPUTED, config_file
from workflow.config.job import Job
from workflow.config.strict import load_yaml, read_yaml
from workflow.monitor import estimate
from workflow.monitor.durations import spell
from workflow.plan.targets import Targets
from workflow.results.record import Record, read_record


def read_records(runs: Path) -> list[Record]:
    """Every record that can be read, each run once."""
    records: dict[str, Record] = {}
    for path in (*sorted(runs.glob("*/record.json")), *sorted(PRECOMPUTED.glob("*/*.json"))):
        try:
            record = read_record(path)
        except ConfigError:  # of another version: no estimate rests on it
            continue
        records.setdefault(record.digest, record)
    return list(records.values())


def report_lines(targets: Targets, results: Path, lanes: int) -> list[str]:
    """What is printed."""
    jobs = targets.runs.jobs
    waiting = {digest: jobs[digest] for digest in targets.runs.trained if not _has_record(digest, results)}
    count = len(targets.runs.configurations)
    head = f"scale {targets.config.scale}: {len(jobs)} runs of {count} configurations"
    lines = [f"{head}, {len(jobs) - len(waiting)} cached"]
    for task, number in Counter(job.task for job in jobs.values()).items():
        left = sum(job.task == task for job in waiting.values())
        lines.append(f"  {task}: {number} runs, {left} to run")
    records = read_records(results / "runs")
    lines += _training_lines(waiting, records, lanes, targets.config.gpus) if waiting else ["nothing is left to train"]
    lines.append(_measures_line(targets, results, lanes))
    seeds = {task: len({job.seed for job in jobs.values() if job.task == task}) for task in targets.measures}
    lines += [f"{task}: one seed shows no difference, two are needed" for task, number in seeds.items() if number == 1]
    for task, effect in estimate.detectable_effects(records, seeds).items():
        lines.append(f"{seeds[task]} seeds would show a difference in {estimate.score(task)} of {effect:.3g}")
    return lines


def _has_record(digest: str, results: Path) -> bool:
    return (results / "runs" / digest / "record.json").exists()


def _measures_line(targets: Targets, results: Path, lanes: int) -> str:
    """What is still to be measured, and about how long that takes on two cores."""
    left = {}
    for kind, files in estimate.measure_files(targets).items():
        missing = [file for file in files if not (results / Path(file).relative_to("results")).exists()]
        if missing:
            left[kind] = estimate.measure_seconds(targets, kind, missing, lanes)
    if not left:
        return "measures: all cached; made again only where what they measure has changed"
    return f"measures: {', '.join(left)} to make, about {spell(sum(left.values()))} on two cores"


def _training_lines(waiting: dict[str, Job], records: list[Record], lanes: int, gpus: int) -> list[str]:
    if not any(record.cost for record in records):
        return ["no record is at hand: what it takes is not known"]
    pairs = [(job, estimate.nearest(job, records)) for job in waiting.values()]
    near = {record.digest: record for _, record in pairs}
    on_gpu = not any(record.origin.device.startswith("cpu") for record in near.values())
    side = 1 if on_gpu else lanes
    seconds = sum(estimate.training_seconds(job, record) for job, record in pairs)
    hours = f"{seconds / 3600:.2g} {'GPU' if on_gpu else 'core'}-hours"
    devices = ", ".join(sorted({record.origin.device for record in near.values()}))
    source = f"from {len(near)} nearest records, on {devices}"
    lines = [f"training: about {spell(seconds / side)}, {side} side by side; {hours} ({source})"]
    if gpus and not on_gpu:
        lines.append("no record of a GPU is at hand: on one it takes less, how much is not known")
    disk = sum(estimate.disk_bytes(job, record) for job, record in pairs)
    return [*lines, *_doubts(pairs), _memory_line(pairs), f"disk: about {disk / 2**20:,.0f} MiB"]


def _doubts(pairs: list[tuple[Job, Record]]) -> list[str]:
    """Why the time may be far off."""
    lines = []
    if unknown := sorted({job.task for job, record in pairs if record.job.task != job.task}):
        lines.append(f"no record of {', '.join(unknown)} is at hand: their time is a guess from another task")
    far = max(estimate.work(job) / estimate.work(record.job) for job, record in pairs)
    if far > estimate.FAR:
        lines.append(f"the largest run is {far:,.0f} times the work of its nearest record: this is a guess")
    return lines


def _memory_line(pairs: list[tuple[Job, Record]]) -> str:
    needed = [estimate.memory_bytes(job, record) for job, record in pairs]
    known = [peak for peak in needed if peak is not None]
    if not known:
        return "memory: not known"
    rest = f"; of {len(needed) - len(known)} runs not known" if len(known) < len(needed) else ""
    return f"memory: about {max(known) / 2**30:.1f} GiB a run{rest}"


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="estimate", description="Print what would run, and what it would take.")
    parser.add_argument(
        "--config", nargs="*", default=[], action="extend", metavar="KEY=VALUE", help="as for snakemake"
    )
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    options = parser.parse_args(argv)
    if not options.results.is_dir():
        raise ConfigError(f"{options.results}: no such results folder")
    raw = read_yaml(config_file("config.yaml"))
    for word in options.config:
        key, sign, value = word.partition("=")
        if not sign:
            raise ConfigError(f"--config {word}: expected KEY=VALUE")
        raw[key] = load_yaml(value)
    print("\n".join(report_lines(Targets.of(raw), options.results, max(1, options.cores))))


if __name__ == "__main__":
    run(main)
