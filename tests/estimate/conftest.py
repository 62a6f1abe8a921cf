"""The bundled catalog, and a candidate to vary."""

from __future__ import annotations

import pytest

from planner.adapters.catalog import load_catalog
from planner.model.catalog import Catalog


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return load_catalog()
