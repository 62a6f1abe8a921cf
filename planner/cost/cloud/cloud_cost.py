"""Cost of rented machines from their hours."""

from __future__ import annotations

from planner.quantity.formula import formula
from planner.quantity.interval import Interval


@formula("USD", inputs={"nodes": ("", "the option: nodes"), "trainings": ("", "the plan: campaign.runs")})
def rent_usd(*, hours: Interval, nodes: int, usd_per_node_hour: Interval, trainings: int = 1) -> Interval:
    """Return the cost of renting the nodes while they train.

    USD = trainings x nodes x hours x USD per node-hour

    Leaves out all other lines of the bill (planner/cost/cloud/bill.py).        Source: definition.
    """
    return hours.times(usd_per_node_hour).scaled(trainings * nodes)
