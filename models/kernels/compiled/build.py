"""Compiles the C of this folder into a cache, once for each processor, compiler and state of the
sources.

Plain C and `ctypes`, not torch's extension loader: that needs ninja, Python's headers and half a
minute, this a second and a C compiler. `CC` names the compiler; `CC=""` goes without. Where no
cache can be kept, each process compiles its own.
"""

import ctypes
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import torch

FOLDER = Path(__file__).parent
SOURCES = ("attention.c", "dense.c", "layers.c")
TYPES = {torch.float32: "float", torch.float64: "double"}
NAMES = {dtype: str(dtype).removeprefix("torch.") for dtype in TYPES}
FLAGS = ("-O3", "-march=native", "-shared", "-fPIC")
# none of them changes a number
FLAGS += ("-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno")
SECONDS = 120  # that a compiler may take
# Torch's own kernels, of which some sum in other vectors where a processor has wider ones
WITHOUT_AVX512 = "avx2"


class CannotCompile(Exception):
    """There is no compiled library on this machine; the text says why."""


_SWITCHED_OFF: list[None] = []  # as often as `without` was entered
_REFUSED: dict[torch.dtype, str] = {}
_THREADS: list[int] = [1]


def fix_sums(count: int) -> None:
    """Make every sum of this process the same on every machine, with `count` threads: before torch
    computes anything.

    torch sums by one thread and in the vectors that every processor has, the compiled code as its
    parts say.
    """
    if "avx512f" in processor("flags").split():
        os.environ["ATEN_CPU_CAPABILITY"] = WITHOUT_AVX512
    torch.set_num_threads(1)
    _THREADS[:] = [count]


def threads() -> int:
    """Return how many threads compute in the compiled code: as many as torch has, unless `fix_sums`
    said otherwise.
    """
    return max(torch.get_num_threads(), *_THREADS)


@contextmanager
def without():
    """Compute without the library inside this block: counters see torch's operators alone."""
    _SWITCHED_OFF.append(None)
    try:
        yield
    finally:
        _SWITCHED_OFF.pop()


def obstacle(dtype: torch.dtype = torch.float32) -> str | None:
    """Return why nothing is compiled on this machine for numbers of this type, in a sentence; None
    where it is.
    """
    if _SWITCHED_OFF:
        return "it is switched off"
    if dtype in _REFUSED:
        return _REFUSED[dtype]
    result = _attempt(dtype)
    return str(result) if isinstance(result, CannotCompile) else None


def refuse(dtype: torch.dtype, reason: str) -> None:
    """Compute without the library for numbers of this type from now on in this process."""
    _REFUSED[dtype] = reason


@cache
def _attempt(dtype: torch.dtype) -> ctypes.CDLL | CannotCompile:
    if dtype not in TYPES:
        return CannotCompile(f"there is none for {dtype}")
    real = TYPES[dtype]
    try:
        # For where the cache cannot be written, or nothing in it can be run.
        with tempfile.TemporaryDirectory() as own:
            try:
                named = os.environ.get("XDG_CACHE_HOME")
                cache = Path(named or Path.home() / ".cache")
                return _load(real, cache / "attention-suite")
            except (OSError, RuntimeError):
                return _load(real, Path(own))
    except CannotCompile as reason:
        return reason
    except (OSError, RuntimeError, ValueError, subprocess.SubprocessError) as error:
        return CannotCompile(f"{type(error).__name__}: {error}"[:300])


def library(dtype: torch.dtype) -> ctypes.CDLL:
    """Load the functions for 32 or 64 bits, compiled where they are not in the cache;
    `CannotCompile` says why not.
    """
    result = _attempt(dtype)
    if isinstance(result, CannotCompile):
        raise result
    return result


def _load(real: str, folder: Path) -> ctypes.CDLL:
    """Load the library from a folder, built first where it is not there.

    Each process that builds at the same time writes a file of its own, and the last one stays.
    """
    compiler = _compiler()
    folder.mkdir(parents=True, exist_ok=True)
    is_double = int(real == "double")
    types = [f"-DREAL={real}", f"-DREAL_IS_DOUBLE={is_double}"]
    # A clang may come without OpenMP: then one thread computes.
    for openmp in (["-fopenmp"], []):
        command = [*compiler, *FLAGS, *openmp, *types]
        path = folder / f"{_digest(command)}.so"
        if path.exists():
            return ctypes.CDLL(str(path))
        with tempfile.TemporaryDirectory(dir=folder) as own:
            made = Path(own) / "library.so"
            sources = [str(FOLDER / name) for name in SOURCES]
            done = _run([*command, *sources, "-lm", "-o", str(made)])
            # A rename replaces at once: no process ever loads half a library.
            if not done.returncode:
                return ctypes.CDLL(str(made.replace(path)))
    errors = [line.strip() for line in done.stderr.splitlines() if "error" in line]
    message = errors[0] if errors else "no message"
    raise CannotCompile(f"{compiler[0]} failed: {message}"[:300])


def _run(command: list[str]) -> subprocess.CompletedProcess:
    """Run the compiler, which then speaks English."""
    return subprocess.run(
        command,
        env=os.environ | {"LC_ALL": "C"},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=SECONDS,
        check=False,
    )


def _compiler() -> list[str]:
    """Find the command of the compiler: `CC`, or the first that is there."""
    # An empty CC is a choice, too: no compiler.
    named = os.environ.get("CC")
    commands = ["cc", "gcc", "clang"] if named is None else [named]
    for command in commands:
        words = shlex.split(command)
        if words and shutil.which(words[0]):
            return words
    asked = "" if named is None else f" (CC={named!r})"
    raise CannotCompile(f"there is no C compiler{asked}")


def compiler_version() -> str:
    """Name what compiled the library, and its vectors; why nothing did where there is none."""
    reason = obstacle()
    if reason:
        return f"none: {reason}"
    first = _run([*_compiler(), "--version"]).stdout.splitlines()[0]
    return f"{first}, vectors of {library(torch.float32).bytes()} bytes"


def _digest(command: list[str]) -> str:
    """Hash all that the library depends on: sources, flags, compiler, processor."""
    # `-march=native` means another processor's instructions on another machine: the cache may be
    # on a disk that machines share.
    version = _run([*command, "--version"]).stdout
    built_for = (command, platform.machine(), processor("flags", "Features"), version)
    digest = hashlib.sha256(repr(built_for).encode())
    for path in sorted(FOLDER.glob("[!.]*.[ch]")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def processor(*begins: str) -> str:
    """Return the first line of the system's file on the processor that begins so.

    The processor's name where there is none.
    """
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        for line in lines:
            if line.startswith(begins):
                return line
    return platform.processor() or platform.machine()
