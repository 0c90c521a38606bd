"""What came with the project, made on other machines: results/precomputed/SCALE/DIGEST.json, and costs/ beside them."""

from functools import cache
from pathlib import Path

from workflow.config.files import PRECOMPUTED
from workflow.results.rows import read_rows


def precomputed(digest: str) -> Path | None:
    """The record of this job among those that came with the project."""
    return next(iter(sorted(PRECOMPUTED.glob(f"*/{digest}.json"))), None)


@cache
def precomputed_costs(kind: str, scale: str = "*") -> list[dict]:
    """The rows of one kind of cost; of timings a row for each ablation of a configuration."""
    return [row for file in sorted(PRECOMPUTED.glob(f"{scale}/costs/{kind}.json")) for row in read_rows(file)[1]]
