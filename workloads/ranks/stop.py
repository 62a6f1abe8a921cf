"""Requests to stop a rank, a watchdog that enforces them, and the end of a process whose starter is gone.

SIGTERM, SIGHUP and SIGINT set a flag that the loop reads between blocks of steps. SIGTERM also comes when torchrun is
gone (`follow_parent`). A rank that is stuck (it compiles, its peers are gone, it waits in a collective) never reads the
flag. So a thread sleeps on the signal's own file descriptor, which costs nothing. After a grace period it writes the
last words and ends the process. Each of the three periods below ends before the next one, and the last ends within the
10 s that a stopped benchmark may take.

A starter puts its own process id into the environment of its child (`environment_of_child`). The child asks to be sent
SIGTERM at the starter's end (`follow_parent`). Each process does so for its own child, so a whole chain ends: planner
or run.sh, node, torchrun, ranks. On Linux the kernel sends the signal, also while Python is inside a library. Elsewhere
a thread looks twice a second.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import socket
import sys
import threading
import time
from types import FrameType
from typing import Callable, Dict, Mapping, Optional

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


GRACE_S = 4.0
"""Time for a rank to stop in good order."""
TORCHRUN_GRACE_S = 6
"""Time after which torchrun kills the remaining ranks and their children (whole seconds)."""
STARTER_GRACE_S = 8.0
"""Time after which the starter of torchrun kills torchrun."""
SOON_S = 1.0
SIGNALS = tuple(
    getattr(signal, name)
    for name in ("SIGTERM", "SIGHUP", "SIGINT")
    if hasattr(signal, name)  # Windows has no SIGHUP
)


class StopRequest:
    """Flag that says whether this rank was asked to stop.

    `last_words(why)` must write what is known and must not need torch.
    """

    def __init__(self, last_words: Callable[[str], int], *, grace_s: float = GRACE_S) -> None:
        self._last_words = last_words
        self._grace_s = grace_s
        self._requested = False

    def requested(self) -> bool:
        """Return whether one of the signals has come."""
        return self._requested

    def requested_soon(self, *, within_s: float = SOON_S) -> bool:
        """Return whether one comes within a moment. A dying torchrun closes its sockets before its ranks are told."""
        deadline_s = time.monotonic() + within_s
        while not self.requested() and time.monotonic() < deadline_s:
            time.sleep(0.05)
        return self.requested()

    def watch(self) -> None:
        """Start to listen. Call once per process, in its main thread."""
        reader, writer = socket.socketpair()
        writer.setblocking(False)
        self._writer = writer  # kept open: closing it would take the descriptor from set_wakeup_fd
        handle_stop_signals(self._on_signal)
        signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        thread = threading.Thread(target=self._listen, args=(reader,), daemon=True)
        thread.start()

    def _on_signal(self, number: int, frame: Optional[FrameType]) -> None:
        del number, frame
        self._requested = True

    def _listen(self, reader: socket.socket) -> None:
        select.select([reader], [], [])
        stop_helpers()
        select.select([], [], [], self._grace_s)  # time for the loop to stop in good order and exit
        code = 1
        try:
            code = self._last_words("it was asked to stop and was stuck in a step")
        finally:
            os._exit(code)  # even if nothing could be written


def handle_stop_signals(handler: Callable[[int, Optional[FrameType]], None]) -> None:
    """Call the handler on a request to stop. A signal that the process was started to ignore (nohup) stays ignored."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def stop_helpers() -> None:
    """Ask the processes that this rank started to stop too: torch.compile's workers, and their compilers.

    torchrun gives each rank its own process group. The rank itself is in it, and takes the signal as one more request
    to stop. Without such a group nothing is sent.
    """
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpgrp(), signal.SIGTERM)
