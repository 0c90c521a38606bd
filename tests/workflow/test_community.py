"""The citation says what the project says."""

import tomllib

import yaml

from tests._copied import ROOT
from workflow.claims.published import studies


def test_the_citation_names_the_version_and_the_three_studies():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (cited["version"], cited["license"]) == (project["version"], project["license"])
    titles = {reference["title"].partition(":")[0] for reference in cited["references"]}
    assert titles == {study.title for study in studies().values() if study.authors}
