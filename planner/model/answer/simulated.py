"""A simulated campaign: chances, and the spread of cost and end."""

from __future__ import annotations

from datetime import date

from planner.model.base import Frozen


class SimulatedSpread(Frozen):
    """Quantiles of a simulated campaign: a tenth of all ends are below p10, half below p50, nine tenths below p90."""

    p10: float
    p50: float
    p90: float


class SimulatedCampaign(Frozen):
    """A plan, played through many times (docs/simulation.md)."""

    replications: int
    seed: int
    chance_deadline: float | None
    """Chance to meet the deadline; null without one."""
    chance_budget: float | None
    """Chance to keep the budget; null without one."""
    chance: float | None
    """Chance that it keeps both together."""
    usd: SimulatedSpread
    hours: SimulatedSpread
    """Hours from the campaign's start to the end of the last run."""
    finish: tuple[date, ...]
    """Days on which the last run ends."""
