"""Many trainings on one option: how long and how much; whether the limits hold stands in `chances.py`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from planner.cost.cloud.allocation import allocation_reasons
from planner.cost.cloud.bill import Billed, BilledTrainings
from planner.cost.cloud.billing_terms import BLOCK_LAST_HOURS
from planner.cost.cloud.credits import with_credits
from planner.cost.ownership.life import life_reasons
from planner.decide.campaign.bills_by_hours import cost_by_hours
from planner.decide.campaign.campaign_bill import campaign_bill
from planner.decide.campaign.campaign_hours import campaign_hours, confident_hours, other_use_of, window_reasons
from planner.decide.campaign.held import bought, campaign_money, kept_entries
from planner.decide.campaign.ready import Ready, ready
from planner.decide.campaign.run_groups import ALL_RUNS, Runs, mean_work
from planner.decide.campaign.turns import between_turns, with_turns
from planner.decide.limits import MachineTerms, forbidden, most_sets
from planner.decide.options.option import EstimatedOption
from planner.decide.options.option_money import assumed_rates
from planner.duration.between_turns import longest_run
from planner.duration.duration import hours_until, last_day, passed_hours
from planner.model.answer.between_turns import BetweenTurns
from planner.model.answer.bill import Bill
from planner.model.answer.cost_by_hours import LastingCredit
from planner.model.answer.option_estimate import CampaignOption, OptionEstimate
from planner.model.answer.reason import Reason, ReasonCode, text_of
from planner.model.catalog import Catalog
from planner.model.owning.hold import Hold
from planner.model.plan.option_times import Queue, Tries
from planner.model.plan.plan import CampaignLimits, Owning
from planner.model.quantity import Quantity
from planner.quantity.time_units import HOURS_PER_DAY
from planner.scenario.allowed_offers import provider_of

OF_CAMPAIGN = ("notes", "bill", "assumed_rates", "smallest_purchase_usd", "not_allowed", "not_allowed_reasons")
"""Fields of one training's estimate that a campaign has otherwise."""


def campaign_option(
    estimated: EstimatedOption,
    limits: CampaignLimits,
    catalog: Catalog,
    *,
    today: date,
    groups: Sequence[Runs] | None = None,
) -> CampaignOption:
    """Run the plan's campaign on this option alone.

    campaign_hours = ceil(runs / at_once) x (wall-clock hours of a training + startup hours, where it is rented)
                     / (1 - other_use), where others use the machine as well; of unlike `groups` those of the lane that
                     ends last (`longest_lane`); longer by the turns of others (`turns.py`)
    campaign_usd   = total of the campaign's bill (planner/cost/cloud/bill.py); of an owned machine runs x usd_marginal,
                     and of one that is bought for it what keeping it costs (planner/cost/ownership/purchase.py)

    `at_once` trainings run side by side, each on machines of its own: a cloud is taken to have enough of them,
    a site runs no more than floor(its nodes / nodes per training). The hours leave out queueing. The campaign starts
    on `limits.start`, else today, and not before the machine is ready.
    """
    estimate = estimated.option
    at_once = _at_once(estimated, limits)
    groups = groups or (Runs(ALL_RUNS, limits.runs, 1.0),)
    begins = limits.start or today
    readiness = ready(estimated, catalog, begins=begins, today=today)
    hours = campaign_hours(estimated, groups, at_once, limits.runs)
    alone = confident_hours(estimate, hours, limits.confidence, runs=limits.runs, at_once=at_once) if hours else 0.0
    work = BilledTrainings(
        trainings=limits.runs, at_once=at_once, longer=alone / hours.value if hours and alone else 1.0
    )
    between = between_turns(estimated, hours, at_once, limits, readiness, today=today)
    hours = with_turns(hours, between)
    start = max(begins, readiness.on)
    since = start if readiness.lead is None else begins  # what is waited for is asked for when the campaign begins
    passed = passed_hours(stated=limits.start, start=since, today=today) + readiness.hours
    finish = last_day(start=start, hours=hours.value, passed=passed) if hours else None
    days = (finish - readiness.on).days + 1 if finish else None
    nodes = (estimate.nodes or 0) * work.sets
    purchase = bought(estimated, catalog, nodes=nodes, days=days)
    billed = campaign_bill(estimated, work, kept_entries(estimated, nodes=nodes, days=days),
                           share=mean_work(groups))  # fmt: skip
    usd = billed.usd if billed and (purchase or estimate.hold is not Hold.BUY) else None
    each = between.run_hours if between else hours
    lasting = _lasting_credits(estimate, catalog, between, start=start, passed=passed)
    cost = cost_by_hours(estimated, work, share=mean_work(groups), hours=each, usd=usd, credits=lasting)
    money = campaign_money(estimated, campaign_usd=usd, purchase=purchase, hours=each, cost=cost, runs=limits.runs)
    bill = _after_credits(billed, estimate, catalog, finish)
    surely = alone
    if between is not None:
        surely = confident_hours(
            estimate, between.run_hours, limits.confidence, runs=limits.runs, at_once=at_once, between=between
        )
    ended = last_day(start=start, hours=surely, passed=passed) if hours else None
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
        lead_days=readiness.lead,
        done_by=finish,
        queued=_queued(estimated),
        paid_ahead_hours=_paid_ahead_hours(estimated, bill, work),
        cost_by_hours=cost,
    )


def _queued(estimated: EstimatedOption) -> Queue | Tries | None:
    machine = estimated.candidate
    if machine is None or machine.option.wait_hours is not None:
        return None
    return machine.option.queue or machine.option.tries


def _paid_ahead_hours(estimated: EstimatedOption, bill: Bill | None, work: BilledTrainings) -> float | None:
    """Return the hours for which a block, its stated window, or an allocation's node-hours can be used."""
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
    estimate: OptionEstimate, catalog: Catalog, between: BetweenTurns | None, *, start: date, passed: float
) -> tuple[LastingCredit, ...]:
    """Return the credits of its provider, each with the hours that a campaign may take until its last day ends.

    Where others take turns: with the hours that one run may take.
    """
    if estimate.offer is None:
        return ()
    provider = provider_of(estimate.offer)
    lasting = [
        (hours_until(credit.expires, start=start, passed=passed), credit.usd)
        for credit in catalog.credits
        if credit.provider == provider and credit.expires >= start
    ]
    return tuple(
        LastingCredit(hours=hours if between is None else longest_run(between, hours), usd=usd)
        for hours, usd in lasting
    )


def _at_once(estimated: EstimatedOption, limits: CampaignLimits) -> int:
    """Return how many trainings run side by side: as many as are asked for, the site has nodes for, the quota holds."""
    candidate = estimated.candidate
    if candidate is None:
        return limits.side_by_side
    terms = MachineTerms.of_candidate(candidate)
    wanted = limits.at_once or terms.quota or 1
    return max(1, most_sets(lambda count: not forbidden(terms, machines=count), width=candidate.nodes, wanted=wanted))


def _notes(estimated: EstimatedOption, limits: CampaignLimits, at_once: int, readiness: Ready) -> tuple[str, ...]:
    notes = [readiness.note] if readiness.note else []
    if estimated.candidate is not None and estimated.candidate.taken:
        notes.append("the turns of others (taken) count in its time as if all its runs were equally long")
    wanted = limits.side_by_side
    if at_once < wanted and estimated.candidate is not None:
        holds = "site has nodes" if estimated.candidate.quota is None else "quota holds nodes"
        notes.append(f"{wanted} at once are asked for; the {holds} for {at_once}")
    if others := other_use_of(estimated):
        notes.append(f"others use {others:g} of its busy hours, so the campaign takes 1 / {1 - others:g} as long")
    return tuple(notes)


def _life_reasons(estimated: EstimatedOption, catalog: Catalog, hours: Quantity | None) -> tuple[Reason, ...]:
    if hours is None or estimated.option.site is None:
        return ()
    return life_reasons(estimated.resolved, catalog, days=hours.value / HOURS_PER_DAY)


def _group_reasons(groups: Sequence[Runs], nodes: int | None) -> tuple[Reason, ...]:
    """Return which groups of runs may not have this number of nodes, so that the option alone does not do them all."""
    names = [group.name for group in groups if not group.takes(nodes)]
    if not names:
        return ()
    text = f"its {nodes} {'node is' if nodes == 1 else 'nodes are'} not what {' and '.join(names)} may have"
    return (Reason(code=ReasonCode.NODES_NOT_ASKED, text=text),)
