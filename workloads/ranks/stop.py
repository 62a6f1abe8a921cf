"""Requests to stop a rank, and a watchdog that makes sure that it does.

SIGTERM and SIGINT set a flag that the loop reads between blocks of steps. A rank that is stuck (its peers are gone,
it waits in a collective) never reads it: a thread that sleeps on the signal's own file descriptor, and costs nothing
while it sleeps, speaks the last words after a grace period and ends the process. The same thread ends a rank whose
torchrun is gone: an orphan would keep a rented device busy.
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

GRACE_S = 10.0  # torchrun kills 30 s after it asked
ORPHAN_CHECK_S = 1.0
SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StopRequest:
    """Whether this rank was asked to stop. `last_words(why)` must write what is known and must not need torch."""

    def __init__(self, last_words: Callable[[str], int], *, grace_s: float = GRACE_S) -> None:
        self._last_words = last_words
        self._grace_s = grace_s
        self._requested = False
        self._parent = os.getppid()
        self._under_torchrun = "TORCHELASTIC_RUN_ID" in os.environ  # by hand, a rank may outlive its shell

    def requested(self) -> bool:
        """Whether SIGTERM or SIGINT has come, or torchrun is gone."""
        return self._requested or self._is_orphan()

    def requested_soon(self, *, within_s: float = ORPHAN_CHECK_S) -> bool:
        """Whether it was, or is within a moment: a dying torchrun closes its sockets before it leaves its children."""
        deadline_s = time.monotonic() + within_s
        while not self.requested() and time.monotonic() < deadline_s:
            time.sleep(0.05)
        return self.requested()

    def watch(self) -> None:
        """Start to listen; once per process, in its main thread."""
        reader, writer = socket.socketpair()
        writer.setblocking(False)
        self._writer = writer  # kept: closing it would take the descriptor from set_wakeup_fd
        for number in SIGNALS:
            signal.signal(number, self._on_signal)
        signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        thread = threading.Thread(target=self._listen, args=(reader,), daemon=True)
        thread.start()

    def _on_signal(self, number: int, frame: Optional[FrameType]) -> None:
        del number, frame
        self._requested = True

    def _listen(self, reader: socket.socket) -> None:
        while True:
            readable, _, _ = select.select([reader], [], [], ORPHAN_CHECK_S)
            if readable:
                select.select([], [], [], self._grace_s)  # time for the loop to stop in good order and exit
                os._exit(self._last_words("it was asked to stop and was stuck in a step"))
            if self._is_orphan():
                os._exit(self._last_words("torchrun is gone"))

    def _is_orphan(self) -> bool:
        return self._under_torchrun and os.getppid() != self._parent
