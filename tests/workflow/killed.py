"""SIGKILL at random moments of workflows, then what they leave beside what one leaves that was
never interrupted.

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

CONFIG = ("scale=smoke", "tasks=[char_lm]")
QUESTION = """question: Does a longer ramp help?
paper: adaptive_span
corpora: [text8]
tables: [adaptive_span_table3]
variants:
  short: {span: {name: adaptive, ramp: 2}, S: max}
  long: {span: {name: adaptive, ramp: 16}, S: max}
"""
SLOW_DISK = "import os, time\n_fsync = os.fsync\n"
SLOW_DISK += "os.fsync = lambda file: (time.sleep(0.15), _fsync(file))[1]\n"
MARK = "ATTENTION_TRIAL"  # the environment of all that a trial starts
TARGETS = ("ramps",)
# How likely one of a kind is killed in a tenth of a second, the first time: a write is short, a
# workflow must get far.
RATES = {"writing": 1.0, "run": 0.03, "command": 0.03, "benchmark": 0.03, "workflow": 0.01}


class Trial:
    """Workflows in folders below `folder`, and what kills them."""

    def __init__(self, folder: Path, seed: int, targets=TARGETS):
        self.folder, self.targets, self.random = folder, targets, random.Random(seed)
        self.kills: Counter[str] = Counter()
        self.attempts: Counter[str] = Counter()
        for name in ("slow", "tmp", "cache"):
            (folder / name).mkdir()
        (folder / "slow" / "sitecustomize.py").write_text(SLOW_DISK)
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        own = {
            "PATH": path,
            "PYTHONPATH": str(folder / "slow"),
            MARK: str(folder),
            "OMP_NUM_THREADS": "1",
        }
        self.environment = {
            **os.environ,
            **own,
            "TMPDIR": str(folder / "tmp"),
            "XDG_CACHE_HOME": str(folder / "cache"),
        }

    def clone(self, name: str) -> Path:
        """A copy of the project with one small question."""
        (folder := self.folder / name).mkdir()
        copied(folder)
        (folder / "studies" / "own" / "questions" / "ramps.yaml").write_text(QUESTION)
        scale = folder / "config" / "scales" / "smoke" / "char_lm.yaml"
        scale.write_text(re.sub(r"tokens: (1024|2048)", "tokens: 512", scale.read_text()))
        return folder

    def start(self, folder: Path) -> subprocess.Popen:
        words = [
            "-m",
            "snakemake",
            "--cores",
            "2",
            "--config",
            *CONFIG,
            "questions=[ramps]",
            "--",
            *self.targets,
        ]
        with open(folder / "said.log", "ab") as said:
            command = [sys.executable, *words]
            return subprocess.Popen(
                command, cwd=folder, env=self.environment, stdout=said, stderr=said
            )

    def processes(self) -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter():
            try:
                if (
                    process.environ().get(MARK) == str(self.folder)
                    and process.status() != psutil.STATUS_ZOMBIE
                ):
                    found.append(process)
            except (psutil.Error, OSError):
                continue
        return found

    def round(self, folder: Path, kills: int) -> None:
        """A workflow in this folder, killed as often as asked for or until it ends; then once more
        to the end.
        """
        while kills:
            running = self.start(folder)
            while kills and running.poll() is None:
                kills -= self.kill(running)
            if running.wait() == 0:
                break
            self.attempts.clear()
        if (ended := self.start(folder).wait()) != 0:
            raise SystemExit(
                f"{folder}: the last workflow ended with {ended}: see {folder / 'said.log'}"
            )

    def kill(self, running: subprocess.Popen) -> bool:
        """Kill one process before the workflow ends; the seldomer its kind was killed, the sooner.
        Whether one was.
        """
        while running.poll() is None:
            time.sleep(0.1)
            unfinished = self.folder.glob("*/re[ps]*/**/.*.part")
            found = [
                (f"writing {what_is(file)}", int(file.name.split(".")[-2])) for file in unfinished
            ]
            found += [(kind_of(each, running.pid), each.pid) for each in self.processes()]
            for kind, number in found:
                rate = next(
                    (rate for begin, rate in RATES.items() if kind.startswith(begin)), 0.005
                )
                if self.random.random() < rate / (1 + self.kills[kind]) and self.end(number, kind):
                    return True
        return False

    def end(self, number: int, kind: str) -> bool:
        """No run is killed more often than it begins again by itself: its end would be a record
        that says so.
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
    """What a process of a trial is."""
    if process.pid == workflow:
        return "workflow"
    try:
        words = process.cmdline()
    except psutil.Error:
        return "other"
    if "pytest" in words:
        return "benchmark"
    named = [word.rpartition(".")[2] for word in words if word.startswith("workflow.scripts.")]
    if "-m" in words and named:
        return "run" if named[0] == "train" else f"command {named[0]}"
    return Path(words[0]).name if words else "other"


def what_is(file: Path) -> str:
    """The kind of a file that is being written."""
    name = file.name[1:].rsplit(".", 3)[0]
    place = file.parent.name
    return (
        name
        if file.parent.parent.name == "runs"
        else f"a file of {place}"
        if place != "smoke"
        else name
    )


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="killed", description="Kill workflows, and look at what they leave."
    )
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--targets", nargs="+", default=TARGETS)
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        trial = Trial(Path(place), options.seed, options.targets)
        whole, faults, rounds = trial.clone("whole"), [], 0
        if trial.start(whole).wait():
            said = (whole / "said.log").read_text()[-3000:]
            raise SystemExit(f"the workflow that nobody kills failed:\n{said}")
        while not faults and (left := options.kills - trial.kills.total()) > 0:
            began, rounds = time.monotonic(), rounds + 1
            folder = trial.clone(f"round{rounds}")
            trial.round(folder, min(left, 70))
            faults = differences(whole, folder) + leftovers(trial.folder, trial.processes)
            print(f"round {rounds}: {trial.kills.total()} kills, {time.monotonic() - began:.0f} s")
            print(
                "\n".join(f"{count:4} {kind}" for kind, count in sorted(trial.kills.items())),
                flush=True,
            )
            if not faults:
                shutil.rmtree(folder)
        if faults:
            os.rename(place, f"{place}-kept")
            raise SystemExit("\n".join([f"kept in {place}-kept", *faults]))
        print(f"{trial.kills.total()} kills, {rounds} rounds: records and weights as without kills")


if __name__ == "__main__":
    main()
