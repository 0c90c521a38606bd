"""Everything that is not a training: data sets, costs, tables, figures, claims and pages, and how long they take."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from workflow.monitor.timed import read_benchmark
from workflow.monitor.workflow_log import Finished
from workflow.plan.reads import reads
from workflow.plan.targets import Targets
from workflow.results.registry import OF_TEXTS

ALONE = ("reference", "throughput", "layers", "steps", "engine_benchmark")  # the machine is theirs while they time
BENCHMARKS = {"throughput": "throughput/*.tsv", "longest_span": "longest_span/*.tsv"}
BENCHMARKS |= {"layers": "layers.tsv", "steps": "steps.tsv", "engine_benchmark": "engine.tsv"}
# Seconds of a job at scale laptop on two cores (docs/log.md), where none of its kind was run here.
TYPICAL = {"corpus": 8.0, "precomputed": 1.0, "costs": 5.0, "longest_span": 15.0, "best_reader": 16.0}
TYPICAL |= {
    "topic_borders": 13.0,
    "reference": 4.0,
    "throughput": 20.0,
    "layers": 20.0,
    "steps": 40.0,
    "engine_benchmark": 480.0,
}
TYPICAL |= {"table": 1.5, "figure": 2.5, "ablation_page": 5.5, "paper_page": 2.0, "shared_pages": 3.0}
START, BETWEEN = 5.0, 0.2  # seconds before a timing starts, and between its turns
OTHERWISE = 1.0  # seconds of a job of any other rule
GROUPS = {
    "data sets": ("corpus",),
    "costs": ("costs", "longest_span", *OF_TEXTS),
    "timings": ALONE,
    "tables and figures": ("table", "figure"),
    "pages": ("ablation_page", "paper_page", "shared_pages", "engine_page"),
    "other files": (),  # whatever is left
}
MADE_FROM_RUNS = ("runs_table", "table", "figure", "claims", "ledger", "ablation_page", "paper_page", "shared_pages")


@dataclass(frozen=True)
class OtherJobs:
    """seconds: of a job, by rule, of the rules of which one has run here. planned: what the scale's settings say."""

    seconds: Mapping[str, float]
    planned: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def learn(cls, finished: Iterable[Finished], logs: Path, targets: Targets | None = None) -> "OtherJobs":
        """finished: jobs of earlier workflows. logs: of the scale, with the benchmark files of timings.

        targets: what the scale asks for says how long timings take which have never run.
        """
        seen: dict[str, list[float]] = defaultdict(list)
        for job in finished:
            if job.rule not in BENCHMARKS:  # what timings take is decided by the scale
                seen[job.rule].append(job.seconds)
        for rule, files in BENCHMARKS.items():
            seen[rule] = [spent for path in sorted(logs.glob(files)) if (spent := read_benchmark(path)) is not None]
        return cls(
            {rule: fmean(values) for rule, values in seen.items() if values}, timing_seconds(targets) if targets else {}
        )

    def of(self, rule: str) -> float:
        """Seconds of one job of a rule."""
        return self.seconds.get(rule, self.planned.get(rule, TYPICAL.get(rule, OTHERWISE)))


def timing_seconds(targets: Targets) -> dict[str, float]:
    """Of the timings of a scale, on two cores: so many passes of so many nets, training and prediction."""
    seconds = {}
    groups = targets.runs.groups.values()
    timed = [(len(nets), targets.measures[targets.runs.job_of(nets[0]).task]) for nets in groups]
    if timed:
        turns = [START + 2 * nets * how.passes * (how.seconds + 2 * BETWEEN) for nets, how in timed]
        seconds["throughput"] = fmean(turns)
    if how := targets.measures.get("translation"):
        seconds["layers"] = START + 4 * len(how.layer_lengths) * (BETWEEN + how.passes * how.seconds)
    if targets.of_scale.has_engine:
        sizes = targets.of_scale.engine
        seconds["steps"] = 10 + 0.001 * sum(sizes.lengths) * sizes.d_model / 64
    return seconds


def files_of_rules(targets: Targets) -> dict[str, list[str]]:
    """What `snakemake` makes besides trainings, by rule: a file for each job, but for what came with the project."""
    names, runs = targets.ablations, targets.runs
    costs = {kind: _files(targets, kind) for kind in ("flops", "longest_span", "throughput", *OF_TEXTS)}
    artefacts = [file for name in names for file in targets.artefact_files(name)]
    layers = any("layers" in reads("tables", name) for name in targets.artefacts("tables"))
    taken = set(targets.of_scale.files_taken)
    references = [f"{targets.results}/reference.json"] if costs["throughput"] else []
    made = {
        "corpus": [f"results/data/{slug}.npz" for slug in runs.corpora],
        "precomputed": targets.precomputed.files,
        "reference": references,
        "costs": costs.pop("flops"),
        **costs,
        "layers": [f"{targets.results}/layers.json"] if layers else [],
        "steps": [f"{targets.results}/steps.json"] if targets.of_scale.has_engine else [],
        "runs_table": [f"{targets.results}/ablations/{name}.json" for name in names],
        "table": [file for file in artefacts if "/tables/" in file],
        "figure": [file for file in artefacts if "/figures/" in file],
        "claims": [f"{targets.results}/claims/{group}.json" for group in targets.claim_groups],
        "evidence": [f"{targets.results}/evidence/{name}.json" for name in targets.other_results],
        "ledger": [f"{targets.results}/ledger.json"],
        "ablation_page": [targets.page_of(name) for name in names],
        "paper_page": [f"{targets.reports}/papers/{paper}.html" for paper in targets.papers],
        "shared_pages": targets.shared_pages[:1],
    }
    return {
        rule: [file for file in files if rule == "precomputed" or file not in taken] for rule, files in made.items()
    }


def _files(targets: Targets, kind: str) -> list[str]:
    """Of one kind of cost that a page shows, or a table or figure reads."""
    files: dict[str, None] = {}
    for name, ablation in targets.ablations.items():
        named = [*(("tables", each) for each in ablation.tables), *(("figures", each) for each in ablation.figures)]
        if kind in targets.costs_shown(name) or any(kind in reads(*artefact) for artefact in named):
            files.update(dict.fromkeys(targets.cost_files(name, kind)))
    came = set(targets.precomputed.files)
    return [file for file in files if file not in came]


def jobs_left(targets: Targets, root: Path) -> dict[str, int]:
    """Jobs by rule whose file is not under root yet; where a run or cost is still to come, all that is made from runs.

    root: the folder with results/ and reports/.
    """
    files = files_of_rules(targets)
    left = {rule: [file for file in each if not (root / file).exists()] for rule, each in files.items()}
    left["precomputed"] = left["precomputed"][:1]  # one job writes all that came with the project
    waiting = any(not (root / record).exists() for record in targets.runs.records)
    if waiting or any(each for rule, each in left.items() if rule not in MADE_FROM_RUNS):
        left |= {rule: files[rule] for rule in MADE_FROM_RUNS}
    return {rule: len(each) for rule, each in left.items() if each}


def describe_jobs(jobs: Mapping[str, int]) -> str:
    """{"table": 2, "figure": 1} -> '3 tables and figures'; what is not a training, in groups."""
    groups = {rule: name for name, rules in GROUPS.items() for rule in rules}
    counts = dict.fromkeys(GROUPS, 0)
    for rule, count in jobs.items():
        counts[groups.get(rule, "other files")] += count
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


def wall_seconds(jobs: Mapping[str, int], other: OtherJobs, lanes: int) -> float:
    """Jobs side by side in so many lanes, timings alone."""
    alone = sum(count * other.of(rule) for rule, count in jobs.items() if rule in ALONE)
    return alone + sum(count * other.of(rule) for rule, count in jobs.items() if rule not in ALONE) / lanes
