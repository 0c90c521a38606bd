"""torch, the GPU that it sees, the C compiler and Triton."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec

import torch

from models.kernels.compiled import build
from workflow.config.files import ROOT
from workflow.doctor.finding import NOTE, OK, WRONG, Finding

GIB = 1 << 30


def look_at_torch() -> Iterator[Finding]:
    """The version that the suite is tried with is that of constraints.txt."""
    found = str(torch.__version__)
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8") if (ROOT / "constraints.txt").exists() else ""
    tried = re.search(r"^torch==(\S+)", pins, re.MULTILINE)
    other = f"; tried with {tried[1]}" if tried and found.partition("+")[0] != tried[1] else ""
    yield Finding("torch", NOTE if other else OK, f"{found}{other}")


def look_at_gpu() -> Iterator[Finding]:
    """No GPU is well; one that the driver knows and torch does not see is wrong."""
    if torch.cuda.is_available():
        about = torch.cuda.get_device_properties(0)
        said = f"{about.name}, {about.total_memory / GIB:.0f} GiB, compute {about.major}.{about.minor}"
        said += f", CUDA {torch.version.cuda}"
        half = torch.cuda.is_bf16_supported()
        yield Finding(
            "GPU", OK if half else NOTE, said + ("" if half else "; without bf16: scales small and paper ask for it")
        )
    elif names := _known_to_driver():
        build_of = f"built for CUDA {torch.version.cuda}" if torch.version.cuda else "built without CUDA"
        yield Finding("GPU", WRONG, f"the driver has {names[0]}, and torch, {build_of}, does not see it")
    else:
        yield Finding("GPU", OK, "none: everything runs on the CPU")


def _known_to_driver() -> list[str]:
    """The GPUs that nvidia-smi lists."""
    if not shutil.which("nvidia-smi"):
        return []
    done = subprocess.run(("nvidia-smi", "-L"), capture_output=True, text=True, timeout=60, check=False)
    return re.findall(r"^GPU \d+: (.*?)(?: \(UUID|$)", done.stdout, re.MULTILINE)


def look_at_compiler() -> Iterator[Finding]:
    """Attention is compiled for the processor; without a compiler all takes twice as long."""
    faults = {build.NAMES[dtype]: build.obstacle(dtype) for dtype in build.TYPES}
    broken = next(filter(None, faults.values()), None)
    if broken is None:
        yield Finding("C compiler", OK, f"attention is compiled for {' and '.join(faults)}")
        return
    unwanted = os.environ.get("CC") == "" or (os.environ.get("CC") is None and "no C compiler" in broken)
    yield Finding("C compiler", NOTE if unwanted else WRONG, f"{broken}: about half the speed")


def look_at_triton(device: torch.device) -> Iterator[Finding]:
    """The kernel's language: needed on a GPU alone."""
    if find_spec("triton"):
        yield Finding("Triton", OK, version("triton") + ("" if device.type == "cuda" else ", not needed on a CPU"))
    else:
        needed = device.type == "cuda"
        yield Finding(
            "Triton", NOTE if needed else OK, "not installed" + (": no kernel, slower" if needed else ", not needed")
        )
