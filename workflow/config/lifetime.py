"""What a workflow starts ends with it, however it ends: no step works on beside those of the next workflow."""

import os
import signal

ENDS_WITH = "ATTENTION_ENDS_WITH"  # the number of a process; what finds it set ends when that one has
PR_SET_PDEATHSIG = 1  # of linux/prctl.h


def keepers() -> list[int]:
    """Files that can be read once a process has ended with which this one ends: its parent, and that of `ENDS_WITH`.

    None where the variable is not set, as in a command by hand, or where the system has no such files. `OSError` where
    the process has ended already.
    """
    if not os.environ.get(ENDS_WITH) or not hasattr(os, "pidfd_open"):
        return []
    return [os.pidfd_open(number) for number in {int(os.environ[ENDS_WITH]), os.getppid()}]


def end_with_workflow() -> None:
    """From now on this process is killed when one of its keepers has ended."""
    try:
        files = keepers()
    except OSError:
        os.kill(os.getpid(), signal.SIGKILL)
    if not files:
        return
    from select import select
    from threading import Thread

    def wait() -> None:
        select(files, [], [])
        os.kill(os.getpid(), signal.SIGKILL)

    Thread(target=wait, name="ends with the workflow", daemon=True).start()


def end_with_parent() -> None:
    """The same for a fork, by the system and without a thread: at the end of the thread that forked."""
    import ctypes

    if hasattr(libc := ctypes.CDLL(None), "prctl"):
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
