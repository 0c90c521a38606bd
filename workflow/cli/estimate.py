"""Estimate what would run, how long: `python -m workflow.cli.estimate [--config scale=small ...]`.

Runs nothing, writes nothing and needs no data. Estimates are based on runs that finished here, else
on the precomputed records. For a device of config/devices.yaml (`--on 'H100 SXM'`) they are
predicted from MACs and its peak rate.
"""

import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from workflow.config.command_line import Parser, at_least, print_lines, refuse_twice, run
from workflow.config.cpus import count_cpus
from workflow.config.errors import ConfigError, check_known
from workflow.config.files import config_file
from workflow.config.job import Job
from workflow.config.strict import load_yaml, read_yaml
from workflow.plan.estimate import (
    Timed,
    TrainingTime,
    cost_lines,
    device_lines,
    load_devices,
    read_timed,
    training_lines,
    waiting_runs,
)
from workflow.plan.planned_runs import PlannedRuns
from workflow.plan.targets import Targets
from workflow.results.record import Record
from workflow.results.statistics import FEWEST, scatter, smallest_effect
from workflow.tasks.spec import load_corpora

STATES = ("done", "failed", "precomputed", "to train")


def report_lines(targets: Targets, results: Path, cores: int) -> list[str]:
    """List what is printed. results: the folder of earlier runs."""
    runs = targets.runs
    known = read_timed(results / "runs")
    waiting = waiting_runs(runs, results / "runs")
    failed = {run.record.digest for run in known if run.record.status != "ok"}
    states = _states(runs, set(waiting), failed)
    lines = [
        *_run_lines(targets, states),
        *_tuning_lines(targets, states),
        *(f"missing data: {reason}" for reason in runs.missing.values()),
    ]
    if waiting:
        jobs = [runs.jobs[digest] for digest in waiting]
        has_gpu = bool(targets.config.gpus)
        needed = TrainingTime.of(jobs, known, cores, gpu=has_gpu)
        lines += training_lines(needed, gpu=has_gpu)
    else:
        lines.append("nothing to train")
    others = "datasets, costs, tables, figures and pages"
    if targets.setup.card:
        lines += cost_lines(targets, known, cores)
        others = "datasets and the page"
    lines.append(f"plus minutes for {others}; `snakemake -n` counts these jobs")
    if targets.setup.card is None:  # a card is compared with more seeds than are planned
        lines += _effect_lines(runs, known)
    return lines


def _run_lines(targets: Targets, states: dict[str, str]) -> list[str]:
    """Count the runs by their states, of all tasks and of each."""
    runs = targets.runs
    scale_name = targets.config.scale
    counts = f"{len(runs.jobs)} runs of {len(runs.configurations)} configurations"
    lines = [f"scale {scale_name}: {counts}, {_count(states.values())}"]
    for task, scale in targets.setup.scales.items():
        digests = [digest for digest, job in runs.jobs.items() if job.task == task]
        if targets.setup.card and not digests:
            continue  # no part of the battery is of this task
        counts = _count(states[digest] for digest in digests)
        lines.append(f"  {task}: {counts}")
        lines.append(f"    config/scales/{scale_name}/{task}.yaml: {scale.about}")
    return lines


def _tuning_lines(targets: Targets, states: dict[str, str]) -> list[str]:
    """Count the trials and the runs that follow them; name what is not tuned here."""
    lines = []
    for tuning, words in (("trial", "trials"), ("tuned", "runs with tuned settings")):
        rows = [row for row in targets.runs.rows if row.tuning == tuning]
        digests = {row.job.digest for row in rows}
        if digests:
            counts = _count(states[digest] for digest in digests)
            lines.append(f"  including {len(digests)} {words}: {counts}")
    if targets.untuned:
        lines.append(f"not tuned at this scale (no trial_seed): {', '.join(targets.untuned)}")
    return lines


def _states(runs: PlannedRuns, waiting: set[str], failed: set[str]) -> dict[str, str]:
    """Say of each run, by digest, how far it is; a precomputed run counts as precomputed only."""
    states = dict.fromkeys(runs.jobs, "done")
    for digest in failed & states.keys():
        states[digest] = "failed"
    states |= dict.fromkeys(runs.precomputed, "precomputed")
    states |= dict.fromkeys(waiting, "to train")
    return states


def _count(states: Iterable[str]) -> str:
    """Count states in words: 2 done, 1 failed, 4 to train."""
    counts = Counter(states)
    always = ("done", "to train")
    named = [state for state in STATES if counts[state] or state in always]
    return ", ".join(f"{counts[state]} {state}" for state in named)


def scatter_between_seeds(
    records: Iterable[Record], task: str, score: str
) -> tuple[float, int] | None:
    """Compute the standard deviation of a score between seeds, and count the runs behind it.

    Pooled over all configurations with several seeds; None where no configuration has two, or where
    they do not differ.
    """
    cells: dict[str, dict[int, float]] = defaultdict(dict)
    for record in records:
        job = record.job
        is_of_task = record.status == "ok" and job.task == task
        if is_of_task and score in record.metrics:
            cells[job.configuration][job.seed] = record.metrics[score]
    values = []
    configurations = []
    for name, by_seed in cells.items():
        if len(by_seed) > 1:
            values += by_seed.values()
            configurations += [name] * len(by_seed)
    if not values:
        return None
    deviation = scatter(values, configurations)
    return (deviation, len(values)) if deviation else None


def _effect_lines(runs: PlannedRuns, known: list[Timed]) -> list[str]:
    """Say which differences the planned seeds can detect, for each task.

    The tuning seed does not count: a trial with factor 1 has the recipe's configuration, but no
    answer uses it.
    """
    judged = {row.job.digest: row.job for row in runs.rows if row.tuning != "trial"}
    by_task: dict[str, list[Job]] = defaultdict(list)
    for job in judged.values():
        by_task[job.task].append(job)
    records = [run.record for run in known]
    lines = []
    for task, jobs in by_task.items():
        effect = _describe_effect(task, jobs, records)
        lines.append(f"{task}: {effect}")
    return lines


def _describe_effect(task: str, jobs: list[Job], records: list[Record]) -> str:
    """Say which effect is detectable, from the variance at this scale, else at all scales."""
    seeds = Counter(job.configuration for job in jobs)
    counts = sorted(set(seeds.values()))
    if counts[-1] < FEWEST:
        return f"fewer than {FEWEST} seeds, so no difference can be significant"
    score = f"test_{load_corpora(task).metric}"
    scale = jobs[0].scale
    of_scale = [record for record in records if record.job.scale == scale]
    where = "this scale"
    found = scatter_between_seeds(of_scale, task, score)
    if found is None:
        where = "other scales"
        found = scatter_between_seeds(records, task, score)
    if found is None:
        return "the variance between seeds is unknown, and so is the minimum detectable effect"
    deviation, number = found
    effects = []
    for count in counts:
        if count >= FEWEST:
            # a difference of two runs varies by sqrt(2) times a run's deviation
            effect = smallest_effect(math.sqrt(2) * deviation, count)
            effects.append(f"{effect:.3g} with {count} seeds")
    source = f"the variance between seeds of {number} runs at {where}"
    return f"minimum detectable effect on {score}: {', '.join(effects)} (from {source})"


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="estimate", description=__doc__)
    parser.add_argument(
        "--config", nargs="*", default=[], metavar="KEY=VALUE", help="config keys, as for snakemake"
    )
    parser.add_argument(
        "--results", type=Path, default=Path("results"), help="folder of earlier runs"
    )
    parser.add_argument("--cores", type=at_least(1), default=count_cpus(), help="default: all")
    parser.add_argument(
        "--on", metavar="DEVICE", help="also predict the hours on a device of config/devices.yaml"
    )
    words = sys.argv[1:] if argv is None else argv
    refuse_twice("--config", words)
    options = parser.parse_args(argv)
    if options.on is not None:
        check_known("device", options.on, load_devices())
    if not options.results.is_dir():
        raise ConfigError(f"{options.results}: no such folder of results")
    targets = Targets.of(_read_config(options.config))
    lines = report_lines(targets, options.results, options.cores)
    if options.on:
        device = load_devices()[options.on]
        lines += device_lines(targets.runs.jobs.values(), options.on, device)
    print_lines(lines)


def _read_config(words: list[str]) -> dict:
    """Read config.yaml, and over it the keys of the command line: KEY=VALUE."""
    raw = read_yaml(config_file("config.yaml"))
    for word in words:
        key, sign, value = word.partition("=")
        if not sign:
            raise ConfigError(f"--config {word}: expected KEY=VALUE")
        try:
            raw[key] = load_yaml(value)
        except ConfigError as error:
            raise ConfigError(f"--config {word}: {error}") from None
    return raw


if __name__ == "__main__":
    run(main)
