"""Says in one sentence which option to take and why, and for every other one why not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from planner.model.answer import CampaignOption
from planner.model.plan import CampaignLimits, Prefer
from planner.model.quantity import Basis, Quantity
from planner.recommend.pareto import dominates, hours_and_usd, is_known
from planner.recommend.rank import is_feasible, preference


def duration_text(hours: float) -> str:
    """Write hours as a person would: minutes, hours or days."""
    if hours < 1:
        return f"{hours * 60:.3g} minutes"
    return f"{hours:.3g} hours" if hours < 48 else f"{hours / 24:,.4g} days"


def usd_text(usd: float) -> str:
    """Write dollars with cents below 100."""
    return f"{usd:,.2f} USD" if usd < 100 else f"{usd:,.0f} USD"


def take(
    option: CampaignOption, limits: CampaignLimits, *, feasible: int, best_rented: CampaignOption | None = None
) -> str:
    """Return the sentence for the recommended option.

    An owned machine counts its electricity alone here, so the best rented option is named beside it.
    """
    assert option.campaign_hours is not None
    assert option.campaign_usd is not None
    hours, usd = option.campaign_hours, option.campaign_usd
    best = "cheapest" if preference(limits) is Prefer.COST else "fastest"
    among = "the only option" if feasible == 1 else f"the {best} of {feasible} options"
    one = limits.runs == 1
    trainings = "one training takes" if one else f"{limits.runs} trainings take"
    money = f"cost{'s' if one else ''} {usd_text(usd.value)}{' of electricity' if option.site is not None else ''}"
    beside = ""
    if best_rented is not None:
        rented_hours, rented_usd = hours_and_usd(best_rented)
        beside = (
            f"; what owning costs is not counted, and the {best} rented option, {best_rented.id}, takes "
            f"{duration_text(rented_hours)} for {usd_text(rented_usd)}"
        )
    doubtful = f"; but the evidence is doubtful: {_first_of(option.doubts)}" if option.doubts else ""
    return (
        f"Take {option.id}: {trainings} {duration_text(hours.value)} ({_range(hours, duration_text)}) and "
        f"{money} ({_range(usd, usd_text)}), {among} that meet{'s' if feasible == 1 else ''} "
        f"{_limits_text(limits)}; time is {_basis(option)}{_doubt(option, limits)}{beside}{doubtful}."
    )


def nothing_feasible(nearest: CampaignOption | None, limits: CampaignLimits, *, deadline_hours: float) -> str:
    """Return the sentence where no option meets the limits: which one binds, and the nearest option."""
    if nearest is None:
        return "No option can be recommended: of none are both time and cost known; see why_not of each."
    hours, usd = hours_and_usd(nearest)
    misses = []
    if not nearest.meets_deadline:
        misses.append(
            f"the deadline {limits.deadline} binds: it needs {duration_text(hours)}, there are "
            f"{duration_text(max(deadline_hours, 0.0))}"
        )
    if not nearest.within_budget:
        misses.append(f"the budget of {usd_text(limits.budget_usd or 0.0)} binds: it costs {usd_text(usd)}")
    return f"No option meets {_limits_text(limits)}. The nearest is {nearest.id}: {'; '.join(misses)}."


def why_not(
    option: CampaignOption,
    recommended: CampaignOption | None,
    options: Sequence[CampaignOption],
    limits: CampaignLimits,
) -> str | None:
    """Return why this option is not the recommended one; None for the recommended one itself."""
    if recommended is not None and option.id == recommended.id:
        return None
    if not is_known(option):
        return option.why_not or "time or cost is not known"
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
    best_hours, best_usd = hours_and_usd(recommended)
    return (
        f"{_compared(hours, best_hours, duration_text, 'slower')}, {_compared(usd, best_usd, usd_text, 'dearer')} "
        f"than {recommended.id}"
    )


def _first_of(doubts: Sequence[str]) -> str:
    more = f" (and {len(doubts) - 1} more)" if len(doubts) > 1 else ""
    return doubts[0].rstrip(".") + more


def _compared(value: float, other: float, write: Callable[[float], str], worse: str) -> str:
    better = {"slower": "faster", "dearer": "cheaper"}[worse]
    if value == other:
        return {"slower": "as fast", "dearer": "at the same cost"}[worse]
    return f"{worse if value > other else better} ({write(value)} against {write(other)})"


def _range(quantity: Quantity, write: Callable[[float], str]) -> str:
    return f"90 %: {write(quantity.low)} to {write(quantity.high)}"


def _limits_text(limits: CampaignLimits) -> str:
    parts = []
    if limits.deadline is not None:
        parts.append(f"the deadline {limits.deadline}")
    if limits.budget_usd is not None:
        parts.append(f"the budget of {usd_text(limits.budget_usd)}")
    return " and ".join(parts) or "the plan, which sets no deadline and no budget"


def _basis(option: CampaignOption) -> str:
    assert option.throughput is not None
    basis = option.throughput.basis
    if basis is Basis.MEASURED:
        return f"measured ({', '.join(option.runs) or 'by you'})"
    if basis is Basis.MODELLED and option.runs:
        return f"modelled from {', '.join(option.runs)}, nobody measured it there"
    return basis.value


def _doubt(option: CampaignOption, limits: CampaignLimits) -> str:
    """Warn where the range, unlike the value, reaches past a limit."""
    assert option.campaign_hours is not None
    assert option.campaign_usd is not None
    doubts = []
    if limits.deadline is not None and option.finish is not None:
        days = (limits.deadline - option.finish).days
        if option.campaign_hours.high - option.campaign_hours.value > (days + 1) * 24:
            doubts.append("the deadline")
    if limits.budget_usd is not None and option.campaign_usd.high > limits.budget_usd:
        doubts.append("the budget")
    return f", and the range reaches past {' and '.join(doubts)}" if doubts else ""
