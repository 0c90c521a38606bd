"""What several test files look at."""

import pytest
import torch

from tests import _site

torch.set_num_threads(1)  # a worker a core; the tensors of the tests are small
TOGETHER = {"test_workflow": "smoke", "test_pages": "site", "test_browser": "site"}


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items):
    """Tests that look at one costly thing go to one worker: the whole line at rung smoke, or the site."""
    for item in items:
        if group := TOGETHER.get(item.module.__name__.split(".")[-1]):
            item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of all pages, made from runs of which some failed."""
    folder = tmp_path_factory.mktemp("site")
    _site.results(folder / "results", broken=True)
    _site.pages(folder / "results", folder / "reports")
    return folder / "reports"
