"""What is set before a process starts, chosen once and told in every record.

The allocator keeps what it once had and asks for large pages: a fresh page costs ten times a used one (docs/log.md).
"""

import os

DEVICES = ("auto", "cpu", "cuda")
ALLOCATOR = "GLIBC_TUNABLES"
CONFIG = "ATTENTION_CONFIG"
KEEPS_PAGES = {"hugetlb": 1, "mmap_threshold": 32 << 20, "trim_threshold": 16 << 30, "top_pad": 64 << 20}


def environment() -> dict[str, str]:
    """Return variables for processes that compute; what the user has set stands."""
    tunables = ":".join(f"glibc.malloc.{name}={value}" for name, value in KEEPS_PAGES.items())
    return {ALLOCATOR: os.environ.get(ALLOCATOR, tunables)}


def allocator() -> str:
    """Say how this process was started, for its record."""
    return os.environ.get(ALLOCATOR, "as the system has it")


def variables(suite: os.PathLike, config: str, data_dir: str | None) -> dict[str, str]:
    """Return variables for what a rule starts: config and data_dir, and where the suite's modules are.

    config: what decides which runs there are, as JSON. What the user has set in PYTHONPATH and in the allocator's
    variable stands.
    """
    paths = [str(suite), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    path = os.pathsep.join(dict.fromkeys(paths))
    data = {"ATTENTION_DATA_DIR": data_dir} if data_dir else {}
    return {"PYTHONPATH": path, CONFIG: config, **data, **environment()}
