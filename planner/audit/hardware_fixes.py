"""Parts that would make a run faster, if they exist for its machine: cost, gain and payback."""

from __future__ import annotations

from collections.abc import Sequence

from planner.model.answer.run_check import HardwareFix
from planner.model.catalog import Catalog
from planner.model.hardware.machines import Link, Upgrade
from planner.model.prices.offer import Price, PriceKind
from planner.quantity.formula import formula
from planner.speed.diagnosis.diagnose import SMALLEST_GAIN, gain_range
from planner.speed.diagnosis.run_setup import RunSetup, expectations

HOUR_KINDS = (PriceKind.ON_DEMAND, PriceKind.MARKETPLACE)
"""Kinds of prices that value an hour of such accelerators."""


def hardware_fixes(setup: RunSetup, parts: Sequence[Upgrade], catalog: Catalog) -> tuple[HardwareFix, ...]:
    """Return the parts that gain at least 5 %, the fastest payback first.

    payback = price / (USD of an hour of such accelerators x (gain - 1)): hours of training that would be saved.
    """
    calibration = catalog.calibration_for(setup.training.sample)
    if calibration is None:
        return ()
    tried = [(part, changed) for part in parts if (changed := _changed(setup, part)) is not None]
    base, *others = expectations([setup, *(changed for _, (changed, _) in tried)], calibration)
    hour = _cheapest_hour(setup, catalog)
    fixes = []
    for (part, (_, count)), answer in zip(tried, others, strict=True):
        if base is None or answer is None or answer.value < SMALLEST_GAIN * base.value:
            continue
        fixes.append(_fix(part, count, answer.value / base.value, hour, setup))
    return tuple(sorted(fixes, key=lambda fix: fix.payback_hours or float("inf")))


@formula("h")
def payback_hours(*, usd: float, usd_per_hour: float, gain: float) -> float:
    """Return the hours of training after which a part has paid off: USD / (USD an hour of the machine x (gain - 1))."""
    return usd / (usd_per_hour * (gain - 1))


def _changed(setup: RunSetup, part: Upgrade) -> tuple[RunSetup, int] | None:
    """Return the run with the part, and the number needed; None if it changes nothing or does not fit."""
    if not part.fits(setup.accelerator.id):
        return None
    if part.kind == "network":
        fast = setup.node.network_gbit_per_s
        if setup.nodes < 2 or setup.nodes > part.joins or fast is None or (part.gbit_per_s or 0) <= fast:
            return None
        return setup.changed(node=setup.node.with_network(part.gbit_per_s or fast)), 1
    if setup.node.link not in (Link.PCIE, Link.PCIE_NO_P2P) or setup.per_node < part.joins:
        return None
    if setup.per_node == part.joins:
        return setup.changed(node=setup.node.model_copy(update={"link": Link.NVLINK})), setup.nodes
    config = setup.config()
    if config is None or config["bus_sharers"] <= 1:
        return None
    # with more cards, every second transfer of a ring stays within a pair, and leaves the bus
    sharers = max(1.0, config["bus_sharers"] / part.joins)
    overrides = {**setup.overrides, "bus_sharers": sharers}
    return setup.changed(overrides=overrides), setup.nodes * (setup.per_node // part.joins)


def _cheapest_hour(setup: RunSetup, catalog: Catalog) -> tuple[float, Price] | None:
    """Return the USD per hour of one such accelerator at its cheapest, with the price row."""
    known = []
    for price in (*catalog.own_prices, *catalog.prices):
        node = catalog.nodes.get(price.node)
        if node and node.accelerator == setup.accelerator.id and price.usd_per_hour and price.price_kind in HOUR_KINDS:
            known.append((price.usd_per_hour / node.accelerators, price))
    return min(known, key=lambda hour: hour[0], default=None)


def _fix(part: Upgrade, count: int, gain: float, hour: tuple[float, Price] | None, setup: RunSetup) -> HardwareFix:
    low, high = gain_range(gain)
    rate = None if hour is None else hour[0] * setup.devices
    return HardwareFix(
        part=part.name,
        count=count,
        usd=part.usd * count,
        usd_low=part.usd_low * count,
        usd_high=part.usd_high * count,
        gain=gain,
        gain_low=low,
        gain_high=high,
        usd_per_hour=rate,
        hour_source=None if hour is None else f"{hour[1].node} {hour[1].price_kind.value}, {hour[1].as_of}",
        payback_hours=None if not rate else payback_hours(usd=part.usd * count, usd_per_hour=rate, gain=gain),
        payback_low=None if not rate else payback_hours(usd=part.usd_low * count, usd_per_hour=rate, gain=high),
        payback_high=None if not rate else payback_hours(usd=part.usd_high * count, usd_per_hour=rate, gain=low),
        source=f"{part.source} ({part.as_of})",
    )
