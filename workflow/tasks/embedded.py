"""Files that every installation holds: the sources of sympy, which torch depends on, pinned to one
version.

The wheel and the source archive hold the same bytes, so pip and conda install the same text; the
checksums of what is made of it are in config/tasks/. Bytes are taken as they are: 23 of them, in
UTF-8 letters such as alpha, are not ASCII.
"""

from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from workflow.config.errors import ConfigError
from workflow.config.files import is_left_behind
from workflow.tasks.sources import Source, verify_checksum

PIN = "sympy==1.14.0"
PACKAGES = "assumptions calculus concrete core functions logic matrices series sets simplify"


def read_source_files() -> list[bytes]:
    """Read the Python files of ten packages of sympy, without tests, in the order of their paths;
    import none.
    """
    spec = find_spec("sympy")
    if spec is None or spec.origin is None:
        raise ConfigError(f"the embedded corpus is built from {PIN}, which is not installed")
    root = Path(spec.origin).parent
    names = []
    for package in PACKAGES.split():
        for path in (root / package).rglob("*.py"):
            names.append(path.relative_to(root).as_posix())
    contents = []
    for name in sorted(names):
        folders = set(name.split("/"))
        is_library = folders.isdisjoint(("tests", "benchmarks"))
        if is_library and not is_left_behind(name):
            contents.append((root / name).read_bytes())
    return contents


def verify_embedded(content: bytes, source: Source, what: str, *pins: str) -> None:
    """Raise `ConfigError` with the pins of what a text is made from where what is installed makes
    another.
    """
    installed = []
    for pin in pins:
        name, _, _ = pin.partition("==")
        installed.append(f"{name}=={version(name)}")
    here = " and ".join(installed)
    built = f"it is built from {' and '.join(pins)}, but {here} is installed"
    hint = f"{built}; install the pinned versions"
    verify_checksum(content, source, what, hint)
