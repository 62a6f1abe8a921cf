"""Why each of the other options is not the recommended one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from planner.model.answer import CampaignOption
from planner.model.plan import CampaignLimits
from planner.recommend.pareto import dominates, hours_and_usd, is_known
from planner.recommend.rank import is_feasible
from planner.recommend.wording import duration_text, usd_text


def why_not(
    option: CampaignOption,
    recommended: CampaignOption | None,
    options: Sequence[CampaignOption],
    limits: CampaignLimits,
) -> str | None:
    """Return why this option is not the recommended one; None for the recommended one itself."""
    if recommended is not None and option.id == recommended.id:
        return None
    if option.not_allowed is not None:
        return f"not allowed: {option.not_allowed}"
    if not is_known(option):
        return option.obstacles or "time or cost is not known"
    hours, usd = hours_and_usd(option)
    if not is_feasible(option):
        misses = []
        if not option.meets_deadline:
            misses.append(f"ends on {option.finish}, after the deadline {limits.deadline}")
        if not option.within_budget:
            assert limits.budget_usd is not None
            misses.append(f"costs {usd_text(usd)}, {usd_text(usd - limits.budget_usd)} over the budget")
        return " and ".join(misses)
    better = next((other for other in options if is_feasible(other) and dominates(other, option)), None)
    if better is not None:
        better_hours, better_usd = hours_and_usd(better)
        return (
            f"dominated by {better.id}: {_compared(hours, better_hours, duration_text, 'slower')}, "
            f"{_compared(usd, better_usd, usd_text, 'dearer')}"
        )
    assert recommended is not None, "a feasible option exists, so one is recommended"
    unchecked = "whether the model fits was not checked; " if option.fits is None else ""
    best_hours, best_usd = hours_and_usd(recommended)
    time, money = _compared(hours, best_hours, duration_text, "slower"), _compared(usd, best_usd, usd_text, "dearer")
    return f"{unchecked}{time}, {money} than {recommended.id}"


def _compared(value: float, other: float, write: Callable[[float], str], worse: str) -> str:
    better = {"slower": "faster", "dearer": "cheaper"}[worse]
    if value == other:
        return {"slower": "as fast", "dearer": "at the same cost"}[worse]
    return f"{worse if value > other else better} ({write(value)} against {write(other)})"
