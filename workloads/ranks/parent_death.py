"""Ends a process of the benchmark when the process that started it is gone, however that one ended.

A starter puts its own process id into the environment of its child (`environment_of_child`). The child asks to be sent
SIGTERM at the starter's end (`follow_parent`). Each process does so for its own child, so a whole chain ends: planner
or run.sh, node, torchrun, ranks. On Linux the kernel sends the signal, also while Python is inside a library. Elsewhere
a thread looks twice a second.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from typing import Dict, Mapping

PARENT_VARIABLE = "WORKLOADS_PARENT"
"""Variable with the process id of the starter, for one child."""
UNDER_TORCHRUN = "TORCHELASTIC_RUN_ID"
CHECK_EVERY_S = 0.5
PR_SET_PDEATHSIG = 1
"""Number of the option in Linux's <sys/prctl.h>."""


def environment_of_child(variables: Mapping[str, str]) -> Dict[str, str]:
    """Return the variables of a process that is to end with this one."""
    return {**variables, PARENT_VARIABLE: str(os.getpid())}


def follow_parent() -> None:
    """Have SIGTERM sent to this process when its parent dies, or at once if the parent is dead already.

    Does nothing in a process that the user started: it may outlive its shell. A rank under a torchrun that the user
    started ends with that torchrun.
    """
    named = os.environ.pop(PARENT_VARIABLE, None)  # it names this process's parent, not that of the processes it starts
    if named is None and UNDER_TORCHRUN not in os.environ:
        return
    parent = os.getppid() if named is None else int(named)
    if not _kernel_sends_sigterm():
        threading.Thread(target=_wait_for_its_end, args=(parent,), daemon=True).start()
    elif os.getppid() != parent:  # it died before the kernel was asked
        os.kill(os.getpid(), signal.SIGTERM)


def _kernel_sends_sigterm() -> bool:
    """Return whether the kernel will send SIGTERM at the parent's end. Only Linux can."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        return bool(ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0) == 0)
    except (OSError, AttributeError):  # a C library without it
        return False


def _wait_for_its_end(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(CHECK_EVERY_S)
    os.kill(os.getpid(), signal.SIGTERM)
