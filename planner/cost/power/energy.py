"""Energy at the node from hours, and its cost for an owner."""

from __future__ import annotations

from planner.quantity.formula import formula
from planner.quantity.interval import Interval


@formula("kWh", inputs={"nodes": ("", "the option: nodes")})
def node_energy_kwh(*, hours: Interval, nodes: int, power_kw: Interval) -> Interval:
    """Return the energy that the nodes draw, before cooling and distribution.

    kWh = hours x nodes x kW of one node        Source: definition.
    """
    return hours.times(power_kw).scaled(nodes)


@formula("USD", name="electricity_usd")
def energy_usd(*, energy_kwh: Interval, pue: Interval, usd_per_kwh: Interval) -> Interval:
    """Return the cost of that energy, with everything the building adds.

    USD = kWh x PUE x USD/kWh        Source: definition of PUE, ISO/IEC 30134-2.
    """
    return energy_kwh.times(pue).times(usd_per_kwh)


@formula("kgCO2e")
def carbon_kg(*, energy_kwh: Interval, pue: Interval, kg_per_kwh: float) -> Interval:
    """Return the emissions of that energy, with everything the building adds, in kg of CO2 equivalent.

    kg = kWh x PUE x kg/kWh        Leaves out making the machine. Source: definition, GHG Protocol scope 2.
    """
    return energy_kwh.times(pue).scaled(kg_per_kwh)


@formula("kW", inputs={"rated_kw": ("kW", "rated power of a node, by its data sheet or from its parts")})
def average_power_kw(*, rated_kw: float, busy_fraction: float, training: Interval, idle: Interval) -> Interval:
    """Return the power of a node of which a share of the accelerators trains and the rest idles.

    kW = rated x (training x busy + idle x (1 - busy))

    `training` and `idle` are shares of rated power; `busy_fraction` in (0, 1] is the share of accelerators at work.
    Source: measured node power in training over rated power, arXiv 2506.14551.
    """

    def mix(train: float, rest: float) -> float:
        return rated_kw * (train * busy_fraction + rest * (1 - busy_fraction))

    return Interval(mix(training.value, idle.value), mix(training.low, idle.low), mix(training.high, idle.high))
