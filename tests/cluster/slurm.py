"""A SLURM of one node, this machine, for as long as a command runs: `python -m tests.cluster.slurm
COMMAND ...`.

    python -m tests.cluster.slurm snakemake --workflow-profile profiles/slurm --config scale=smoke
    device=cpu \\
        --cores 4 --slurm-status-command squeue --slurm-init-seconds-before-status-checks 5

runs scale smoke through a scheduler. Needs Debian's packages slurm-wlm and munge. The daemons
belong to the user who starts them, keep everything in a temporary folder, and are stopped when the
command has ended, however.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

DAEMONS = ("munged", "slurmctld", "slurmd")
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
CPUS, MEMORY_MB = 4, 16000  # that the node says it has; more runs at once than cores are no error
CONF = """\
ClusterName=suite
SlurmctldHost={host}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,bf_interval=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
KillWait=5
ReturnToService=2
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory}
PartitionName=all Nodes=ALL Default=YES PriorityTier=1 GraceTime=60
PartitionName=first Nodes=ALL PriorityTier=2 PreemptMode=OFF
"""


def missing() -> str | None:
    """Say what is not installed; None where all is there."""
    absent = [name for name in (*DAEMONS, "sbatch", "srun") if not shutil.which(name, path=PATH)]
    return f"not installed: {', '.join(absent)} (Debian: slurm-wlm, munge)" if absent else None


@contextmanager
def one_node(folder: Path) -> Iterator[dict[str, str]]:
    """Start the node; give the environment in which sbatch and its like reach it. `RuntimeError`
    where it cannot be.
    """
    folder.chmod(0o711)  # munged asks that everybody may reach its socket
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    for name in ("state", "spool", "bin"):
        (folder / name).mkdir()
    user, host = (
        subprocess.check_output(["id", "-un"], text=True).strip(),
        socket.gethostname().partition(".")[0],
    )
    given = {"folder": folder, "user": user, "host": host, "ports": (_free_port(), _free_port())}
    (folder / "slurm.conf").write_text(CONF.format(cpus=CPUS, memory=MEMORY_MB, **given))
    environment = {
        **os.environ,
        "PATH": f"{folder}/bin:{PATH}",
        "SLURM_CONF": str(folder / "slurm.conf"),
    }
    # Snakemake's plugin takes SLURM_CONF from the environment of a step, so that srun has to name
    # it anew.
    srun = folder / "bin" / "srun"
    srun.write_text(
        f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {shutil.which("srun", path=PATH)} "$@"\n'
    )
    srun.chmod(0o755)
    files = [
        f"--{name}={folder}/munge.{name[:-5]}" for name in ("key-file", "pid-file", "seed-file")
    ]
    munge = ["munged", "--foreground", f"--socket={folder}/munge.socket", *files]
    with ExitStack() as stack:
        stack.enter_context(_daemon(munge, folder, environment))
        eventually((folder / "munge.socket").exists)
        for name in ("slurmctld", "slurmd"):
            stack.enter_context(_daemon([name, "-D"], folder, environment))
        eventually(lambda: "idle" in _said(environment, "sinfo", "--noheader", "--format=%T"))
        stack.callback(_cancel_all, environment)
        eventually(lambda: "ran" in _said(environment, "srun", "echo", "ran"))
        yield environment


@contextmanager
def _daemon(words: list[str], folder: Path, environment: dict[str, str]) -> Iterator[None]:
    with open(folder / f"{words[0]}.log", "w") as log:
        process = subprocess.Popen(
            words, env=environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _cancel_all(environment: dict[str, str]) -> None:
    """Cancel what a command has left in the queue, so that no job outlives the node."""
    left = lambda: _said(environment, "squeue", "--noheader", "--format=%i").split()  # noqa: E731
    if left():
        _said(environment, "scancel", *left())
        eventually(lambda: not left())


def _said(environment: dict[str, str], *words: str) -> str:
    try:
        return subprocess.run(
            words, env=environment, capture_output=True, text=True, timeout=30
        ).stdout
    except subprocess.TimeoutExpired:
        raise RuntimeError(
            f"SLURM does not answer here: {words[0]} took longer than 30 s"
        ) from None


def eventually(true: Callable, seconds: float = 20) -> None:
    """Wait until it is true; `RuntimeError` after so many seconds."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise RuntimeError(f"it did not come in {seconds:.0f} s")
        time.sleep(0.05)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def main() -> int:
    if absent := missing():
        print(absent, file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    with (
        tempfile.TemporaryDirectory(prefix="slurm-") as folder,
        one_node(Path(folder)) as environment,
    ):
        return subprocess.run(sys.argv[1:], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
