"""A run whose process was ended from without: it begins again where its checkpoint stands, or is given up."""

import signal
import subprocess
import sys

from workflow.training.launch import Broken

ASKED = {signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2}
ATTEMPTS = 3


def retry(status: int, module: str, words: list[str]) -> None:
    """`python -m module words`, which was ended with `status` before, as a shell tells it, until it ends well.

    `Broken` where it crashed, or was killed each time, as the system does with a run for which there is no memory. Ends
    this process likewise where somebody asked the other to end, or where it refused its input.
    """
    for attempt in range(1, ATTEMPTS + 1):
        if status == 0:
            return
        if status <= 128 or (ended_by := signal.Signals(status - 128)) in ASKED:
            sys.exit(status)
        if ended_by != signal.SIGKILL:
            raise Broken("error", f"the process was ended by {ended_by.name}")
        if attempt < ATTEMPTS:
            print(f"the run was killed: attempt {attempt + 1} of {ATTEMPTS}", flush=True)
            status = subprocess.run([sys.executable, "-m", module, *words]).returncode
            status = 128 - status if status < 0 else status
    raise Broken("oom", f"the process was killed {ATTEMPTS} times, as the system does when memory ends")
