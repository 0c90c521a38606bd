"""Put the records of a scale among those that come with the project: `python -m workflow.cli.precompute laptop`.

They are written to results/precomputed/SCALE, with the costs of the configurations that are then trained nowhere;
records without attention maps, which are most of their size. --train names the questions whose first seed is left out,
so that a fresh clone trains it.
"""

import argparse
from pathlib import Path

from workflow.config.command_line import run
from workflow.config.errors import ConfigError, check_known
from workflow.config.files import PRECOMPUTED, config_file
from workflow.config.strict import read_yaml
from workflow.plan.targets import Targets
from workflow.results.record import read_record, write_record, write_text
from workflow.results.registry import COSTS
from workflow.results.rows import read_rows, write_rows

LARGE = ("maps",)  # facts that only figures of one run show


def copy_records(targets: Targets, digests: list[str], results: Path, folder: Path) -> None:
    """The whole set or nothing."""
    records = []
    for digest in digests:
        path = results / "runs" / digest / "record.json"
        if not path.exists():
            raise ConfigError(f"{path}: not there yet; run `snakemake --config scale={targets.config.scale}` first")
        record = read_record(path)
        facts = {name: fact for name, fact in record.facts.items() if name not in LARGE}
        records.append(record.model_copy(update={"facts": facts}))
    for record in records:
        write_record(folder / f"{record.digest}.json", record)


def copy_costs(targets: Targets, digests: set[str], results: Path, folder: Path) -> None:
    """The costs of the configurations whose first seed is among the digests; timings of all that they are beside."""
    wanted = {name for name, digest in targets.runs.configurations.items() if digest in digests}
    for kind in COSTS:
        files = sorted((results / targets.folder / kind).glob("*.json"))
        contents = [read_rows(file)[1] for file in files]
        if kind == "throughput":  # its configurations took turns: they stay together
            rows = [row for rows in contents if any(row["configuration"] in wanted for row in rows) for row in rows]
        else:
            rows = [row for rows in contents for row in rows if row["configuration"] in wanted]
        write_text(folder / "costs" / f"{kind}.json", write_rows(kind, rows))


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="precompute", description="Put records where they come with the project.")
    parser.add_argument("scale")
    parser.add_argument("--train", nargs="*", default=[], metavar="ABLATION", help="their first seed is left out")
    parser.add_argument("--results", type=Path, default=Path("results"))
    options = parser.parse_args(argv)
    raw = read_yaml(config_file("config.yaml")) | {"scale": options.scale, "precomputed": False}
    targets = Targets.of(raw)
    for name in options.train:
        check_known("ablation", name, targets.ablations)
    first = set(targets.runs.configurations.values())
    trained = {digest for name in options.train for digest in targets.runs.digests_of(name)} & first
    digests = [digest for digest in targets.runs.jobs if digest not in trained]
    folder = PRECOMPUTED / options.scale
    copy_records(targets, digests, options.results, folder)
    copy_costs(targets, set(digests), options.results, folder)
    print(f"{folder}: {len(digests)} records; {len(trained)} runs are left to train")


if __name__ == "__main__":
    run(main)
