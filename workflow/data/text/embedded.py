"""Text that every installation holds: the sources of sympy, which torch brings in, pinned to one version.

The wheel and the source archive hold the same bytes, so pip and conda install the same text; its checksum is in
config/tasks/char_lm.yaml. Bytes are taken as they are: 23 of them, in UTF-8 letters such as alpha, are not ASCII.
"""

import re
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from workflow.config.errors import ConfigError, check_known
from workflow.data.sources.source import verify
from workflow.data.text.catalogue import Entry

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
DIGITS = (b"zero", b"one", b"two", b"three", b"four", b"five", b"six", b"seven", b"eight", b"nine")


def load(name: str, entry: Entry) -> bytes:
    """The text of that name, or one line with the pin where what is installed gives another."""
    check_known("embedded data set", name, EMBEDDED)
    content = EMBEDDED[name]()
    verify(content, entry, f"corpus '{name}'", f"it is read from {PIN}, here is {installed()}: install the pinned one")
    return content


def sources() -> bytes:
    """Python files of ten packages of sympy, one behind the other."""
    return b"".join(files())


def files() -> list[bytes]:
    """Those files, tests left out, in the order of their paths. sympy is not imported."""
    spec = find_spec("sympy")
    if spec is None or spec.origin is None:
        raise ConfigError(f"the embedded text is read from {PIN}, which is not installed")
    root = Path(spec.origin).parent
    paths = sorted(path.relative_to(root).as_posix() for name in PACKAGES for path in (root / name).rglob("*.py"))
    kept = [path for path in paths if not {"tests", "benchmarks"} & set(path.split("/"))]
    return [(root / path).read_bytes() for path in kept]


def words() -> bytes:
    """The same sources in 27 characters."""
    return twenty_seven(sources())


def twenty_seven(text: bytes) -> bytes:
    """a to z and single spaces, as text8 is made from enwik8 (M. Mahoney, wikifil.pl, its last lines).

    ASCII capitals become small, each digit its name between spaces, every run of anything else one space.
    """
    text = text.lower()
    for digit, name in enumerate(DIGITS):
        text = text.replace(b"%d" % digit, b" " + name + b" ")
    return re.sub(rb"[^a-z]+", b" ", text).strip()


def installed() -> str:
    try:
        return f"sympy=={version('sympy')}"
    except PackageNotFoundError:
        return "one without a version"


EMBEDDED = {"sources": sources, "words": words}
