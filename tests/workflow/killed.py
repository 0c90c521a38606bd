"""SIGKILL at random moments of workflows, then what they leave is compared with no kill at all.

    python -m tests.workflow.killed --kills 200 --seed 1

Killed are workflows, shells, commands, runs and benchmarks, at a random moment or while a file is
being written, which takes long here: `fsync` sleeps. Ends with the kills by kind, and a line for
whatever differs.
"""

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil

from tests._copied import copied
from tests.workflow._remains import differences, leftovers

CONFIG = ("scale=smoke", "tasks=[char_lm]", "questions=[ramps]")
QUESTION = """question: Does a longer ramp help?
paper: adaptive_span
corpora: [text8]
tables: [adaptive_span_table3]
variants:
  short: {span: {name: adaptive, ramp: 2}, S: max}
  long: {span: {name: adaptive, ramp: 16}, S: max}
"""
SLOW_DISK = """import os, time
_fsync = os.fsync
os.fsync = lambda file: (time.sleep(0.15), _fsync(file))[1]
"""
MARK = "ATTENTION_TRIAL"  # the environment of all that a trial starts
TARGETS = ("ramps",)
# How likely one of a kind is killed in a tenth of a second, the first time: a write is short, a
# workflow must get far.
RATES = {"writing": 1.0, "run": 0.03, "command": 0.03, "benchmark": 0.03, "workflow": 0.01}
RATES["other"] = 0.005


class Trial:
    """Workflows in folders below `folder`, and what kills them."""

    def __init__(self, folder: Path, seed: int, targets=TARGETS):
        self.folder = folder
        self.targets = targets
        self.random = random.Random(seed)
        self.kills: Counter[str] = Counter()
        self.attempts: Counter[str] = Counter()
        for name in ("slow", "tmp", "cache"):
            (folder / name).mkdir()
        (folder / "slow" / "sitecustomize.py").write_text(SLOW_DISK)
        path = [str(Path(sys.executable).parent), os.environ["PATH"]]
        self.environment = {
            **os.environ,
            "PATH": os.pathsep.join(path),
            "PYTHONPATH": str(folder / "slow"),
            MARK: str(folder),
            "OMP_NUM_THREADS": "1",
            "TMPDIR": str(folder / "tmp"),
            "XDG_CACHE_HOME": str(folder / "cache"),
        }

    def clone(self, name: str) -> Path:
        """Copy the project, with one small question."""
        folder = self.folder / name
        folder.mkdir()
        copied(folder)
        (folder / "studies" / "own" / "questions" / "ramps.yaml").write_text(QUESTION)
        scale = folder / "config" / "scales" / "smoke" / "char_lm.yaml"
        scale.write_text(re.sub(r"tokens: (1024|2048)", "tokens: 512", scale.read_text()))
        return folder

    def start(self, folder: Path) -> subprocess.Popen:
        command = [sys.executable, "-m", "snakemake", "--cores", "2", "--config", *CONFIG]
        command += ["--", *self.targets]
        with open(folder / "said.log", "ab") as said:
            streams = {"stdout": said, "stderr": said}
            return subprocess.Popen(command, cwd=folder, env=self.environment, **streams)

    def processes(self) -> list[psutil.Process]:
        """List the living processes of this trial."""
        found = []
        for process in psutil.process_iter():
            try:
                ours = process.environ().get(MARK) == str(self.folder)
                if ours and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except (psutil.Error, OSError):
                continue
        return found

    def round(self, folder: Path, kills: int) -> None:
        """Kill a workflow as often as asked for or until it ends; then run it to the end."""
        while kills:
            running = self.start(folder)
            while kills and running.poll() is None:
                kills -= self.kill(running)
            if running.wait() == 0:
                break
            self.attempts.clear()
        code = self.start(folder).wait()
        if code != 0:
            raise SystemExit(f"{folder}: the last workflow ended with {code}: see said.log there")

    def kill(self, running: subprocess.Popen) -> bool:
        """Kill one process before the workflow ends, rather of a kind that was killed seldom.

        Returns whether one was killed.
        """
        while running.poll() is None:
            time.sleep(0.1)
            for kind, number in self.find_victims(running.pid):
                likely = RATES[kind] / (1 + self.kills[kind])
                if self.random.random() < likely and self.end(number, kind):
                    return True
        return False

    def find_victims(self, workflow: int) -> list[tuple[str, int]]:
        """List the kind and number of each process, those that write a file first."""
        found = []
        for file in self.folder.glob("*/re[ps]*/**/.*.part"):
            found.append(("writing", int(file.name.split(".")[-2])))
        found += [(kind_of(each, workflow), each.pid) for each in self.processes()]
        return found

    def end(self, number: int, kind: str) -> bool:
        """Kill a process, but no run more often than it begins again by itself.

        Its end would be a record that says so.
        """
        try:
            run = os.readlink(f"/proc/{number}/fd/1")
            if "/train/" in run and self.attempts[run] == 2:
                return False
            os.kill(number, signal.SIGKILL)
        except OSError:
            return False
        self.attempts[run] += 1
        self.kills[kind] += 1
        return True


def kind_of(process: psutil.Process, workflow: int) -> str:
    """Name what a process of a trial is."""
    if process.pid == workflow:
        return "workflow"
    try:
        words = " ".join(process.cmdline())
    except psutil.Error:
        return "other"
    if "pytest" in words:
        return "benchmark"
    if "workflow.scripts.train" in words:
        return "run"
    return "command" if "workflow.scripts." in words else "other"


def run_trial(place: Path, kills: int, seed: int, targets) -> list[str]:
    """Kill in rounds until there were enough kills; return the faults of the last round."""
    trial = Trial(place, seed, targets)
    whole = trial.clone("whole")
    if trial.start(whole).wait():
        said = (whole / "said.log").read_text()[-3000:]
        raise SystemExit(f"the workflow that nobody kills failed:\n{said}")
    rounds = 0
    while trial.kills.total() < kills:
        rounds += 1
        began = time.monotonic()
        folder = trial.clone(f"round{rounds}")
        trial.round(folder, min(kills - trial.kills.total(), 70))
        seconds = time.monotonic() - began
        print(f"round {rounds}: {trial.kills.total()} kills, {seconds:.0f} s")
        for kind, count in sorted(trial.kills.items()):
            print(f"{count:4} {kind}", flush=True)
        faults = differences(whole, folder) + leftovers(trial.folder, trial.processes)
        if faults:
            return faults
        shutil.rmtree(folder)
    print(f"{trial.kills.total()} kills, {rounds} rounds: records and weights as without kills")
    return []


def main(argv: list[str] | None = None) -> None:
    about = "Kill workflows, and look at what they leave."
    parser = argparse.ArgumentParser(prog="killed", description=about)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--targets", nargs="+", default=TARGETS)
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        faults = run_trial(Path(place), options.kills, options.seed, options.targets)
        if faults:
            os.rename(place, f"{place}-kept")
            raise SystemExit("\n".join([f"kept in {place}-kept", *faults]))


if __name__ == "__main__":
    main()
