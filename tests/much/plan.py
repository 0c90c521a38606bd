"""Plan many runs: `python -m tests.much.plan [RUNS]` prints how long it takes, and the memory that it needs."""

import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from tests.much.asked import write_config


def read_all(config: dict):
    """The plan of a config, and all that the rules ask of it for every run; the targets."""
    from workflow.plan.targets import Targets
    from workflow.plan.wildcards import digests

    targets = Targets.of(config)
    runs = targets.runs
    asked = [targets.all_files, targets.all_rows, targets.named, runs.digest, runs.without_job_file, runs.records]
    asked += [targets.precomputed.missing, digests(runs.trained, runs.precomputed)]
    asked += [(runs.data_of(each), targets.code.of_run(each), f"{runs.labels.run(each)}") for each in runs.jobs]
    for name in targets.ablations:
        asked += [targets.costs_of(name), runs.groups_of(name)]
    asked += [(runs.nets_of(group), targets.code.of_throughput(group)) for group in runs.groups]
    return targets, asked


def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        config = write_config(Path(), runs)
        wall, own = time.perf_counter(), time.process_time()
        targets, _ = read_all(config)
        spent = f"{time.perf_counter() - wall:.1f} s, {time.process_time() - own:.1f} s of the processor"
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        print(f"{len(targets.runs.jobs)} runs planned: {spent}; at most {peak} MiB")
        os.chdir("/")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
