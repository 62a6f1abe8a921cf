"""Sets Streamlit up for the pages' tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from scripts.served_app import ROOT, served
from tests.bundled import share


def by_planner(port: int) -> list[str]:
    return [sys.executable, "-m", "planner.cli.main", "ui", "--port", str(port)]


def by_streamlit(port: int) -> list[str]:
    """Serve the app as a user starts it. The configuration beside the script has the other options."""
    script = str(ROOT / "streamlit_app.py")
    return [sys.executable, "-m", "streamlit", "run", script, f"--server.port={port}"]


@pytest.fixture(
    scope="session",
    params=[pytest.param(by_planner, id="planner ui"), pytest.param(by_streamlit, id="streamlit run")],
)
def port(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Return the port of the running app, started both ways, for all tests that send it requests."""
    with served(request.param, tmp_path_factory.mktemp("app")) as port:
        yield port


@pytest.fixture(autouse=True)
def _what_never_changes_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip the search for components, because Streamlit looks through every installed package for a second."""
    share(monkeypatch)
    scanner = pytest.importorskip("streamlit.components.v2.manifest_scanner")
    monkeypatch.setattr(scanner, "scan_component_manifests", list)
