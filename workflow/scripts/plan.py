"""Say what would run, and what it would take: `python -m workflow.scripts.plan [--config rung=small ...]`.

Nothing is run and nothing is written. Estimates come from the nearest records: those in results/runs and those that
came with the project.
"""

import argparse
import os
from collections import Counter
from pathlib import Path

from workflow.choices import Refused
from workflow.closed import load_yaml, read_yaml
from workflow.dag import Dag
from workflow.jobs import Job
from workflow.outlook import estimate
from workflow.outlook.progress import spell
from workflow.records import PUBLISHED, Record, published, read_record
from workflow.scripts._main import run
from workflow.settings import CONFIG


def known(results: Path) -> list[Record]:
    """Every record at hand that can be read."""
    found = []
    for path in (*sorted(results.glob("runs/*/record.json")), *sorted(PUBLISHED.glob("*/*.json"))):
        try:
            found.append(read_record(path))
        except Refused:  # of another version: no estimate rests on it
            continue
    return found


def told(asked: Dag, results: Path, lanes: int) -> list[str]:
    """The lines that are printed."""
    jobs = asked.jobs
    waiting = {digest: job for digest, job in jobs.items() if not _there(digest, results)}
    cells = len({job.cell for job in jobs.values()})
    lines = [f"rung {asked.config.rung}: {len(jobs)} runs in {cells} cells, {len(jobs) - len(waiting)} cached"]
    for task, count in Counter(job.task for job in jobs.values()).items():
        left = sum(job.task == task for job in waiting.values())
        lines.append(f"  {task}: {count} runs, {left} to run")
    records = known(results)
    lines += _costs(waiting, records, lanes, asked.gpus) if waiting else ["nothing is left to train"]
    measured = sum(seconds for rule, seconds in asked.expected_seconds.items() if rule != "train")
    lines.append(f"measures and pages, where they are not made: about {spell(measured)} on two cores")
    seeds = {task: len({job.seed for job in jobs.values() if job.task == task}) for task in asked.measures}
    for task, effect in estimate.visible(records, seeds).items():
        lines.append(f"{seeds[task]} seeds would show a difference in {estimate.score(task)} of {effect:.3g}")
    return lines


def _there(digest: str, results: Path) -> bool:
    return bool(published(digest)) or (results / "runs" / digest / "record.json").exists()


def _costs(waiting: dict[str, Job], records: list[Record], lanes: int, gpus: int) -> list[str]:
    near = {digest: estimate.nearest(job, records) for digest, job in waiting.items()}
    unknown = sorted({job.task for digest, job in waiting.items() if near[digest] is None})
    if unknown:
        return [f"no record of {', '.join(unknown)} is at hand: what it takes is not known"]
    took = [estimate.seconds(job, near[digest]) for digest, job in waiting.items()]
    far = max(estimate.work(job) / estimate.work(near[digest].job) for digest, job in waiting.items())
    devices = ", ".join(sorted({one.origin.device for one in near.values()}))
    on_gpu = not any(one.origin.device.startswith("cpu") for one in near.values())
    side = 1 if on_gpu else lanes
    hours = f"{sum(took) / 3600:.2g} {'GPU' if on_gpu else 'core'}-hours"
    rest = f"from {len({one.digest for one in near.values()})} nearest records, on {devices}"
    needed = [estimate.memory(job, near[digest]) for digest, job in waiting.items()]
    disk = sum(estimate.disk(job, near[digest]) for digest, job in waiting.items())
    lines = [f"training: about {spell(sum(took) / side)}, {side} side by side; {hours} ({rest})"]
    if gpus and not on_gpu:
        lines.append("no record of a GPU is at hand: on one it takes less, how much is not known")
    if far > estimate.FAR:
        lines.append(f"the largest run is {far:,.0f} times the work of its nearest record: this is a guess")
    told = "not known" if None in needed else f"about {max(needed) / 2**30:.1f} GiB a run"
    return [*lines, f"memory: {told}", f"disk: about {disk / 2**20:,.0f} MiB"]


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="plan", description="Say what would run, and what it would take.")
    parser.add_argument(
        "--config", nargs="*", default=[], action="extend", metavar="KEY=VALUE", help="as for snakemake"
    )
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    options = parser.parse_args(argv)
    if not options.results.is_dir():
        raise Refused(f"{options.results}: no such results folder")
    raw = read_yaml(CONFIG / "config.yaml")
    for one in options.config:
        key, sign, value = one.partition("=")
        if not sign:
            raise Refused(f"--config {one}: expected KEY=VALUE")
        raw[key] = load_yaml(value)
    print("\n".join(told(Dag.of(raw), options.results, max(1, options.cores))))


if __name__ == "__main__":
    run(main)
