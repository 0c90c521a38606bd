"""pip and conda get the same packages, each at one version."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests._copied import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text())
PINNED = re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
PINS = {canonicalize_name(name): version for name, version in PINNED}
WITH_TORCH = ("nvidia-", "cuda-", "triton")  # torch's build for a GPU pins these itself


def by_name(lines: list[str]) -> dict[str, Requirement]:
    found = [Requirement(line) for line in lines]
    return {canonicalize_name(each.name): each for each in found}


def needed(lines: list[str]) -> set[str]:
    """Name what must be installed for `lines`: the requirements, theirs, and so on."""
    waiting = list(lines)
    found = set()
    while waiting:
        one = Requirement(waiting.pop())
        name = canonicalize_name(one.name)
        elsewhere = one.marker and not one.marker.evaluate({"extra": ""})
        if name in found or elsewhere or name.startswith(WITH_TORCH):
            continue
        found.add(name)
        waiting += requires(name) or []
    return found


def test_conda_and_pip_ask_for_the_same():
    lines = next(entry["pip"] for entry in CONDA["dependencies"] if isinstance(entry, dict))
    asked = by_name(lines)
    direct = by_name(PROJECT["dependencies"])
    for name, one in asked.items():
        assert str(one.specifier) == f"=={PINS[name]}"
    for name, one in direct.items():
        assert str(one.marker) == str(asked[name].marker)
    assert needed(PROJECT["dependencies"]) <= set(asked)
    assert f"python{PROJECT['requires-python']}" in CONDA["dependencies"][0]


@pytest.mark.parametrize("extra", [None, *EXTRAS])
def test_everything_that_gets_installed_is_pinned_within_what_the_project_allows(extra):
    asked = EXTRAS[extra] if extra else PROJECT["dependencies"]
    for name, one in by_name(asked).items():
        assert one.specifier.contains(PINS[name]), name
    try:
        assert needed(asked) <= set(PINS)
    except PackageNotFoundError as error:
        pytest.skip(f"{error.name} of the extra {extra} is not installed")


def test_every_locked_version_is_the_pinned_one_with_hashes_and_torch_has_none():
    lock = (ROOT / "lock.txt").read_text()
    line = re.compile(r"^([\w.-]+)==(\S+)(?: ;[^\n]*)? \\\n    --hash=sha256:", re.MULTILINE)
    versions = {canonicalize_name(name): version for name, version in line.findall(lock)}
    assert len(versions) == len(re.findall(r"^\w", lock, re.MULTILINE))
    assert versions.items() <= PINS.items()
    assert "torch" not in versions
    asked = {*by_name(PROJECT["dependencies"]), *by_name(EXTRAS["test"])}
    assert asked - {"torch"} <= set(versions)
