"""Skips the waits of minutes that most tests do not test."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _settled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No machine comes late: a launch that was given up is over with its first proof."""
    monkeypatch.setattr("planner.launcher.drive.gone.SETTLED_AFTER_S", 0.0)
