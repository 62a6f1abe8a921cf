"""The recommendation in one sentence: what to take, how sure that is, and what the reader must not overlook."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from planner.decide.recommend.rank import preference
from planner.decide.recommend.switching import switching_text
from planner.decide.recommend.wording import duration_text, limits_text, spread_text, usd_text
from planner.model.answer.documents import CampaignOption, SwitchingRate
from planner.model.answer.reason import PLACES
from planner.model.plan.plan import CampaignLimits, Owning, Prefer
from planner.model.prices.offer import PriceKind
from planner.model.quantity import Basis, Quantity


def take(
    feasible: Sequence[CampaignOption],
    limits: CampaignLimits,
    *,
    deadline_hours: float,
    today: date,
    switches: Sequence[SwitchingRate] = (),
) -> tuple[str, ...]:
    """Return the sentence's clauses for the first of the feasible options, which are in order of preference."""
    option = feasible[0]
    assert option.campaign_usd is not None
    hours, usd = option.campaign_hours, option.campaign_usd
    one = limits.runs == 1
    trainings = "one training" if one else f"{limits.runs} trainings"
    if hours is not None:
        takes = "takes" if one else "take"
        trainings += f" {takes} {duration_text(hours.value)} ({spread_text(hours, duration_text)}) and"
    counted = {Owning.MARGINAL: " of electricity", Owning.FULL: " with all of owning it", None: ""}[option.owning]
    money = f"cost{'s' if one else ''} {usd_text(usd.value)}{counted}"
    among = "the only option" if len(feasible) == 1 else f"the {_best(limits)} of {len(feasible)} options"
    return (
        f"Take {option.id}: {trainings} {money} ({spread_text(usd, usd_text)}), {among} that "
        f"meet{'s' if len(feasible) == 1 else ''} {limits_text(limits)}",
        f"time is {_basis(option)}{_past_the_limits(option, limits, deadline_hours=deadline_hours)}",
        *_alternatives(option, feasible, limits),
        *_caveats(option, limits, today=today),
        *([switching_text(switches)] if switches else []),
    )


def nothing_feasible(
    nearest: CampaignOption | None, limits: CampaignLimits, *, deadline_hours: float
) -> tuple[str, ...]:
    """Return the clauses where no option meets the limits: which one binds, and the nearest option."""
    if nearest is None:
        return ("No option can be recommended: of none are both time and cost known", "see why_not of each")
    if nearest.not_allowed_reasons:
        reasons = nearest.not_allowed_reasons
        what = "lies where the plan allows it" if reasons[0].code in PLACES else "can take the work"
        clauses = [reason.text for reason in reasons]
        return (f"No option {what}. Of {nearest.id}: {clauses[0]}", *clauses[1:])
    assert nearest.campaign_usd is not None, "it is comparable"
    usd, hours = nearest.campaign_usd.value, nearest.campaign_hours.value if nearest.campaign_hours else 0.0
    misses = []
    if not nearest.meets_deadline and deadline_hours <= 0:
        misses.append(f"the deadline {limits.deadline} has passed")
    elif not nearest.meets_deadline:
        misses.append(
            f"the deadline {limits.deadline} binds: it needs {duration_text(hours)}, there are "
            f"{duration_text(deadline_hours)}"
        )
    if not nearest.within_budget:
        misses.append(f"the budget of {usd_text(limits.budget_usd or 0.0)} binds: it costs {usd_text(usd)}")
    first, *others = misses
    return (f"No option meets {limits_text(limits)}. The nearest is {nearest.id}: {first}", *others)


def _best(limits: CampaignLimits) -> str:
    return "cheapest" if preference(limits) is Prefer.COST else "fastest"


def _basis(option: CampaignOption) -> str:
    if option.campaign_hours is None:
        return "not known: the service does not say"
    if option.throughput is None:  # the plan's word on a service
        return option.campaign_hours.basis.value
    basis = option.throughput.basis
    if basis is Basis.MEASURED:
        return f"measured ({', '.join(option.runs) or 'by you'})"
    if basis is Basis.MODELLED and option.runs:
        return f"modelled from {', '.join(option.runs)}, nobody measured it there"
    if basis is Basis.MODELLED:
        return "modelled from a share of the peak, nobody measured it"
    return basis.value


def _past_the_limits(option: CampaignOption, limits: CampaignLimits, *, deadline_hours: float) -> str:
    """Warn where the range, unlike the value, reaches past a limit."""
    assert option.campaign_usd is not None
    past = []
    if option.campaign_hours is not None and option.campaign_hours.high > deadline_hours:
        past.append("the deadline")
    if limits.budget_usd is not None and option.campaign_usd.high > limits.budget_usd:
        past.append("the budget")
    return f", and the range reaches past {' and '.join(past)}" if past else ""


def _alternatives(option: CampaignOption, feasible: Sequence[CampaignOption], limits: CampaignLimits) -> list[str]:
    """Name what to compare an owned or modelled option with: the best rented one, the best measured one."""
    others = feasible[1:]
    rented = next((other for other in others if other.offer is not None), None)
    measured = next((other for other in others if _is_measured(other)), None)
    named = {}
    if option.site is not None and rented is not None:
        named[rented.id] = f"the {_best(limits)} rented option is {_in_short(rented)}"
    if not _is_measured(option) and measured is not None:
        named.setdefault(measured.id, f"the {_best(limits)} measured option is {_in_short(measured)}")
    return list(named.values())


def _caveats(option: CampaignOption, limits: CampaignLimits, *, today: date) -> list[str]:
    caveats = []
    if option.owning is Owning.MARGINAL:
        against = ", and the budget is held against electricity alone" if limits.budget_usd is not None else ""
        full = option.usd_total
        owning = f", which in full comes to {usd_text(full.value * limits.runs)}" if full is not None else ""
        caveats.append(f"buying or owning {option.id} is not counted{owning}{against}")
    if option.price_kind is PriceKind.SPOT and option.usd_per_hour is not None:
        caveats.append(_of_spot(option, option.usd_per_hour))
    if option.price_kind is PriceKind.HOSTED_TRAINING:
        caveats.append("that the service does this very work (the network, the method) is the plan's word")
    if option.smallest_purchase_usd is not None:
        bought = usd_text(option.smallest_purchase_usd.value)
        caveats.append(f"that holds {bought} for a term longer than the work")
    if option.fits is None:
        caveats.append("whether the model fits there was not checked")
    if limits.start is not None and limits.start < today:
        caveats.append(f"the start {limits.start} lies in the past")
    if option.doubts:
        more = f" (and {len(option.doubts) - 1} more)" if len(option.doubts) > 1 else ""
        caveats.append(f"but the evidence is doubtful: {option.doubts[0].rstrip('.')}{more}")
    return caveats


def _of_spot(option: CampaignOption, price: Quantity) -> str:
    whose = "the plan's own" if price.as_of is None else f"of {price.as_of}"
    counted = option.time is not None and option.time.interruptions is not None
    interruptions = "how often it is preempted is assumed" if counted else "interruptions are not counted one by one"
    return f"its spot price is {whose}, and {interruptions}"


def _is_measured(option: CampaignOption) -> bool:
    return option.throughput is not None and option.throughput.basis is Basis.MEASURED


def _in_short(option: CampaignOption) -> str:
    assert option.campaign_usd is not None, "it is feasible"
    time = duration_text(option.campaign_hours.value) if option.campaign_hours else "in a time not known,"
    return f"{option.id}, {time} for {usd_text(option.campaign_usd.value)}"
