"""Sets Streamlit up for the pages' tests."""

from __future__ import annotations

import pytest

from tests.bundled import share


@pytest.fixture(autouse=True)
def _what_never_changes_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip the search for components, because Streamlit looks through every installed package for a second."""
    share(monkeypatch)
    scanner = pytest.importorskip("streamlit.components.v2.manifest_scanner")
    monkeypatch.setattr(scanner, "scan_component_manifests", list)
