"""What is set before a process starts, chosen once and told in every record.

The allocator keeps what it once had and asks for large pages: a fresh page costs ten times a used
one (docs/log.md).
"""

import os
import sys
from pathlib import Path

DEVICES = ("auto", "cpu", "cuda")
ALLOCATOR = "GLIBC_TUNABLES"
CONFIG = "ATTENTION_CONFIG"
# What a program says, and how it writes a number, is the same whatever the language of the machine:
# some write a comma for the point. gettext reads LANGUAGE before LC_ALL.
LOCALE = {"LC_ALL": "C.UTF-8", "LANGUAGE": ""}
PLAIN = {"PYTHONSAFEPATH": "1"} | dict.fromkeys(
    ("PYTHONOPTIMIZE", "PYTHONWARNINGS", "MPLBACKEND"), ""
)
KEEPS_PAGES = (
    "hugetlb=1",
    f"mmap_threshold={32 << 20}",
    f"trim_threshold={16 << 30}",
    f"top_pad={64 << 20}",
)


def variables(
    suite: os.PathLike, config: str, data_dir: str | None, deployed: bool
) -> dict[str, str]:
    """Return variables for what a rule starts: config and data_dir, and where Python and the
    suite's modules are.

    config: what decides which runs there are, as JSON. deployed: whether conda or a container
    brings rules a Python of their own; else it is the one that Snakemake runs on. A folder there
    that is called like a library is none, and a warning is no error. What the user has set in
    PYTHONPATH and in the allocator's variable is kept.
    """
    found = {CONFIG: config, "PYTHONPATH": _with_first(suite, "PYTHONPATH"), **PLAIN, **LOCALE}
    found[ALLOCATOR] = os.environ.get(
        ALLOCATOR, ":".join(f"glibc.malloc.{each}" for each in KEEPS_PAGES)
    )
    if data_dir:
        found["ATTENTION_DATA_DIR"] = data_dir
    if not deployed:
        own = Path(sys.executable).parent
        found["PATH"] = _with_first(own, "PATH")
    return found


def _with_first(folder: os.PathLike, variable: str) -> str:
    """Put a folder before all others that a variable lists."""
    listed = os.environ.get(variable, "").split(os.pathsep)
    others = filter(None, listed)
    return os.pathsep.join(dict.fromkeys([str(folder), *others]))
