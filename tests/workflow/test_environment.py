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
PINNED = re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
PINS = {canonicalize_name(name): version for name, version in PINNED}


def by_name(lines: list[str]) -> dict[str, Requirement]:
    found = [Requirement(line) for line in lines]
    return {canonicalize_name(each.name): each for each in found}


DIRECT = by_name(PROJECT["dependencies"])


@pytest.mark.parametrize("extra", [None, *EXTRAS])
def test_everything_is_pinned_within_what_the_project_allows(extra):
    for name, one in by_name(EXTRAS[extra] if extra else PROJECT["dependencies"]).items():
        assert one.specifier.contains(PINS[name]), name
    # versions that are data
    assert {*PHRASES, PIN} <= set(PROJECT["dependencies"])


def test_conda_asks_for_the_pins_of_all_dependencies():
    conda = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    asked = by_name(next(entry["pip"] for entry in conda if isinstance(entry, dict)))
    for name, one in asked.items():
        assert str(one.specifier) == f"=={PINS[name]}"
    for name, one in DIRECT.items():
        assert str(one.marker) == str(asked[name].marker)
    assert f"python{PROJECT['requires-python']}" in conda[0]


def test_every_locked_version_is_the_pinned_one_with_hashes_and_torch_has_none():
    lock = (ROOT / "lock.txt").read_text()
    line = re.compile(r"^([\w.-]+)==(\S+)(?: ;[^\n]*)? \\\n    --hash=sha256:", re.MULTILINE)
    versions = {canonicalize_name(name): version for name, version in line.findall(lock)}
    assert len(versions) == len(re.findall(r"^\w", lock, re.MULTILINE))
    assert versions.items() <= PINS.items()
    assert {*DIRECT, *by_name(EXTRAS["test"])} - {*versions} == {"torch"}
