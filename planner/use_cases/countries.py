"""Reads country codes in upper or lower case."""

from __future__ import annotations

from planner.model.catalog import Catalog


def country_code(text: str | None, catalog: Catalog) -> str | None:
    """Return the code of a known country. Raises NotFoundError for an unknown one."""
    if text is None:
        return None
    return catalog.find_country(text.strip().upper(), where="--country").id
