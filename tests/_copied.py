"""A copy of the project to add to, and commands run in it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
FILES = ("Snakefile", "environment.yml", "pyproject.toml")
PARTS = (*FILES, "benchmarks", "config", "models", "profiles", "studies", "workflow")


def copied(folder: Path, *more: str) -> Path:
    """Copy what a workflow needs, compiled files included, and `more`, into `folder`."""
    for name in (*PARTS, *more):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, folder / name)
    return folder


def shown(*pages: str) -> dict[str, str]:
    """Return the files that pages tell a reader to write: {place: content}."""
    text = "\n".join((ROOT / page).read_text() for page in pages)
    return dict(re.findall(r"Write `([^`]+)`[^`\n]*:\n\n```\w+\n(.*?)```", text, re.DOTALL))


def written(folder: Path, files: dict[str, str], part: str = "") -> Path:
    """Write those of the files that are in `part` into `folder`."""
    chosen = {place: content for place, content in files.items() if place.startswith(part)}
    assert chosen, f"no file to write in {part}"
    for place, content in chosen.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(content)
    return folder


def ended(folder: Path, *words: str, **options) -> subprocess.CompletedProcess:
    """Run `python -m words` to its end."""
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, **options)


def snakemake(folder: Path, *words: str) -> subprocess.CompletedProcess:
    """Run Snakemake in a folder on two cores, with this Python's programs first."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return ended(folder, "snakemake", "--cores", "2", *words, env={**os.environ, "PATH": path})
