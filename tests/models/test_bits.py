"""The same bits on every processor: of the compiled code alone, and of short runs of every task
(decision 23).
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from models.kernels.compiled import build

C, PROGRAM = Path(build.__file__).parent, Path(__file__).with_name("bits.c")
FLAGS = [flag for flag in build.FLAGS if flag not in ("-shared", "-fPIC", "-march=native")]
WIDEST, AVX2, CLANG = "gcc -march=native", "gcc -march=native -mno-avx512f", "clang -march=native"
ARM = "aarch64-linux-gnu-gcc -static"
THROUGH = {ARM: ("qemu-aarch64",)}  # what the program is run by


def output_of(command: list[str], **variables: str) -> str:
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout


def skip_without(*commands: str) -> None:
    if absent := [word for word in commands if not shutil.which(word)]:
        pytest.skip(f"no {' and no '.join(absent)} here")


def openmp(compiler: str) -> list[str]:
    """Return the flag with which this compiler computes by several threads, where it can."""
    words = [*shlex.split(compiler), "-fopenmp", "-x", "c", "-", "-o", os.devnull]
    fails = subprocess.run(
        words, input="int main(void) { return 0; }", text=True, capture_output=True
    ).returncode
    return [] if fails else ["-fopenmp"]


def digests(compiler: str, real: str, folder: Path, threads: int = 1) -> list[str]:
    """Compile and run bits.c: a line for each pattern of attention and each layer."""
    skip_without(shlex.split(compiler)[0], *THROUGH.get(compiler, ()))
    flags = [
        *FLAGS,
        *openmp(compiler),
        f"-DREAL={real}",
        f"-DREAL_IS_DOUBLE={int(real == 'double')}",
        f"-I{C}",
    ]
    program = str(folder / "bits")
    output_of([*shlex.split(compiler), *flags, str(PROGRAM), "-lm", "-o", program])
    return output_of([*THROUGH.get(compiler, ()), program, str(threads)]).splitlines()


@pytest.fixture(scope="module", params=["float", "double"])
def real(request, tmp_path_factory) -> tuple[str, list[str]]:
    """A type of number, and what gcc makes of it for the vectors of this machine."""
    return request.param, digests(WIDEST, request.param, tmp_path_factory.mktemp("bits"))


@pytest.mark.parametrize("compiler, threads", [(WIDEST, 2), (AVX2, 1), (CLANG, 2), (ARM, 1)])
def test_every_build_gives_the_same_bits(compiler, threads, real, tmp_path):
    name, expected = real
    assert digests(compiler, name, tmp_path, threads) == expected


def short_runs(compiler: str, threads: int, *words: str) -> dict[str, str]:
    command = [sys.executable, "-m", "tests.models._short_runs", str(threads), *words]
    return json.loads(output_of(command, CC=compiler).splitlines()[-1])


@cache
def expected_runs() -> dict[str, str]:
    return short_runs("gcc", 1)


@pytest.mark.parametrize(
    "compiler, threads, middle", [("gcc -mno-avx512f", 1, ()), ("clang", 2, ()), ("gcc", 2, "3")]
)
def test_short_runs_of_every_task_give_the_same_bits(compiler, threads, middle):
    """By another build, by two threads, and broken off after three steps and taken up again."""
    skip_without("gcc", shlex.split(compiler)[0])
    assert expected_runs()["library"] is None
    assert short_runs(compiler, threads, *middle) == expected_runs()
