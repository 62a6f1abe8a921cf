"""The country that somebody means by its code, in any case."""

from __future__ import annotations

from planner.model.catalog import Catalog


def country_code(text: str | None, catalog: Catalog) -> str | None:
    """Return the code of a known country, as `--country` names it; NotFoundError where there is none."""
    if text is None:
        return None
    return catalog.find_country(text.strip().upper(), where="--country").id
