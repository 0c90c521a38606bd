"""pip and conda get the same packages, each at one version."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text())
PINS = dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
PINS = {canonicalize_name(name): version for name, version in PINS.items()}
WITH_TORCH = ("nvidia-", "cuda-", "triton")  # torch's build for a GPU pins these itself


def needed(lines: list[str]) -> dict[str, Requirement]:
    """What must be installed for `lines`: the requirements, theirs, and so on, on this machine."""
    found: dict[str, Requirement] = {}
    while lines:
        one = Requirement(lines.pop())
        name = canonicalize_name(one.name)
        if (
            name in found
            or (one.marker and not one.marker.evaluate({"extra": ""}))
            or name.startswith(WITH_TORCH)
        ):
            continue
        found[name] = one
        lines += requires(name) or []
    return found


def test_conda_and_pip_ask_for_the_same_and_condas_file_can_be_copied_to_where_no_other_one_lies():
    """Snakemake copies it to .snakemake/conda; `Requirement` takes neither an option of pip's nor a
    path.
    """
    lines = next(entry["pip"] for entry in CONDA["dependencies"] if isinstance(entry, dict))
    asked = {canonicalize_name(one.name): one for one in map(Requirement, lines)}
    assert {name: str(one.specifier) for name, one in asked.items()} == {
        name: f"=={PINS[name]}" for name in asked
    }
    direct = {canonicalize_name(one.name): one for one in map(Requirement, PROJECT["dependencies"])}
    assert {name: str(one.marker) for name, one in direct.items()} == {
        name: str(asked[name].marker) for name in direct
    }
    assert {*needed(list(PROJECT["dependencies"])), *direct} <= set(asked)
    assert f"python{PROJECT['requires-python']}" in CONDA["dependencies"][0]


@pytest.mark.parametrize("extra", [None, *EXTRAS])
def test_everything_that_gets_installed_is_pinned(extra):
    asked = PROJECT["dependencies"] if extra is None else EXTRAS[extra]
    try:
        assert set(needed(list(asked))) <= set(PINS)
    except PackageNotFoundError as error:
        pytest.skip(f"{error.name} of the extra {extra} is not installed")


def test_every_pin_is_one_that_the_project_allows():
    for line in [*PROJECT["dependencies"], *(line for lines in EXTRAS.values() for line in lines)]:
        one = Requirement(line)
        assert one.specifier.contains(PINS[canonicalize_name(one.name)]), line


def test_every_locked_version_is_the_pinned_one_with_hashes_and_torch_has_none():
    lock = (ROOT / "lock.txt").read_text()
    locked = re.findall(
        r"^([\w.-]+)==(\S+)(?: ;[^\n]*)? \\\n    --hash=sha256:", lock, re.MULTILINE
    )
    versions = {canonicalize_name(name): version for name, version in locked}
    assert len(versions) == len(re.findall(r"^\w", lock, re.MULTILINE)) and "torch" not in versions
    assert all(PINS[name] == version for name, version in versions.items())
    asked = [Requirement(line).name for line in [*PROJECT["dependencies"], *EXTRAS["test"]]]
    assert set(map(canonicalize_name, asked)) - {"torch"} <= set(versions)


def test_versions_that_are_data_are_pinned_where_the_project_asks_for_them():
    from workflow.tasks.embedded import PIN as TEXTS
    from workflow.tasks.translation.phrases import PINS as PHRASES

    assert {*PHRASES, TEXTS} <= set(PROJECT["dependencies"])
