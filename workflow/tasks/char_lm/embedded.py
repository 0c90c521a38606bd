"""Texts that every installation holds: the sources of sympy, which torch depends on, pinned to one version.

The wheel and the source archive hold the same bytes, so pip and conda install the same text; its checksum is in
config/tasks/char_lm.yaml. Bytes are taken as they are: 23 of them, in UTF-8 letters such as alpha, are not ASCII.
"""

import re
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from workflow.config.errors import ConfigError, check_known
from workflow.tasks.char_lm.catalogue import TextEntry
from workflow.tasks.sources import verify_checksum

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


def read_embedded(name: str, entry: TextEntry) -> bytes:
    """The text of that name; `ConfigError` with the pin where the installed package gives another text."""
    check_known("embedded data set", name, READERS)
    content = READERS[name]()
    hint = f"it is read from {PIN}, here is {installed_version()}: install the pinned one"
    verify_checksum(content, entry, f"corpus '{name}'", hint)
    return content


def read_sources() -> bytes:
    """The Python files of ten packages of sympy, concatenated."""
    return b"".join(read_source_files())


def read_source_files() -> list[bytes]:
    """Those files, without tests, in the order of their paths. sympy is not imported."""
    spec = find_spec("sympy")
    if spec is None or spec.origin is None:
        raise ConfigError(f"the embedded text is read from {PIN}, which is not installed")
    root = Path(spec.origin).parent
    paths = sorted(path.relative_to(root).as_posix() for name in PACKAGES for path in (root / name).rglob("*.py"))
    return [(root / path).read_bytes() for path in paths if not {"tests", "benchmarks"} & set(path.split("/"))]


def read_words() -> bytes:
    """The same sources in 27 characters."""
    return reduce_to_letters(read_sources())


def reduce_to_letters(text: bytes) -> bytes:
    """a to z and single spaces, by the rules that make text8 of enwik8 (M. Mahoney, wikifil.pl, its last lines).

    ASCII capitals become small letters, each digit its name between spaces, every run of anything else one space.
    """
    text = text.lower()
    for digit, name in enumerate(DIGITS):
        text = text.replace(b"%d" % digit, b" " + name + b" ")
    return re.sub(rb"[^a-z]+", b" ", text).strip()


def installed_version() -> str:
    try:
        return f"sympy=={version('sympy')}"
    except PackageNotFoundError:
        return "one without a version"


READERS = {"sources": read_sources, "words": read_words}
