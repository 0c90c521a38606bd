"""pip and conda get the same packages, each at one version."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent


def name(requirement: str) -> str:
    return re.split(r"[<>=!~ \[]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def project() -> list[str]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]


def pins() -> dict[str, str]:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line and not line.startswith("#")]
    return {name(line): line.split("==")[1] for line in lines}


def test_conda_and_pip_ask_for_the_same():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    asked = next(entry["pip"] for entry in environment if isinstance(entry, dict))
    assert asked[0] == "-c constraints.txt"
    assert sorted(asked[1:]) == sorted(project())


def test_every_dependency_is_pinned():
    assert {name(requirement) for requirement in project()} <= set(pins())


def test_torch_is_asked_for_as_a_range_and_pinned():
    assert "torch>=2.11,<3" in project() and pins()["torch"] == "2.13.0"
