"""A workflow that is told to stop passes it on to its runs and begins no more; they save their checkpoints.

A scheduler may tell Snakemake alone, which by itself waits until its runs have ended, however long that takes.
"""

import os
import signal
import threading

PASSED_ON = (signal.SIGTERM, signal.SIGUSR1)
RUN = ["-m", "workflow.scripts.train"]  # the words after Python's name in the command of a run


def pass_on_to_runs() -> None:
    """From now on, in Snakemake's process. SIGUSR1 becomes the SIGTERM that Snakemake knows: it starts nothing more."""
    if threading.current_thread() is not threading.main_thread():  # a workflow that is started from Python
        return
    numbers, written = os.pipe()
    os.set_blocking(written, False)
    signal.set_wakeup_fd(written, warn_on_full_buffer=False)  # whatever handler Snakemake sets later
    signal.signal(signal.SIGUSR1, lambda number, frame: signal.raise_signal(signal.SIGTERM))
    threading.Thread(target=_watch, args=(numbers,), daemon=True).start()


def _watch(numbers: int) -> None:
    while True:
        for number in os.read(numbers, 64):
            if number in PASSED_ON:
                _tell_runs(number)


def _tell_runs(number: int) -> None:
    """All that this process has started, directly or not."""
    import psutil  # who is never told to stop does not wait for it

    for process in psutil.Process().children(recursive=True):
        try:
            if process.cmdline()[1:3] == RUN:
                process.send_signal(number)
        except psutil.Error:  # it has ended meanwhile
            continue
