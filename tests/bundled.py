"""The bundled catalog, read once a process: tests share it, nothing changes it."""

from __future__ import annotations

from functools import cache

from planner.adapters.catalog import load_catalog
from planner.model.catalog import Catalog


@cache
def bundled_catalog() -> Catalog:
    """Return the catalog that ships with the product, without any workspace."""
    return load_catalog()
