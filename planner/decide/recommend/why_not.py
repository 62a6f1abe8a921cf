"""Why each of the other options is not the recommended one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from planner.decide.recommend.pareto import dominates, hours_and_usd, is_known
from planner.decide.recommend.rank import is_comparable, is_feasible
from planner.decide.recommend.wording import duration_text, usd_text
from planner.model.answer.documents import CampaignOption
from planner.model.plan.plan import CampaignLimits


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
    if not is_comparable(option, limits):
        return option.obstacles or "time or cost is not known"
    assert option.campaign_usd is not None, "it is comparable"
    usd = option.campaign_usd.value
    if not is_feasible(option):
        misses = []
        if not option.meets_deadline:
            misses.append(f"ends on {option.finish}, after the deadline {limits.deadline}")
        if not option.within_budget:
            assert limits.budget_usd is not None
            misses.append(f"costs {usd_text(usd)}, {usd_text(usd - limits.budget_usd)} over the budget")
        return " and ".join(misses)
    known = [other for other in options if is_known(other) and is_known(option) and is_feasible(other)]
    better = next((other for other in known if dominates(other, option)), None)
    if better is not None:
        (hours, _), (better_hours, better_usd) = hours_and_usd(option), hours_and_usd(better)
        return (
            f"dominated by {better.id}: {_compared(hours, better_hours, duration_text, 'slower')}, "
            f"{_compared(usd, better_usd, usd_text, 'dearer')}"
        )
    assert recommended is not None, "a feasible option exists, so one is recommended"
    unchecked = "whether the model fits was not checked; " if option.fits is None else ""
    assert recommended.campaign_usd is not None, "it is feasible"
    money = _compared(usd, recommended.campaign_usd.value, usd_text, "dearer")
    if option.campaign_hours is None or recommended.campaign_hours is None:
        whose = "its" if option.campaign_hours is None else "whose"
        return f"{unchecked}{money} than {recommended.id}, {whose} time is not known"
    time = _compared(option.campaign_hours.value, recommended.campaign_hours.value, duration_text, "slower")
    return f"{unchecked}{time}, {money} than {recommended.id}"


def _compared(value: float, other: float, write: Callable[[float], str], worse: str) -> str:
    better = {"slower": "faster", "dearer": "cheaper"}[worse]
    if value == other:
        return {"slower": "as fast", "dearer": "at the same cost"}[worse]
    return f"{worse if value > other else better} ({write(value)} against {write(other)})"
