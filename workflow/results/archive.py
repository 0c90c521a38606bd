"""The archive of a bundle: the records, costs, tables, figures and pages of one scale, with their
checksums.

manifest.json: {"version", "scale", "commits", "files": {path: sha256}}; the rest lies under
results/ and reports/. reports/index.html leads to this scale alone. The same results and pages give
the same bytes. What else lies in it is for other tools (`workflow.report.crate`, `croissant`), and
is never unpacked here.
"""

import hashlib
import re
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from workflow.config.errors import ConfigError, shown
from workflow.config.files import BROKEN, UNPACKED, atomic_write, open_zip, pieces, raise_if_full
from workflow.config.strict import Name, StrictModel, parse, parse_json, read_json
from workflow.results.registry import COSTS, OF_TEXTS

VERSION, READ = 3, (2, 3)  # 2 has the names of `workflow.config.renamed`
MANIFEST = "manifest.json"
SCALE = (
    "*",
    *(f"{folder}/*" for folder in ("questions", "claims", "tables", "figures", *COSTS, *OF_TEXTS)),
)
# those that `share` wrote
RUN = ("job.json", "record.json", "curve.csv", "weights.safetensors", "card.md")
LARGEST = 4 << 30  # bytes that a bundle may unpack to
LARGEST_MANIFEST = 64 << 20
ENDINGS = "html|js|json|yaml|csv|parquet|tex|svg|pdf|png|txt|safetensors|md"
PLACE = re.compile(rf"(results|reports)(/\w[\w .,=+()-]*)+\.({ENDINGS})")  # all it holds


@dataclass(frozen=True)
class Kind:
    """What an archive of one kind may hold.

    name: in messages. place: of each of its files. largest: bytes that it may unpack to. is_closed:
    whether it holds nothing besides the files of its manifest.
    """

    name: str
    place: re.Pattern
    largest: int
    is_closed: bool


BUNDLE = Kind("bundle", PLACE, LARGEST, is_closed=False)


class Manifest(StrictModel):
    version: int
    scale: Name
    commits: list[str]
    files: dict[str, str]


def list_files(results: Path, reports: Path, scale: str) -> dict[str, Path]:
    """Find one scale's results, runs and pages for the archive: path in it -> file or link to one,
    sorted by path.
    """
    files = [path for pattern in SCALE for path in (results / scale).glob(pattern)]
    digests = {row["digest"] for row in read_json(results / scale / "plan.json")}
    files += [results / "runs" / digest / name for digest in digests for name in RUN]
    paths = {f"results/{path.relative_to(results).as_posix()}": path for path in files}
    paths |= {
        f"reports/{path.relative_to(reports).as_posix()}": path
        for path in (reports / scale).rglob("*")
    }
    return {
        name: path
        for name, path in sorted(paths.items())
        if PLACE.fullmatch(name) and path.is_file()
    }


def write_archive(
    out: Path,
    files: dict[str, Path],
    written: dict[str, bytes],
    scale: str,
    commits: Iterable[str],
    beside: dict[str, bytes],
) -> Manifest:
    """Write the whole archive or nothing.

    files: from `list_files`. written: by name, what is in no file of its own: shipped records, and
    the page that leads to this scale alone. commits: of the records. beside: what is for other
    tools, and no part of the bundle.
    """
    sums = {name: _sha256(path.read_bytes()) for name, path in files.items()}
    sums |= {name: _sha256(content) for name, content in written.items()}
    commits = sorted(set(commits))
    manifest = Manifest(version=VERSION, scale=scale, commits=commits, files=sums)
    with atomic_write(out) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, MANIFEST, manifest.model_dump_json(indent=1).encode())
        for name, path in files.items():
            _add(archive, name, path.read_bytes())
        for name, content in (written | beside).items():
            _add(archive, name, content)
    return manifest


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Add a file with a constant date."""
    archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


def unpack(path: Path, folder: Path, kind: Kind = BUNDLE) -> Manifest:
    """Unpack into `folder`; `ConfigError` unless every file is there, is what the manifest says,
    and stays inside.
    """
    try:
        with open_zip(path, kind.largest) as archive:
            manifest = _manifest(path, archive, kind)
            for name, expected in manifest.files.items():
                digest = hashlib.sha256()
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                with open(folder / name, "xb") as file:
                    for piece in pieces(archive, name):
                        digest.update(piece)
                        file.write(piece)
                if digest.hexdigest() != expected:
                    raise ConfigError(
                        f"{path}: {name} does not match its checksum in the manifest; "
                        f"the {kind.name} is damaged"
                    )
            return manifest
    except BROKEN as error:
        raise_if_full(error, folder)
        raise ConfigError(f"{path}: not a {kind.name} that can be read ({error})") from None


@contextmanager
def opened(path: Path, kind: Kind = BUNDLE) -> Iterator[Path]:
    """Yield the folder of a scale's results, which runs lie beside: the path, or where its archive
    is unpacked.
    """
    if path.is_dir():
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        manifest = unpack(path, Path(folder), kind)
        UNPACKED[Path(folder)] = path
        try:
            yield Path(folder, "results", manifest.scale)
        finally:
            del UNPACKED[Path(folder)]


def _manifest(path: Path, archive: zipfile.ZipFile, kind: Kind) -> Manifest:
    names = archive.namelist()
    if MANIFEST not in names:
        raise ConfigError(f"{path}: not a {kind.name} of this suite; it has no {MANIFEST}")
    if archive.getinfo(MANIFEST).file_size > LARGEST_MANIFEST:
        raise ConfigError(f"{path}: {MANIFEST} of more than {LARGEST_MANIFEST:,} bytes")
    text = b"".join(pieces(archive, MANIFEST))
    manifest = parse(Manifest, parse_json(text, f"{path}: {MANIFEST}"), f"{path}: {MANIFEST}")
    if manifest.version not in READ:
        raise ConfigError(
            f"{path}: {kind.name} version {manifest.version}; valid: {' and '.join(map(str, READ))}"
        )
    for name in manifest.files:
        if not kind.place.fullmatch(name):
            raise ConfigError(
                f"{path}: {shown(name)} is outside a {kind.name}'s results/ and reports/"
            )
    if len(set(names)) < len(names):
        raise ConfigError(f"{path}: {max(names, key=names.count)} is in it twice")
    others = set(names) - {MANIFEST, *manifest.files}
    if kind.is_closed and others:
        raise ConfigError(f"{path}: {shown(min(others))} is in it, but not in its {MANIFEST}")
    return manifest
