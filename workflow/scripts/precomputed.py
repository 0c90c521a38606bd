"""Write the costs that ship in place of measuring: `python -m workflow.scripts.precomputed`.

Writes all files that the config asks for and that are not there yet: costs by configuration or
group, and what was measured of the scale as a whole. shipped.json lists the shipped records that
the scale reads, digest -> `contents`.
"""

import json
import os
from pathlib import Path

from workflow.config.command_line import Parser, run
from workflow.config.environment import CONFIG
from workflow.config.errors import ConfigError
from workflow.config.files import PRECOMPUTED
from workflow.config.strict import parse_json
from workflow.plan.targets import Targets
from workflow.results.precomputed import precomputed_costs
from workflow.results.record import write_if_changed
from workflow.results.registry import COSTS
from workflow.results.rows import write_rows


def take_costs(kind: str, name: str, targets: Targets) -> str:
    """Write the text of one file of costs. name: a configuration, or a group of them."""
    scale = targets.config.scale
    wanted = [name]
    if kind == "throughput":
        wanted = targets.runs.groups.get(name, [])
    rows = []
    for row in precomputed_costs(kind, scale):
        if row["configuration"] in wanted:
            rows.append(row)
    if not rows:
        raise ConfigError(f"{kind} of {name}: not precomputed at scale {scale}")
    return write_rows(kind, rows)


def take(file: Path, targets: Targets) -> str:
    """Return the text of one file of the workflow."""
    if file.parent.name in COSTS:
        return take_costs(file.parent.name, file.stem, targets)
    shipped = PRECOMPUTED / targets.config.scale
    path = shipped / file.relative_to(targets.results)
    return path.read_text(encoding="utf-8")


def main(argv: list[str] | None = None) -> None:
    Parser(
        prog="precomputed",
        description="Copy precomputed costs to results/; list the shipped records.",
    ).parse_args(argv)
    config = parse_json(os.environ.get(CONFIG, "{}"), "config")
    targets = Targets.read(config)  # the workflow has checked it
    files = targets.precomputed.missing
    for file in map(Path, files):
        write_if_changed(file, take(file, targets), wait=False)
    shipped = targets.runs.shipped
    listed = json.dumps(shipped, indent=1) + "\n"
    for file in targets.precomputed.list_of_shipped:
        write_if_changed(Path(file), listed, wait=False)
    # once for all files: writing one did not wait for the disk
    os.sync()
    print(f"{len(files)} precomputed files; {len(shipped)} shipped records are read")


if __name__ == "__main__":
    run(main)
