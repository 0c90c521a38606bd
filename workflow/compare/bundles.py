"""One archive of everything that a run of the workflow leaves: records, measures, tables, figures, pages, checksums.

manifest.json: {"version", "commits", "files": {path: sha256}}; the rest lies as it did, results/... and reports/....
The same results and pages give the same bytes.
"""

import hashlib
import lzma
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from workflow.config.errors import ConfigError, check_known
from workflow.config.files import atomic_write
from workflow.config.strict import StrictModel, parse, parse_json
from workflow.results.runs_table import load

VERSION = 1
MANIFEST = "manifest.json"
KEPT = ("plan.json", "runs.json", "claims.*", "runs/*/*.json", "runs/*/curve.csv", "measures/*.json")
KEPT += ("tables/*", "figures/*")  # and not the weights, nor the texts
LARGEST = 4 << 30  # bytes that a bundle may unpack to
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    KeyError,
    RuntimeError,
    NotImplementedError,
)


class Manifest(StrictModel):
    version: int
    commits: list[str]
    files: dict[str, str]


def kept(results: Path, reports: Path) -> dict[str, Path]:
    """Path in the archive -> file, in the order of the paths."""
    found = {f"results/{one.relative_to(results).as_posix()}": one for name in KEPT for one in results.glob(name)}
    told = [one for one in reports.rglob("*") if one.name != "progress.html"]  # of a moment that is over
    found |= {f"reports/{one.relative_to(reports).as_posix()}": one for one in told}
    return {name: path for name, path in sorted(found.items()) if path.is_file() and not path.is_symlink()}


def write(out: Path, results: Path, reports: Path, commits: list[str]) -> Manifest:
    """The whole archive or nothing."""
    files = kept(results, reports)
    sums = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}
    manifest = Manifest(version=VERSION, commits=commits, files=sums)
    with atomic_write(out) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, MANIFEST, manifest.model_dump_json(indent=1).encode())
        for name, path in files.items():
            _add(archive, name, path.read_bytes())
    return manifest


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """With a date that is always the same."""
    archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


def unpack(path: Path, folder: Path) -> Manifest:
    """Into `folder`; `ConfigError` unless every file is there, is what the manifest says, and stays inside."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(one.file_size for one in archive.infolist())
            if size > LARGEST:
                raise ConfigError(
                    f"{path}: would unpack to {size / 2**30:.0f} GiB; a bundle has at most {LARGEST >> 30}"
                )
            manifest = _manifest(path, archive)
            for name, expected in manifest.files.items():
                content = archive.read(name)
                if hashlib.sha256(content).hexdigest() != expected:
                    raise ConfigError(f"{path}: {name} is not what the manifest says; the bundle is damaged")
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(content)
            return manifest
    except BROKEN as error:
        raise ConfigError(f"{path}: not a bundle that can be read ({error})") from None


def _manifest(path: Path, archive: zipfile.ZipFile) -> Manifest:
    check_known(f"file in {path}, which is no bundle of this suite:", MANIFEST, archive.namelist())
    manifest = parse(Manifest, parse_json(archive.read(MANIFEST), f"{path}: {MANIFEST}"), f"{path}: {MANIFEST}")
    if manifest.version != VERSION:
        raise ConfigError(f"{path}: bundle version {manifest.version}, this suite reads {VERSION}")
    for name in manifest.files:
        place = PurePosixPath(name)
        if place.is_absolute() or ".." in place.parts or "\\" in name:
            raise ConfigError(f"{path}: {ascii(name)} lies outside the bundle")
    return manifest


def commits_of(results: Path) -> list[str]:
    """The commits behind results/runs.json."""
    runs = load(results / "runs.json")
    return sorted(runs["commit"].unique())
