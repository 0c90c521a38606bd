"""What several test files look at."""

import fcntl
import os
import signal

# before torch is first imported: workers share the cores, and models here are small
os.environ["OMP_NUM_THREADS"] = "1"

import pytest
import torch

# tests send it; a shell's background jobs are begun without
signal.signal(signal.SIGINT, signal.default_int_handler)

if not torch.cuda.is_available():
    # before triton is first imported: its kernels then run here, tile by tile
    os.environ["TRITON_INTERPRET"] = "1"


def is_fast(item) -> bool:
    return item.get_closest_marker("slow") is None


def is_small(item) -> bool:
    return item.path.parent.name != "workflow"


def pytest_collection_modifyitems(items):
    """Mark what looks at a whole scale as slow, and start with what takes long.

    So no worker ends alone.
    """
    for item in items:
        if "suite" in item.fixturenames:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: (is_fast(item), is_small(item)))


@pytest.fixture(scope="session")
def suite(tmp_path_factory):
    """Make results and reports of a scale with failed runs, once for all workers."""
    from tests import _site  # heavy, and not all tests need it

    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    folder = folder / "suite"
    folder.mkdir(exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "reports" / "index.html").exists():
            _site.write_results(folder, _site.rows_of(broken=True))
            _site.write_pages(folder)
    return folder


@pytest.fixture(scope="session")
def reports(suite):
    return suite / "reports"


@pytest.fixture(scope="session")
def site(reports):
    from tests._site import SCALE

    return reports / SCALE
