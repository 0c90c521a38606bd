"""What several test files look at."""

import pytest

from tests import _site


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of all pages, made from runs of which some failed."""
    folder = tmp_path_factory.mktemp("site")
    _site.results(folder / "results", broken=True)
    _site.pages(folder / "results", folder / "reports")
    return folder / "reports"
