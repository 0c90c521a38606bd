"""Where results are written, looked at before anything starts: Snakemake meets a full disk with a traceback."""

import os
import shutil
from pathlib import Path

from workflow.choices import Refused

FOLDERS = (".", ".snakemake", "results", "reports", "logs")
NEEDED_MB = 100


def refuse_unless_writable(root: Path) -> None:
    """`Refused` where a folder that the workflow writes to cannot be written, or the disk is as good as full."""
    for folder in (root / name for name in FOLDERS):
        if folder.exists() and not os.access(folder, os.W_OK | os.X_OK):
            raise Refused(f"{folder.resolve()}: this folder is not writable")
    free = shutil.disk_usage(root).free >> 20
    if free < NEEDED_MB:
        raise Refused(f"{root.resolve()}: {free} MB are free on this disk, at least {NEEDED_MB} MB are needed")
