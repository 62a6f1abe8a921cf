"""How durations, dollars and limits read in a sentence."""

from __future__ import annotations

from collections.abc import Callable

from planner.model.plan.plan import CampaignLimits
from planner.model.quantity import Quantity


def duration_text(hours: float) -> str:
    """Write hours as a person would: minutes, hours or days."""
    return " ".join(duration_parts(hours))


def duration_parts(hours: float) -> tuple[str, str]:
    """Return the number and the unit of `duration_text`."""
    if hours < 1:
        return f"{hours * 60:.3g}", "minutes"
    return (f"{hours:.3g}", "hours") if hours < 48 else (f"{hours / 24:,.4g}", "days")


def usd_text(usd: float) -> str:
    """Write dollars with cents below 100."""
    return f"{usd:,.2f} USD" if usd < 100 else f"{usd:,.0f} USD"


def spread_text(quantity: Quantity, write: Callable[[float], str]) -> str:
    """Write a 90 % range."""
    return f"90 %: {write(quantity.low)} to {write(quantity.high)}"


def limits_text(limits: CampaignLimits) -> str:
    """Write which limits the plan sets."""
    parts = []
    if limits.deadline is not None:
        parts.append(f"the deadline {limits.deadline}")
    if limits.budget_usd is not None:
        parts.append(f"the budget of {usd_text(limits.budget_usd)}")
    return " and ".join(parts) or "the plan, which sets no deadline and no budget"
