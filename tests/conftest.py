"""Fixtures that every test may use."""

from __future__ import annotations

import difflib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from planner import clock
from planner.model.catalog import Catalog
from tests.bundled import bundled_catalog

GOLDEN = Path(__file__).parent / "golden"
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden from the present output")


class Golden:
    """Compares text that people read with the file that was last reviewed."""

    def __init__(self, *, update: bool) -> None:
        self.update = update

    def check(self, name: str, text: str) -> None:
        path = GOLDEN / name
        if self.update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        expected = path.read_text(encoding="utf-8")
        difference = "\n".join(
            difflib.unified_diff(expected.splitlines(), text.splitlines(), "golden", "now", lineterm="")
        )
        assert expected == text, f"{name} differs (rewrite with --update-golden, then review):\n{difference}"


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    """The bundled catalog, read once a process."""
    return bundled_catalog()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(update=request.config.getoption("--update-golden"))


@pytest.fixture(autouse=True)
def _workspace_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the developer's own workspace or colours."""
    monkeypatch.setenv("PLANNER_HOME", str(tmp_path / "planner-home"))
    monkeypatch.delenv("PLANNER_RUNS", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture(autouse=True)
def _day(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every answer of a test is given on one day, whatever day it is and whether midnight passes or not."""
    monkeypatch.setattr(clock, "now", lambda: NOON)
