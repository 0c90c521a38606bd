"""Describe an archive as a Workflow Run RO-Crate for other tools."""

import json
from collections.abc import Iterable
from mimetypes import MimeTypes
from pathlib import Path
from typing import TYPE_CHECKING

from workflow.config.errors import naming_extra
from workflow.config.files import ROOT

if TYPE_CHECKING:
    from rocrate.rocrate import ROCrate

CRATE = "ro-crate-metadata.json"
WORKFLOW = ("workflow/Snakefile", "CITATION.cff", "LICENSE")
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


DESCRIPTION = (
    "Records, costs, tables, figures and pages of one scale of a Snakemake workflow that trains "
    "and evaluates attention variants and compares its measurements with every table, figure and "
    "claim of three papers."
)
ACTION = "Trains, evaluates and benchmarks every configuration of the scale, and writes its report."


def crate_of(scale: str, paths: Iterable[str], version: str, between: tuple[str, str]) -> str:
    """Describe an archive as a Workflow Run RO-Crate, in JSON-LD.

    paths: all files in it. version: of the suite. between: start times of the first and the last
    run. `ConfigError` if the package rocrate, of the extra `archive`, is missing.
    """
    with naming_extra("archive"):
        from rocrate.rocrate import ROCrate
    paths = list(paths)
    crate = ROCrate(version="1.1")
    crate.name = f"Quality and cost of attention variants: scale {scale}"
    crate.description = DESCRIPTION
    license_of_all = {"@type": "CreativeWork", "name": "MIT"}
    crate.root_dataset["license"] = _entity(crate, LICENSE, license_of_all)
    crate.root_dataset["datePublished"] = between[1]
    crate.root_dataset["conformsTo"] = [
        _entity(crate, address, {"@type": "CreativeWork", "name": name, "version": address[-3:]})
        for address, name in PROFILES.items()
    ]
    workflow = _add_workflow(crate, paths, version)
    files = [_add_file(crate, path) for path in _choose_files(scale, paths)]
    plans = [file for file in files if file.id.endswith("/plan.json")]
    action = {
        "@type": "CreateAction",
        "name": f"snakemake --config scale={scale}",
        "startTime": between[0],
        "endTime": between[1],
        "description": ACTION,
        "instrument": workflow,
        "object": plans,
        "result": [file for file in files if file not in plans],
    }
    crate.root_dataset["mentions"] = _entity(crate, "#run", action)
    return json.dumps(crate.metadata.generate(), indent=1, ensure_ascii=False) + "\n"


def _entity(crate: "ROCrate", name: str, properties: dict):
    from rocrate.model.contextentity import ContextEntity

    return crate.add(ContextEntity(crate, name, properties))


def _add_workflow(crate: "ROCrate", paths: list[str], version: str):
    """Add the Snakefile as what was run, and the suite's other files in the archive."""
    snakefile, *others = WORKFLOW
    about = {"name": "Snakefile", "encodingFormat": "text/plain", "version": version}
    workflow = crate.add_workflow(
        dest_path=snakefile, main=True, lang="snakemake", properties=about
    )
    for name in others:
        if name in paths:
            crate.add_file(
                dest_path=name, properties={"name": name, "encodingFormat": "text/plain"}
            )
    return workflow


def _choose_files(scale: str, paths: list[str]) -> list[str]:
    """List the files that are described: the largest part of an archive are pages and figures."""
    top = [path for path in paths if Path(path).name in LISTED and path.count("/") == 2]
    folders = (f"results/{scale}/tables/", "texts/", "croissant.json")
    return top + [path for path in paths if path.startswith(folders) or Path(path).name in RUN]


def _add_file(crate: "ROCrate", path: str):
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
