"""Fixtures shared by tests of launches from the command line."""

from __future__ import annotations

from tests.launcher.settled import _settled_at_once  # noqa: F401  a fixture
