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
    """Copy what a workflow needs, and `more`, into `folder`."""
    for name in (*PARTS, *more):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name)  # compiled files too: they need not be made again
        else:
            shutil.copy2(ROOT / name, folder / name)
    return folder


def with_examples(folder: Path, part: str) -> Path:
    """Write into a copy the files of studies/ or models/ that README and docs tell a reader to write."""
    texts = [(ROOT / name).read_text() for name in ("README.md", "docs/variant.md", "docs/claim.md")]
    shown = [each for text in texts for each in re.findall(r"Write `([^`]+)`:\n\n```\w+\n(.*?)```", text, re.DOTALL)]
    places = {place: content for place, content in shown if place.startswith(f"{part}/")}
    assert places
    for place, content in places.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(content)
    return folder


def ended(folder: Path, *words: str, **options) -> subprocess.CompletedProcess:
    """Run `python -m words` to its end."""
    return subprocess.run([sys.executable, "-m", *words], cwd=folder, capture_output=True, text=True, **options)


def snakemake(folder: Path, *words: str) -> subprocess.CompletedProcess:
    """Snakemake with this Python's programs first, in a folder of its own, on two cores."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return ended(folder, "snakemake", "--cores", "2", *words, env={**os.environ, "PATH": path})
