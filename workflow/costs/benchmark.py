"""The files of benchmarks/, each run in a process of its own."""

import json
import os
import subprocess
import sys
import tempfile

from workflow.config.files import ROOT


def run_benchmark(name: str, settings: dict[str, str]) -> list[dict]:
    """pytest-benchmark's reports of benchmarks/NAME with these variables set: extra_info and stats, with all rounds.

    Empty where pytest ended without a report. Variables of pytest's own are not passed on: in a worker of a test run
    they would switch timing off.
    """
    with tempfile.TemporaryFile() as report:  # without a name: nothing is left where this process is killed
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"benchmarks/{name}"]
        words += [
            f"--benchmark-json=/dev/fd/{report.fileno()}",
            "--benchmark-disable-gc",
            "--benchmark-columns=median,iqr,rounds",
        ]
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
        subprocess.run(words, cwd=ROOT, env=inherited | settings, pass_fds=[report.fileno()], check=False)
        report.seek(0)
        written = report.read()
        return json.loads(written)["benchmarks"] if written else []
