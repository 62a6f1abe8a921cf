"""Estimate time and cost of a campaign on one option. `chances.py` adds how surely it keeps the limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date

from planner.cost.cloud.allocation import allocation_reasons
from planner.cost.cloud.bill import Billed, BilledTrainings
from planner.cost.cloud.billing_terms import BLOCK_LAST_HOURS
from planner.cost.cloud.credits import with_credits
from planner.cost.ownership.life import life_reasons
from planner.decide.campaign.bills_by_hours import cost_by_hours
from planner.decide.campaign.campaign_bill import campaign_bill
from planner.decide.campaign.held import bought, campaign_money, held_hours, kept_entries
from planner.decide.campaign.ready import Ready, ready
from planner.decide.campaign.run_groups import ALL_RUNS, Runs, longest_lane, mean_work
from planner.decide.campaign.sets_of_machines import sets_at_once
from planner.decide.campaign.turns import between_turns, with_turns
from planner.decide.options.option import EstimatedOption, begun_after
from planner.decide.options.option_money import assumed_rates
from planner.duration.between_turns import longest_run
from planner.duration.calendar import Calendar
from planner.model.answer.bill import Bill
from planner.model.answer.campaign import BetweenTurns, LastingCredit
from planner.model.answer.option_estimate import CampaignOption, OptionEstimate
from planner.model.answer.reason import Reason, ReasonCode, text_of
from planner.model.catalog import Catalog
from planner.model.owning.acquisition import Hold
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.plan.option_times import Queue, Tries
from planner.model.plan.plan import Owning
from planner.model.prices.offer import PriceKind
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import MATERIAL_FRACTION, derived, interval
from planner.quantity.formula import named
from planner.quantity.interval import sum_of
from planner.quantity.time_units import HOURS_PER_DAY
from planner.scenario.allowed_offers import provider_of

OF_CAMPAIGN = ("notes", "bill", "assumed_rates", "smallest_purchase_usd", "not_allowed", "not_allowed_reasons")
"""Fields of one training's estimate that a campaign replaces."""


def campaign_option(
    estimated: EstimatedOption,
    limits: CampaignLimits,
    catalog: Catalog,
    *,
    today: date,
    groups: Sequence[Runs] | None = None,
) -> CampaignOption:
    """Run the plan's campaign on this option alone.

    campaign_hours = ceil(runs / at_once) x (wall-clock hours of a training + startup hours if rented) / (1 - other_use)
    campaign_usd   = total of the campaign's bill (planner/cost/cloud/bill.py)

    Unlike `groups` take the hours of the lane that ends last (`longest_lane`). Turns of others add to them
    (`turns.py`). An owned machine costs runs x usd_marginal; one that is bought also costs its keeping
    (planner/cost/ownership/purchase.py).

    `at_once` trainings run side by side, each on its own machines. A cloud is assumed to have enough of them; a site
    runs at most floor(its nodes / nodes per training). The hours leave out queueing. The campaign starts on
    `limits.start`, else today, and not before the machine is ready.
    """
    from planner.decide.outcomes.option_outcomes import TimedOption

    estimate = estimated.option
    groups = groups or (Runs(ALL_RUNS, limits.runs, 1.0),)
    at_once = sets_at_once(estimated, limits, groups)
    calendar = Calendar.of(limits, today=today)
    readiness = ready(estimated, catalog, calendar, today=today)
    estimated = begun_after(estimated, readiness.hours)
    hours = _campaign_hours(estimated, groups, at_once, limits.runs)
    timed = TimedOption.of(estimate)
    alone = timed.hours_at(hours, limits.confidence, runs=limits.runs, at_once=at_once) if hours else 0.0
    mean = mean_work(groups)
    work = BilledTrainings(
        trainings=limits.runs, at_once=at_once, longer=alone / hours.value if hours and alone else 1.0,
        shares=tuple((group.runs, group.work / mean) for group in groups) if len(groups) > 1 else (),
    )  # fmt: skip
    between = between_turns(estimated, hours, at_once, limits, readiness, calendar)
    hours = with_turns(hours, between)
    finish = calendar.last_day(readiness.hours + hours.value) if hours else None
    days = (finish - readiness.on).days + 1 if finish else None
    nodes = (estimate.nodes or 0) * work.sets
    purchase = bought(estimated, catalog, nodes=nodes, days=days)
    billed = campaign_bill(estimated, work, kept_entries(estimated, nodes=nodes, days=days),
                           share=mean_work(groups))  # fmt: skip
    usd = billed.usd if billed and (purchase or estimate.hold is not Hold.BUY) else None
    each = between.run_hours if between else hours
    lasting = _lasting_credits(estimate, catalog, between, calendar, since=readiness)
    cost = cost_by_hours(estimated, work, share=mean_work(groups), usd=usd if each else None, credits=lasting)
    money = campaign_money(estimated, campaign_usd=usd, purchase=purchase, hours=each, cost=cost, runs=limits.runs)
    bill = _after_credits(billed, estimate, catalog, finish)
    surely = alone
    if between is not None:
        surely = timed.hours_at(
            between.run_hours, limits.confidence, runs=limits.runs, at_once=at_once, between=between
        )
    ended = calendar.last_day(readiness.hours + surely) if hours else None
    longer = surely / hours.value if hours else 1.0
    of_allocation = allocation_reasons(estimated.price, bill=bill, finish=ended, longer=longer)
    of_life = _life_reasons(estimated, catalog, hours)
    of_windows, of_groups = window_reasons(estimated, surely), _group_reasons(groups, estimate.nodes)
    reasons = (*estimated.limit_reasons, *of_allocation, *of_life, *of_windows, *of_groups)
    unchanged = {name: value for name, value in estimate if name not in OF_CAMPAIGN}
    return CampaignOption(
        **unchanged,
        notes=estimate.notes + _notes(estimated, limits, at_once, readiness),
        bill=bill,
        assumed_rates=assumed_rates(bill),
        smallest_purchase_usd=billed.bought if billed else None,
        not_allowed=text_of(reasons),
        not_allowed_reasons=reasons,
        owning=Owning.MARGINAL if estimate.site is not None else None,
        at_once=at_once,
        campaign_hours=hours,
        between_turns=between,
        campaign_usd=usd,
        finish=finish,
        meets_deadline=None,
        within_budget=None,
        pay_now_usd=money.pay_now_usd,
        cash_usd=money.cash_usd,
        to_pay_usd=money.to_pay_usd,
        taken_off_usd=money.taken_off_usd,
        left_usd=money.left_usd,
        full_usd=money.full_usd,
        ready_on=readiness.on,
        wait_hours=readiness.hours,
        lead_days=readiness.lead,
        done_by=finish,
        queued=_queued(estimated),
        paid_ahead_hours=_paid_ahead_hours(estimated, bill, work),
        cost_by_hours=cost,
        closes_hours=closing(estimated, calendar),
    )


def closing(estimated: EstimatedOption, calendar: Calendar) -> float | None:
    """Return the hours from the campaign's start until a window or a grant ends; None for other options."""
    price, window = estimated.price, estimated.candidate.option.window if estimated.candidate is not None else None
    if window is not None:
        return calendar.hours(window.end) - BLOCK_LAST_HOURS
    granted = price is not None and price.price_kind is PriceKind.GRANT
    return calendar.end_of(price.valid_until) if price is not None and granted and price.valid_until else None


def _queued(estimated: EstimatedOption) -> Queue | Tries | None:
    machine = estimated.candidate
    if machine is None or machine.option.wait_hours is not None:
        return None
    return machine.option.queue or machine.option.tries


def _paid_ahead_hours(estimated: EstimatedOption, bill: Bill | None, work: BilledTrainings) -> float | None:
    """Return the usable hours of a block, a window, a lease, a paid term, or of an allocation's node-hours."""
    held = held_hours(estimated)
    if not math.isinf(held):
        return held
    window = estimated.candidate.option.window if estimated.candidate is not None else None
    if window is not None:
        return max(0.0, window.hours - BLOCK_LAST_HOURS)
    if bill is not None and bill.usable_hours is not None:
        return bill.usable_hours
    price, nodes = estimated.price, (estimated.option.nodes or 0) * work.sets
    return None if price is None or price.node_hours_limit is None or not nodes else price.node_hours_limit / nodes


def _after_credits(
    billed: Billed | None, estimate: OptionEstimate, catalog: Catalog, finish: date | None
) -> Bill | None:
    if billed is None or estimate.offer is None:
        return billed.bill if billed else None
    return with_credits(billed.bill, catalog.credits, provider=provider_of(estimate.offer), finish=finish)


def _lasting_credits(
    estimate: OptionEstimate, catalog: Catalog, between: BetweenTurns | None, calendar: Calendar, *, since: Ready
) -> tuple[LastingCredit, ...]:
    """Return its provider's credits, each with the hours from when its machines are ready until its last day ends.

    If others take turns, these are the hours that one run may take.
    """
    if estimate.offer is None:
        return ()
    provider = provider_of(estimate.offer)
    lasting = [
        (max(0.0, calendar.end_of(credit.expires) - since.hours), credit.usd)
        for credit in catalog.credits
        if credit.provider == provider and credit.expires >= max(calendar.first, since.on)
    ]
    return tuple(
        LastingCredit(hours=hours if between is None else longest_run(between, hours), usd=usd)
        for hours, usd in lasting
    )


def _notes(estimated: EstimatedOption, limits: CampaignLimits, at_once: int, readiness: Ready) -> tuple[str, ...]:
    notes = [readiness.note] if readiness.note else []
    if estimated.candidate is not None and estimated.candidate.taken:
        notes.append("the turns of others (taken) count in its time as if all its runs were equally long")
    wanted = limits.side_by_side
    if at_once < wanted and estimated.candidate is not None:
        holds = "site has nodes" if estimated.candidate.quota is None else "quota holds nodes"
        notes.append(f"{wanted} at once are asked for; the {holds} for {at_once}")
    if others := _other_use(estimated):
        notes.append(f"others use {others:g} of its busy hours, so the campaign takes 1 / {1 - others:g} as long")
    return tuple(notes)


def _other_use(estimated: EstimatedOption) -> float:
    return (estimated.candidate.option.other_use or 0.0) if estimated.candidate is not None else 0.0


def _life_reasons(estimated: EstimatedOption, catalog: Catalog, hours: Quantity | None) -> tuple[Reason, ...]:
    if hours is None or estimated.option.site is None:
        return ()
    return life_reasons(estimated.resolved, catalog, days=hours.value / HOURS_PER_DAY)


def window_reasons(estimated: EstimatedOption, surely: float) -> tuple[Reason, ...]:
    """Return that a window, a lease, or a term that is paid already is shorter than the campaign may take.

    `surely` are the hours that it stays under with the confidence. Runs end half an hour before a window does.
    """
    held = held_hours(estimated)
    if held < surely:
        what = "lease" if estimated.rates is None else "paid term"
        text = f"its {what} holds {held:,.0f} h; the campaign may take {surely:,.0f} h"
        figures = {"window_hours": held, "run_hours": surely}
        return (Reason(code=ReasonCode.WINDOW_TOO_SHORT, text=text, figures=figures),)
    window = estimated.candidate.option.window if estimated.candidate is not None else None
    if window is None or surely <= window.hours - BLOCK_LAST_HOURS:
        return ()
    ends = window.end.isoformat(timespec="minutes")
    text = f"its window ends at {ends}, {window.hours:.4g} h after it opens; the campaign may take {surely:.4g} h"
    figures = {"window_hours": window.hours, "run_hours": surely}
    return (Reason(code=ReasonCode.WINDOW_TOO_SHORT, text=text, figures=figures),)


def _group_reasons(groups: Sequence[Runs], nodes: int | None) -> tuple[Reason, ...]:
    """Return which groups of runs may not use this number of nodes, so that the option alone cannot do them all."""
    names = [group.name for group in groups if not group.takes(nodes)]
    if not names:
        return ()
    machines = "1 node" if nodes == 1 else f"{nodes} nodes"
    groups_rule = f"group {names[0]} rules" if len(names) == 1 else f"groups {' and '.join(names)} rule"
    text = f"has {machines} a training, which {groups_rule} out"
    return (Reason(code=ReasonCode.NODES_NOT_ASKED, text=text),)


def _campaign_hours(estimated: EstimatedOption, groups: Sequence[Runs], at_once: int, runs: int) -> Quantity | None:
    estimate, others = estimated.option, _other_use(estimated)
    wall, startup = estimate.wall_hours, estimate.time.launch_hours if estimate.time else None
    if wall is None:
        return None
    launch = startup if startup is not None and startup.value > 0 else None
    work, starts = longest_lane(groups, at_once, hours=wall.value, startup=launch.value if launch else 0.0)
    hours, each, parts = interval(wall, Unit.HOURS).scaled(work), f"{wall.value:.5g} h", [wall]
    if launch is not None:
        hours = sum_of([hours, interval(launch, Unit.HOURS).scaled(starts)])
        each, parts = f"({wall.value:.5g} + {launch.value:.3g} of its launch) h", [wall, launch]
    times = f"{starts:g} one after another" if work == starts else f"{starts:g} one after another, {work:.4g} in work,"
    repeated = f"{times} x {each} ({_trainings(runs)}); " if runs > 1 or len(parts) > 1 else ""
    source = "; ".join([f"{repeated}{wall.source}", *(part.source for part in parts[1:])])
    shares = {id(wall): wall.value * work, id(launch): launch.value * starts if launch else 0.0}
    heavy = [part for part in parts if shares[id(part)] >= MATERIAL_FRACTION * hours.value]
    if others:
        source = f"1 / (1 - {others:g} that others use) x {source}"
    whole = named("campaign_hours", hours.scaled(1 / (1 - others)), "h", "runs one after another, with their launches")
    return derived(whole, Unit.HOURS, *heavy, source=source)


def _trainings(runs: int) -> str:
    return "1 training" if runs == 1 else f"{runs} trainings"
