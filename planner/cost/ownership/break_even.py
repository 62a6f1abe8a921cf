"""Utilization at which an owned machine costs no more than the cloud."""

from __future__ import annotations

from dataclasses import replace

from planner.cost.ownership.owned_cost import OwnedInputs, annual_cost, busy_gpu_hours_per_year


def break_even_utilisation(inputs: OwnedInputs, *, rent_usd_per_gpu_hour: float) -> float | None:
    """Return the utilization at which a busy GPU-hour costs as much as renting one.

    share = cost of a year idle / (rent of a year busy - what busy adds to the cost of a year)

    The annual cost is linear in the busy share, so this is exact. Over 1 means that even a machine that is always busy
    costs more. None means that its power alone costs more than the rent.
    """
    idle = annual_cost(replace(inputs, busy_fraction=0.0)).total
    busy = replace(inputs, busy_fraction=1.0)
    per_share = rent_usd_per_gpu_hour * busy_gpu_hours_per_year(busy) - (annual_cost(busy).total - idle)
    if per_share <= 0:
        return None
    return max(0.0, idle / per_share)
