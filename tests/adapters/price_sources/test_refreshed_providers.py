"""The catalog says of which providers a refresh brings new prices: those that a source reads."""

from __future__ import annotations

from planner.adapters.price_sources import gpuhunt, skypilot
from tests.bundled import bundled_catalog


def test_the_providers_that_are_refreshed_are_those_that_sources_read() -> None:
    read = {gpuhunt.OUR_NAMES.get(name, name) for name in gpuhunt.PROVIDERS} | set(skypilot.CLOUDS) | {"aws", "azure"}
    said = {name for name, provider in bundled_catalog().providers.items() if provider.refreshed}
    assert said == read
