"""The same bits on every processor: of the compiled code, and of short runs of every task."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from models.kernels.compiled import build

C = Path(build.__file__).parent
PROGRAM = Path(__file__).with_name("bits.c")
OF_LIBRARIES = ("-shared", "-fPIC", "-march=native")
FLAGS = [flag for flag in build.FLAGS if flag not in OF_LIBRARIES]
WIDEST = "gcc -march=native"
AVX2 = "gcc -march=native -mno-avx512f"
CLANG = "clang -march=native"
ARM = "aarch64-linux-gnu-gcc -static"
THROUGH = {ARM: ["qemu-aarch64"]}  # what the program is run by


def output_of(command: list[str], **variables: str) -> str:
    done = subprocess.run(
        command,
        env=os.environ | variables,
        capture_output=True,
        text=True,
    )
    assert not done.returncode, done.stderr
    return done.stdout


def skip_without(*commands: str) -> None:
    for command in commands:
        if not shutil.which(command):
            pytest.skip(f"no {command} here")


def openmp(compiler: str) -> list[str]:
    """Return the flag with which this compiler computes by several threads, where it can."""
    command = [*shlex.split(compiler), "-fopenmp", "-x", "c", "-", "-o", os.devnull]
    program = b"int main(void) { return 0; }"
    done = subprocess.run(command, input=program, stderr=subprocess.DEVNULL)
    if done.returncode:
        return []
    return ["-fopenmp"]


def digests(compiler: str, real: str, folder: Path, threads: int = 1) -> list[str]:
    """Compile and run bits.c: a line for each pattern of attention and each layer."""
    words = shlex.split(compiler)
    through = THROUGH.get(compiler, [])
    skip_without(words[0], *through)
    is_double = int(real == "double")
    program = str(folder / "bits")
    command = [
        *words,
        *FLAGS,
        *openmp(compiler),
        f"-DREAL={real}",
        f"-DREAL_IS_DOUBLE={is_double}",
        f"-I{C}",
        str(PROGRAM),
        "-lm",
        "-o",
        program,
    ]
    output_of(command)
    printed = output_of([*through, program, str(threads)])
    return printed.splitlines()


@pytest.fixture(scope="module", params=["float", "double"])
def real(request, tmp_path_factory) -> tuple[str, list[str]]:
    """A type of number, and what gcc makes of it for the vectors of this machine."""
    name = request.param
    folder = tmp_path_factory.mktemp("bits")
    return name, digests(WIDEST, name, folder)


@pytest.mark.parametrize(
    "compiler, threads",
    [
        (WIDEST, 2),
        (AVX2, 1),
        (CLANG, 2),
        pytest.param(ARM, 1, marks=pytest.mark.slow),
    ],
)
def test_every_build_gives_the_same_bits(compiler, threads, real, tmp_path):
    name, expected = real
    found = digests(compiler, name, tmp_path, threads)
    assert found == expected


def short_runs(compiler: str, threads: int, *words: str) -> dict[str, str]:
    command = [sys.executable, "-m", "tests.models._short_runs", str(threads), *words]
    printed = output_of(command, CC=compiler)
    *_, last = printed.splitlines()
    return json.loads(last)


@pytest.fixture(scope="module")
def expected_runs() -> dict[str, str]:
    skip_without("gcc")
    return short_runs("gcc", 1)


@pytest.mark.parametrize("compiler", ["gcc -mno-avx512f", "clang"])
def test_short_runs_of_every_task_give_the_same_bits(compiler, expected_runs):
    """By another build, by two threads, and broken off after three steps and taken up again."""
    program, *_ = shlex.split(compiler)
    skip_without(program)
    assert expected_runs["library"] is None
    found = short_runs(compiler, 2, "3")
    assert found == expected_runs
