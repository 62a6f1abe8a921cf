"""Hours to dollars on rented machines."""

from __future__ import annotations

from planner.quantity.interval import Interval


def rent_usd(*, hours: Interval, nodes: int, usd_per_node_hour: Interval) -> Interval:
    """What renting the nodes costs while they train.

    USD = hours x nodes x USD per node-hour

    Leaves out all that stands beside the hours on the bill (planner/cost/cloud/bill.py).        Source: definition.
    """
    return hours.times(usd_per_node_hour).scaled(nodes)
