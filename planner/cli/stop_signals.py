"""Turns signals that end a command with child processes into one exception, so that it can stop them first."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from planner.workloads.ranks.stop import SIGNALS, handle_stop_signals


class StopSignal(KeyboardInterrupt):
    """SIGINT, SIGTERM or SIGHUP arrived."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = signal.Signals(number)


@contextlib.contextmanager
def stop_signals() -> Iterator[None]:
    """Raise StopSignal on the first signal. Ignore those that follow, so that the clean-up can finish."""
    if threading.current_thread() is not threading.main_thread():  # Python calls handlers in the main thread only
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        del frame
        for again in SIGNALS:
            signal.signal(again, signal.SIG_IGN)
        raise StopSignal(number)

    before = {number: signal.getsignal(number) for number in SIGNALS}
    handle_stop_signals(stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
