"""Price per accelerator-hour, and detection of impossible prices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from planner.model.hardware.machines import Node
from planner.model.prices.offer import Price

BAND_FACTOR = 10.0
"""Factor by which a price may lie outside everything known of its accelerator.

A price per month would be 730 times too high, one in cents 100 times. The most expensive list is about 10 times the
cheapest marketplace.
"""
ANY_ACCELERATOR = (0.01, 100.0)
"""Allowed USD per accelerator-hour for an accelerator without a bundled price."""

PER_MILLION_TOKENS = (0.01, 1000.0)
"""Allowed USD per million tokens of hosted training.

Lists of 2025 and 2026 ask 0.4 to 25; a price per thousand tokens would be 1,000 times less.
"""

Bands = Mapping[str, tuple[float, float]]


def accelerators_of_price(price: Price, nodes: Mapping[str, Node]) -> tuple[str, int] | None:
    """Return kind and number of the instance's accelerators, from the row itself, otherwise from its node."""
    if price.stated_accelerators is not None:
        return price.stated_accelerators
    node = nodes.get(price.node)
    return None if node is None else (node.accelerator, node.accelerators)


def usd_per_accelerator_hour(price: Price, nodes: Mapping[str, Node]) -> float | None:
    """Return USD per instance-hour / accelerators of the instance; None if either is unknown."""
    devices = accelerators_of_price(price, nodes)
    return None if devices is None or price.usd_per_hour is None else price.usd_per_hour / devices[1]


def price_bands(prices: Iterable[Price], nodes: Mapping[str, Node]) -> dict[str, tuple[float, float]]:
    """Return for each accelerator the lowest known USD per accelerator-hour / 10 and the highest x 10."""
    bands: dict[str, tuple[float, float]] = {}
    for price in prices:
        devices, each = accelerators_of_price(price, nodes), usd_per_accelerator_hour(price, nodes)
        if devices is None or not each:
            continue
        low, high = bands.get(devices[0], (each / BAND_FACTOR, each * BAND_FACTOR))
        bands[devices[0]] = (min(low, each / BAND_FACTOR), max(high, each * BAND_FACTOR))
    return bands


def implausible(price: Price, nodes: Mapping[str, Node], bands: Bands) -> str | None:
    """Return why the price cannot be one per instance-hour (for hosted training, per million tokens).

    Returns None if it can, or if there is nothing to compare with.
    """
    by_tokens = price.usd_per_million_tokens
    if by_tokens is not None and not PER_MILLION_TOKENS[0] <= by_tokens <= PER_MILLION_TOKENS[1]:
        low, high = PER_MILLION_TOKENS
        return (
            f"{by_tokens:.4g} USD per million tokens lies outside {low:g} to {high:g}: a price of one token, of a "
            "thousand, or of a whole training?"
        )
    devices, each = accelerators_of_price(price, nodes), usd_per_accelerator_hour(price, nodes)
    if devices is None or not each:
        return None
    low, high = bands.get(devices[0], ANY_ACCELERATOR)
    if low <= each <= high:
        return None
    guess = "a price per month?" if each > high else "a price per accelerator and minute, or in another currency?"
    return (
        f"{each:.4g} USD per {devices[0]} and hour lies outside {low:.3g} to {high:.4g}, "
        f"ten times beyond every known price: {guess}"
    )
