"""Describe an archive as a Workflow Run RO-Crate for other tools."""

import json
from collections.abc import Iterable
from mimetypes import MimeTypes
from pathlib import Path

from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from workflow.config.files import ROOT

CRATE, WORKFLOW = "ro-crate-metadata.json", ("workflow/Snakefile", "CITATION.cff", "LICENSE")
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
LICENSE = "https://spdx.org/licenses/MIT"
TYPES = MimeTypes()  # Python's own types, independent of the system
DESCRIBED = {
    "plan.json": "the runs that each question requests",
    "runs.parquet": "all runs as one table",
    "runs.csv": "all runs as one table",
    "runs_columns.csv": "the data dictionary of the table of runs",
    "ledger.json": "every claim with its verdict and the evidence for it",
    "overview.json": "every comparison and point of the first screen",
    "index.html": "the report",
    "record.json": "the settings, scores, costs and provenance of a run",
}
RUN = ("record.json", "weights.safetensors", "card.md")
LISTED = (
    "plan.json",
    "runs.parquet",
    "runs.csv",
    "runs_columns.csv",
    "ledger.json",
    "ledger.csv",
    "index.html",
)


def crate_of(scale: str, paths: Iterable[str], version: str, between: tuple[str, str]) -> str:
    """Describe an archive as a Workflow Run RO-Crate, in JSON-LD.

    paths: all files in it. version: of the suite. between: start times of the first and the last
    run.
    """
    crate, paths, (first, last) = ROCrate(version="1.1"), [*paths], between
    crate.name = f"Quality and cost of attention variants: scale {scale}"
    crate.description = (
        "Records, costs, tables, figures and pages of one scale of a Snakemake workflow that trains and evaluates "
        "attention variants and compares its measurements with every table, figure and claim of three papers."
    )
    crate.root_dataset["license"] = crate.add(
        ContextEntity(crate, LICENSE, {"@type": "CreativeWork", "name": "MIT"})
    )
    crate.root_dataset["datePublished"] = last
    profiles = [
        crate.add(
            ContextEntity(
                crate, address, {"@type": "CreativeWork", "name": name, "version": address[-3:]}
            )
        )
        for address, name in PROFILES.items()
    ]
    crate.root_dataset["conformsTo"] = profiles
    snakefile, *others = WORKFLOW
    about = {"name": "Snakefile", "encodingFormat": "text/plain", "version": version}
    main = crate.add_workflow(dest_path=snakefile, main=True, lang="snakemake", properties=about)
    for name in (name for name in others if name in paths):
        crate.add_file(dest_path=name, properties={"name": name, "encodingFormat": "text/plain"})
    chosen = [path for path in paths if Path(path).name in LISTED and path.count("/") == 2]
    kept = (f"results/{scale}/tables/", "texts/", "croissant.json")
    chosen += [path for path in paths if path.startswith(kept) or Path(path).name in RUN]
    made = [_file(crate, path) for path in chosen]
    asked = [each for each in made if each.id.endswith("/plan.json")]
    results = [each for each in made if each not in asked]
    action = {"@type": "CreateAction", "name": f"snakemake --config scale={scale}"}
    action |= {"startTime": first, "endTime": last}
    action["description"] = (
        "Trains, evaluates and benchmarks every configuration of the scale, and writes its report."
    )
    crate.root_dataset["mentions"] = crate.add(
        ContextEntity(
            crate, "#run", action | {"instrument": main, "object": asked, "result": results}
        )
    )
    return json.dumps(crate.metadata.generate(), indent=1, ensure_ascii=False) + "\n"


def _file(crate: ROCrate, path: str):
    """Add a file of the archive; the record of a run is named by its digest."""
    name = Path(path).name
    about = {
        "name": path,
        "encodingFormat": TYPES.guess_type(path)[0] or "application/octet-stream",
    }
    if name in DESCRIBED:
        about["description"] = DESCRIBED[name]
    return crate.add_file(dest_path=path, properties=about)


def beside_it() -> dict[str, bytes]:
    """Read the files of the suite that go into an archive as its provenance."""
    return {name: (ROOT / name).read_bytes() for name in WORKFLOW if (ROOT / name).is_file()}
