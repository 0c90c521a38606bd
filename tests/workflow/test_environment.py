"""pip and conda get the same packages, each at one version."""

import re
import tomllib
from importlib.metadata import requires
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
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
        if name in found or (one.marker and not one.marker.evaluate({"extra": ""})) or name.startswith(WITH_TORCH):
            continue
        found[name] = one
        lines += requires(name) or []
    return found


def test_conda_and_pip_ask_for_the_same():
    asked = next(entry["pip"] for entry in CONDA["dependencies"] if isinstance(entry, dict))
    assert asked[0] == "-c constraints.txt"
    assert sorted(asked[1:]) == sorted(PROJECT["dependencies"])
    assert f"python{PROJECT['requires-python']}" in CONDA["dependencies"]


def test_everything_that_gets_installed_is_pinned():
    assert set(needed(list(PROJECT["dependencies"]))) <= set(PINS)


def test_every_pin_is_one_that_the_project_allows():
    for line in PROJECT["dependencies"]:
        one = Requirement(line)
        assert one.specifier.contains(PINS[canonicalize_name(one.name)]), line


def test_torch_is_asked_for_as_a_range_and_pinned():
    assert "torch>=2.11,<3" in PROJECT["dependencies"] and PINS["torch"] == "2.13.0"


def test_triton_is_pinned_to_what_torchs_build_for_a_gpu_asks_for():
    """torch on PyPI names one version of triton on Linux; any other here and nothing could be installed."""
    asked = {"2.13.0": "3.7.1"}
    assert PINS["triton"] == asked[PINS["torch"]]
