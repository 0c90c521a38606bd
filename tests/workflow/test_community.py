"""What GitHub and contributors read says what the project says."""

import re
import tomllib

import yaml

from tests._copied import ROOT
from workflow.claims.published import studies

TEXT = (ROOT / "CONTRIBUTING.md").read_text()


def test_the_citation_names_the_version_and_the_three_studies():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (cited["version"], cited["license"]) == (project["version"], project["license"])
    titles = {reference["title"].partition(":")[0] for reference in cited["references"]}
    assert titles == {study.title for study in studies().values() if study.authors}


def test_githubs_workflow_runs_the_script_of_the_projects_ci_and_nothing_else():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())["jobs"]
    assert [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step] == [
        ".ci/run"
    ]


def test_what_contributors_are_sent_to_is_there():
    places = re.findall(
        r"`((?:\.ci|\.github|config|docs|models|tests|workflow)/[\w./-]+?)/?`", TEXT
    )
    assert len(places) > 8
    assert [place for place in places if "NAME" not in place and not (ROOT / place).exists()] == []


def test_commands_for_contributors_are_there():
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"\bmake ([a-z]+)", TEXT)) <= set(targets)
