"""Records that came with the project, made on other machines: results/precomputed/SCALE/DIGEST.json."""

from functools import cache
from pathlib import Path

from workflow.config.files import PRECOMPUTED
from workflow.results.rows import read_rows


def precomputed(digest: str) -> Path | None:
    """The record of this job among those that came with the project."""
    return next(iter(sorted(PRECOMPUTED.glob(f"*/{digest}.json"))), None)


@cache
def precomputed_costs(kind: str) -> dict[str, dict]:
    """What came with the project of one kind of cost, by configuration."""
    files = sorted(PRECOMPUTED.glob(f"*/costs/{kind}.json"))
    return {row["configuration"]: row for file in files for row in read_rows(file)[1]}


def precomputed_timings(ablation: str, configurations: set[str]) -> list[dict] | None:
    """The timings of an ablation that came with the project, where they hold all of these configurations.

    Those of one machine alone stand side by side.
    """
    for file in sorted(PRECOMPUTED.glob("*/costs/throughput.json")):
        rows = [row for row in read_rows(file)[1] if row.get("ablation", ablation) == ablation]
        timed = {row["configuration"]: row | {"ablation": ablation} for row in rows}
        if configurations <= set(timed):
            return [timed[name] for name in sorted(configurations)]
    return None
