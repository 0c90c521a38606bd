"""pip and conda get the same packages, each at one version: as `make lock` writes the files."""

import re
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests._copied import ROOT
from workflow.tasks.embedded import PIN
from workflow.tasks.translation.phrases import PINS as PHRASES

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
PIN_LINES = re.compile(r"^([\w.-]+)==(\S+)$", re.MULTILINE)
# the name, the version, a marker and the first hash
LOCKED = re.compile(r"^([\w.-]+)==(\S+)(?: ;[^\n]*)? \\\n    --hash=sha256:", re.MULTILINE)


def versions(pattern: re.Pattern, place: str) -> dict[str, str]:
    """Return package -> version of the lines of a file at the root."""
    text = (ROOT / place).read_text()
    found = {}
    for package, version in pattern.findall(text):
        name = canonicalize_name(package)
        found[name] = version
    return found


def by_name(lines: list[str]) -> dict[str, Requirement]:
    found = {}
    for line in lines:
        requirement = Requirement(line)
        name = canonicalize_name(requirement.name)
        found[name] = requirement
    return found


PINS = versions(PIN_LINES, "constraints.txt")
DEPENDENCIES = PROJECT["dependencies"]
DIRECT = by_name(DEPENDENCIES)


@pytest.mark.parametrize("lines", [DEPENDENCIES, *EXTRAS.values()], ids=["direct", *EXTRAS])
def test_everything_is_pinned_within_what_the_project_allows(lines):
    for name, requirement in by_name(lines).items():
        allowed = requirement.specifier
        pin = PINS[name]
        assert allowed.contains(pin), name


def test_versions_that_are_data_are_those_of_the_project():
    needed = {*PHRASES, PIN}
    assert needed.issubset(DEPENDENCIES)


def test_conda_asks_for_the_pins_of_all_dependencies():
    text = (ROOT / "environment.yml").read_text()
    python, *others = yaml.safe_load(text)["dependencies"]
    assert f"python{PROJECT['requires-python']}" in python
    (of_pip,) = [entry["pip"] for entry in others if isinstance(entry, dict)]
    asked = by_name(of_pip)
    for name, requirement in asked.items():
        pin = f"=={PINS[name]}"
        assert str(requirement.specifier) == pin
    for name, requirement in DIRECT.items():
        marker = asked[name].marker
        assert str(requirement.marker) == str(marker)


def test_every_locked_version_is_the_pinned_one_with_hashes_and_torch_has_none():
    locked = versions(LOCKED, "lock.txt")
    text = (ROOT / "lock.txt").read_text()
    packages = re.findall(r"^\w", text, re.MULTILINE)
    assert len(locked) == len(packages)
    assert locked.items() <= PINS.items()
    wanted = DIRECT | by_name(EXTRAS["test"])
    missing = wanted.keys() - locked.keys()
    assert missing == {"torch"}
