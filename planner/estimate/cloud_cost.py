"""Hours to dollars on rented machines."""

from __future__ import annotations

from planner.estimate.interval import Interval


def rent_usd(*, hours: Interval, nodes: int, usd_per_node_hour: Interval) -> Interval:
    """What renting the nodes costs while they train.

    USD = hours x nodes x USD per node-hour

    Leaves out set-up, storage, egress, and minimum terms (named beside the answer where the price has one).
    Source: definition.
    """
    return hours.times(usd_per_node_hour).scaled(nodes)
