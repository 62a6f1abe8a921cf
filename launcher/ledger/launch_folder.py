"""Folder of a launch in the workspace, and the lock that lets one client at a time drive it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from planner.errors import StoreError

LOCK_NAME = "driver.lock"


def home_of(folder: Path, run_id: str) -> Path:
    """Return the folder of a launch, created if missing."""
    home = folder / run_id
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{home}: cannot be made: {error.strerror}.", fix="Check the disk and the place.") from error
    return home


@contextmanager
def driving_lock(home: Path) -> Iterator[bool]:
    """Hold the right to drive a launch; yields False if another client has it. The lock ends with its client."""
    from filelock import FileLock, Timeout

    lock = FileLock(home / LOCK_NAME, blocking=False)
    try:
        with suppress(Timeout):
            lock.acquire()
    except OSError as error:
        raise StoreError(
            f"{home}: cannot be written: {error.strerror}.", fix="Check the disk and the place."
        ) from error
    try:
        yield lock.is_locked
    finally:
        lock.release()
