"""Text that every installation holds: the sources of sympy, which torch brings in, pinned to one version.

They are the same bytes everywhere, so a checksum identifies them and no network is needed.
"""

import re
from importlib.util import find_spec
from pathlib import Path

from workflow.choices import Refused

PIN = "sympy==1.14.0"
PACKAGES = (
    "assumptions",
    "calculus",
    "concrete",
    "core",
    "functions",
    "logic",
    "matrices",
    "series",
    "sets",
    "simplify",
)
DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def sources() -> bytes:
    """Python files of ten packages of sympy, tests left out, in the order of their paths."""
    spec = find_spec("sympy")
    if spec is None or spec.origin is None:
        raise Refused(f"corpus 'sources' is read from {PIN}, which is not installed")
    root = Path(spec.origin).parent
    files = sorted(
        (path for package in PACKAGES for path in (root / package).rglob("*.py")), key=lambda path: path.as_posix()
    )
    kept = [path for path in files if not {"tests", "benchmarks"} & set(path.relative_to(root).parts)]
    return b"".join(path.read_bytes() for path in kept)


def words() -> bytes:
    """The same sources in 27 characters."""
    return twenty_seven(sources().decode("utf-8")).encode()


def twenty_seven(text: str) -> str:
    """a to z and single spaces, digits spelled out, as text8 is made from enwik8 (M. Mahoney's rules)."""
    text = re.sub(r"[0-9]", lambda digit: f" {DIGITS[int(digit[0])]} ", text.lower())
    return re.sub(r"[^a-z]+", " ", text).strip()


EMBEDDED = {"sources": sources, "words": words}
