"""A copy of the project to add to, and commands run in it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
FILES = ("Snakefile", "environment.yml", "pyproject.toml")
PARTS = (
    *FILES,
    "benchmarks",
    "config",
    "models",
    "profiles",
    "studies",
    "workflow",
)
# a page's "Write `place`", and the block that follows
TOLD = re.compile(r"Write `([^`]+)`[^`\n]*:\n\n```\w+\n(.*?)```", re.DOTALL)


def copied(folder: Path, *more: str) -> Path:
    """Copy what a workflow needs, compiled files included, and `more`, into `folder`."""
    for name in (*PARTS, *more):
        original = ROOT / name
        copy = shutil.copytree if original.is_dir() else shutil.copy2
        copy(original, folder / name)
    return folder


def shown(*pages: str) -> dict[str, str]:
    """Return the files that pages tell a reader to write: {place: content}."""
    files = {}
    for page in pages:
        text = (ROOT / page).read_text()
        files.update(TOLD.findall(text))
    return files


def written(folder: Path, files: dict[str, str], part: str = "") -> Path:
    """Write those of the files that are in `part` into `folder`."""
    chosen = [place for place in files if place.startswith(part)]
    assert chosen, f"no file to write in {part}"
    for place in chosen:
        file = folder / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(files[place])
    return folder


def ended(folder: Path, *words: str, **options) -> subprocess.CompletedProcess:
    """Run `python -m words` to its end."""
    command = [sys.executable, "-m", *words]
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        **options,
    )


def snakemake(folder: Path, *words: str) -> subprocess.CompletedProcess:
    """Run Snakemake in a folder on two cores, with this Python's programs first."""
    programs = Path(sys.executable).parent
    path = os.environ["PATH"]
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{path}"}
    return ended(folder, "snakemake", "--cores", "2", *words, env=environment)
