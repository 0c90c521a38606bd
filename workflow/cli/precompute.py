"""Copy results to results/precomputed, to ship with the project: `python -m workflow.cli.precompute
laptop`.

Copies the records, their costs and what was measured once for the scale. Leaves out sentences of
datasets that may not be redistributed, and attention maps, which are large, except those that
figures show.
"""

import json
from pathlib import Path

from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError
from workflow.config.files import PRECOMPUTED, config_file
from workflow.config.strict import read_yaml
from workflow.plan.reads import MAPS, reads
from workflow.plan.targets import Targets
from workflow.results.precomputed import NOT_MEASURED, SETTINGS, file_of_scale
from workflow.results.record import Record, write_text
from workflow.results.registry import COSTS
from workflow.results.rows import read_rows, write_rows
from workflow.results.store import Store, merge_records, ships
from workflow.scripts.layers import unmeasured
from workflow.settings.scales import read_measure
from workflow.tasks.spec import load_corpora


def merge_runs(targets: Targets, results: Path) -> None:
    """Merge the records of all runs that were trained here into those that ship, or none."""
    trained = Store(results / "runs")
    drawn = find_drawn(targets)
    merged = []
    for digest in targets.runs.jobs:
        if digest in trained:
            record = trained.read(digest)
            merged.append(without_texts(record, digest in drawn))
        elif not ships(digest):
            raise ConfigError(
                f"{trained.describe_place(digest)}: no such record; "
                f"run `snakemake --config scale={targets.config.scale}` first"
            )
    merge_records(merged, PRECOMPUTED)


def find_drawn(targets: Targets) -> set[str]:
    """Find the first seed of the questions whose attention a figure draws, by digest."""
    drawn = set()
    for name in targets.artefacts("figures"):
        if MAPS in reads("figures", name):
            drawn.add(targets.question_with("figures", name))
    jobs = [row.job for row in targets.runs.rows if row.question in drawn]
    first = min((job.seed for job in jobs), default=None)
    return {job.digest for job in jobs if job.seed == first}


def without_texts(record: Record, drawn: bool) -> Record:
    """Leave out sentences of a dataset that may not be redistributed, and maps unless a figure
    shows them.
    """
    entry = load_corpora(record.job.task).entries.get(record.job.corpus)
    # generated, or from packages that we install
    ours = entry is not None and entry.kind in ("embedded", "topics", "drawn")
    may_be_drawn = ours or bool(getattr(entry, "example", None))
    left_out = set()
    if not ours:
        left_out.add("shown")
    if not (drawn and may_be_drawn):
        left_out.add("maps")
    facts = {name: fact for name, fact in record.facts.items() if name not in left_out}
    return record.model_copy(update={"facts": facts})


def copy_costs(targets: Targets, scale: Path, folder: Path) -> None:
    """Write a file for each kind of cost, with each configuration once; timings are those of this
    plan's groups.

    If the scale is incomplete, what was not measured is an error with this reason.
    """
    asked = []
    for question in targets.questions:
        asked += map(Path, targets.costs_of(question))
    for kind in COSTS:
        of_kind = [file for file in asked if file.parent.name == kind]
        names = sorted({file.stem for file in of_kind})
        rows = _measured_rows(targets, scale / kind, names)
        rows += _unmeasured_rows(targets, kind, names, rows)
        write_text(folder / kind / "all.json", write_rows(kind, rows))


def _measured_rows(targets: Targets, folder: Path, names: list[str]) -> list[dict]:
    """Read the rows of these files, of configurations of this plan alone."""
    rows = []
    for name in names:
        path = folder / f"{name}.json"
        if path.exists():
            rows += read_rows(path)[1]
    known = targets.runs.configurations
    return [row for row in rows if row["configuration"] in known]


def _unmeasured_rows(
    targets: Targets, kind: str, names: list[str], measured: list[dict]
) -> list[dict]:
    """Make a row, with the reason, of each configuration that these files should have had."""
    wanted: dict[str, None] = {}
    for name in names:
        members = targets.runs.groups[name] if kind == "throughput" else [name]
        wanted |= dict.fromkeys(members)
    found = {row["configuration"] for row in measured}
    rows = []
    for name in wanted:
        if name not in found:
            row = {
                "configuration": name,
                "digest": targets.runs.configurations[name],
                "status": "error",
                "reason": NOT_MEASURED,
            }
            rows.append(row)
    return rows


def copy_whole(targets: Targets, scale: Path, folder: Path) -> None:
    """Copy what was measured once for the scale, with the settings that identify it.

    Layers of an incomplete scale are marked as not measured. Otherwise they would be measured on
    the reader's machine and taken for the scale's.
    """
    made = {}
    nowhere = {
        "status": "error",
        "reason": NOT_MEASURED,
        "device": "no device",
        "commit": "none",
    }
    for name, settings in targets.shared.settings.items():
        file = file_of_scale(name)
        if (scale / file).exists():  # not every scale needs all of it
            content = (scale / file).read_text(encoding="utf-8")
            write_text(folder / file, content)
            made[name] = settings
        elif name.startswith("layers/"):
            rows = [row | nowhere for row in unmeasured(read_measure(settings))]
            write_text(folder / file, write_rows("layers", rows))
            made[name] = settings
    write_text(folder / SETTINGS, json.dumps(made, indent=1, sort_keys=True) + "\n")


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="precompute", description=__doc__)
    parser.add_argument("scale", help="such as laptop: a folder of config/scales")
    parser.add_argument(
        "--so-far",
        action="store_true",
        help="copy what has been run, even if the scale is incomplete",
    )
    parser.add_argument("--results", type=Path, default=Path("results"), help="where the runs are")
    options = parser.parse_args(argv)
    asked = {"scale": options.scale, "train": "nothing" if options.so_far else "everything"}
    targets = Targets.of(read_yaml(config_file("config.yaml")) | asked)
    scale = options.results / targets.folder
    folder = PRECOMPUTED / options.scale
    merge_runs(targets, options.results)
    copy_costs(targets, scale, folder)
    copy_whole(targets, scale, folder)
    print(f"{folder}: {len(targets.runs.jobs)} records and their costs")


if __name__ == "__main__":
    run(main)
