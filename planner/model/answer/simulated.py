"""A campaign as the simulation sees it: chances, and the spread of cost and end."""

from __future__ import annotations

from datetime import date

from planner.model.base import Frozen


class SimulatedSpread(Frozen):
    """Of a simulated campaign: a tenth of all ends below p10, half below p50, nine tenths below p90."""

    p10: float
    p50: float
    p90: float


class SimulatedCampaign(Frozen):
    """A plan, played through many times (docs/simulation.md)."""

    replications: int
    seed: int
    chance_deadline: float | None
    """Null without a deadline."""
    chance_budget: float | None
    """Null without a budget."""
    chance: float | None
    """That it keeps both together."""
    usd: SimulatedSpread
    hours: SimulatedSpread
    """From the campaign's start to the end of the last run."""
    finish: tuple[date, ...]
    """The same as days."""
