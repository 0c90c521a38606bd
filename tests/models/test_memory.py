"""No code leaves its memory: views and misfits in a process, and the contract under sanitizers.

With AddressSanitizer a read or write beyond a tensor ends the process, with its place in the C; so
does undefined behaviour.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests._copied import ROOT

VIEWS = "tests/models/_views.py"
CONTRACT = ("tests/models/test_compiled.py", "tests/models/test_contract.py")
BEYOND = """
import torch
from models.kernels.compiled import build
from models.kernels.compiled.dense import DenseStruct, I
x, c = torch.ones(4), torch.ones(4)
print(build.compiler_version(), flush=True)
a = x.data_ptr()
call = DenseStruct(m=1, n=5, k=1, a=a, b=a, b_row=1, b_col=1, c=c.data_ptr(), c_row=5)
build.library(torch.float32).multiply((DenseStruct * 1)(call), I(1), I(1))
"""  # five numbers into the memory of four


def run(*command: str, **variables: str) -> subprocess.CompletedProcess:
    environment = os.environ | variables
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def assert_pass(*files: str, **variables: str) -> str:
    """Run the fast tests of these files in a process; return what they print."""
    plugins = ["-p", "no:cacheprovider", "-p", "no:xdist"]
    options = ["-q", "-x", "-s", "-rs", "-m", "not slow", *plugins]
    done = run(sys.executable, "-m", "pytest", *options, *files, **variables)
    assert not done.returncode, (done.stdout + done.stderr)[-6000:]
    return done.stdout


@pytest.fixture(scope="module")
def sanitized() -> dict[str, str]:
    """Return the variables with which a process compiles the library with sanitizers."""
    if not shutil.which("gcc"):
        pytest.skip("no gcc, whose sanitizers these tests use")
    # the second, for errors thrown in C++ pass through the first
    libraries = ("libasan.so", "libstdc++.so.6")
    found = [run("gcc", f"-print-file-name={name}").stdout.strip() for name in libraries]
    if not all(Path(path).is_absolute() for path in found):
        pytest.skip("this gcc has no AddressSanitizer (libasan.so)")
    return {
        "CC": "gcc -fsanitize=address,undefined -fno-sanitize-recover=undefined -g1",
        "LD_PRELOAD": " ".join(found),  # before all other libraries: it watches the memory of torch
        "ASAN_OPTIONS": "detect_leaks=0",  # Python keeps what it has until it ends
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


def test_views_and_misfits():
    assert_pass(VIEWS)


@pytest.mark.slow
def test_the_sanitizers_see_a_number_beyond_a_tensor(sanitized):
    done = run(sys.executable, "-c", BEYOND, **sanitized)
    assert done.returncode
    assert "heap-buffer-overflow" in done.stderr, done.stderr[-3000:]
    assert "dense.c" in done.stderr


@pytest.mark.slow
def test_views_and_contract_under_sanitizers(sanitized):
    assert "no C compiler" not in assert_pass(VIEWS, *CONTRACT, **sanitized)
