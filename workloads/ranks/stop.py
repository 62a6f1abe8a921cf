"""Requests to stop a rank, and a watchdog that enforces them.

SIGTERM, SIGHUP and SIGINT set a flag that the loop reads between blocks of steps. SIGTERM also comes when torchrun is
gone (parent_death.py). A rank that is stuck (it compiles, its peers are gone, it waits in a collective) never reads the
flag. So a thread sleeps on the signal's own file descriptor, which costs nothing. After a grace period it writes the
last words and ends the process. Each of the three periods below ends before the next one, and the last ends within the
10 s that a stopped benchmark may take.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
import time
from types import FrameType
from typing import Callable, Optional

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
