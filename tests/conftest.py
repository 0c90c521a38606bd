"""What several test files look at."""

import os

import pytest
import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is first imported: its kernels then run here, tile by tile

from tests import _site


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of all pages, made from runs of which some failed."""
    folder = tmp_path_factory.mktemp("site")
    _site.results(folder / "results", broken=True)
    _site.pages(folder / "results", folder / "reports")
    return folder / "reports"
