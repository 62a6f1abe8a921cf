"""State a plan's options and runs as an instance for the solver."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from planner.cost.cloud.cost_by_hours import price_range
from planner.cost.cloud.credits import credits_until
from planner.decide.campaign.alone import Alone
from planner.decide.campaign.campaign import closing
from planner.decide.campaign.held import held_hours
from planner.decide.campaign.run_groups import Runs
from planner.decide.campaign.side_by_side import may_vary, most_at_once
from planner.decide.campaign.turns import taken_nodes
from planner.decide.campaign.windows import Span, free_lanes
from planner.decide.limits import allowed, most_sets
from planner.decide.outcomes.draws import stays_under
from planner.decide.placement.candidate import PlacementCandidate, candidate_of, run_hours
from planner.decide.placement.instance import Bin, Group, Instance, Option, Way
from planner.duration.calendar import Calendar
from planner.model.answer.campaign import LastingCredit
from planner.model.answer.reason import ReasonCode
from planner.model.catalog import Catalog
from planner.model.currency import Currency
from planner.model.plan.campaign_limits import CampaignLimits, Prefer
from planner.model.quantity import Quantity
from planner.quantity.interval import doubted

LONGEST = 1e9
"""Hours for which a credit lasts that expires on the last date that Python knows: in effect forever."""


@dataclass(frozen=True)
class PlacementQuestion:
    """The solver's instance, and the options, runs and dates that its numbers stand for."""

    instance: Instance
    """The question at the likely hours and costs."""
    candidates: tuple[PlacementCandidate, ...]
    """The options of the instance, in the order of their numbers."""
    groups: tuple[Runs, ...]
    calendar: Calendar
    left_out: tuple[ReasonCode, ...]
    """Reason of each option that can do no run."""
    credits: Mapping[str, Sequence[LastingCredit]]
    """Credits by the provider whose bills they pay, each with the hours after which it expires."""
    sure_credits: Mapping[str, float]
    """USD by provider of the credits that, with the plan's confidence, expire only after the runs are done."""
    currency: Currency | None
    """Currency of the plan."""


def question_of(alone: Alone, catalog: Catalog, *, today: date) -> PlacementQuestion:
    """Return the question: the options that can be used, their sets of machines, and the hours and costs of their runs.

    The limits of `compare` apply (docs/recommendation.md): spot counts for up to 4 nodes and 14 days, and machines of
    unknown availability for up to 8 nodes.
    """
    calendar = Calendar.of(alone.limits, today=today)
    candidates: list[PlacementCandidate] = []
    bins: list[Bin] = []
    ways: list[Way] = []
    pools: dict[str, int] = {}
    left_out: list[ReasonCode] = []
    numbers: dict[tuple[str, int, Span, bool], int] = {}
    sure = alone.limits.confidence
    for estimated, option in zip(alone.estimated.options, alone.options, strict=True):
        candidate = candidate_of(estimated, option, alone, catalog, calendar, today=today)
        if not isinstance(candidate, PlacementCandidate):
            left_out.append(candidate)
            continue
        spans, pool, machines = _spans(candidate, alone.limits, calendar)
        runs = [(number, group) for number, group in enumerate(alone.groups) if group.takes(option.nodes)]
        reason = _no_room(candidate, spans, [group for _, group in runs])
        if reason is not None:
            left_out.append(reason)
            continue
        pools |= {pool: machines} if machines is not None else {}
        tiers = [(span, *tier) for span, lanes in spans.items() for tier in _tiers(candidate, lanes)]
        for span, lanes, dearer in tiers:
            key = (pool, option.nodes or 0, span, dearer > 0)
            if key not in numbers:
                numbers[key] = len(bins)
                most_hours = sum(group.runs * candidate.billed_hours(group.work, sure) for _, group in runs)
                shared = pool if machines is not None else None
                bins.append(_bin(candidate, span, lanes, shared, most_hours=most_hours, origin=len(bins)))
            for group_number, group in runs:
                hours, run_usd = run_hours(candidate, group.work).value, candidate.costs[group.work].run_usd
                billed = candidate.billed_hours(group.work, sure)
                usd = run_usd + dearer * candidate.costs[group.work].billed.value
                ways.append(Way(group_number, len(candidates), numbers[key], hours, usd, billed))
        candidates.append(candidate)
    instance = Instance(
        groups=tuple(Group(group.runs, group.phase) for group in alone.groups),
        options=tuple(
            Option(max(cost.fixed_usd for cost in each.costs.values()), each.most_node_hours, each.payer)
            for each in candidates
        ),
        bins=tuple(bins),
        ways=tuple(ways),
        pools=_shared(pools, bins),
        deadline=math.inf if alone.limits.deadline is None else calendar.end_of(alone.limits.deadline),
        budget=math.inf if alone.budget is None else alone.budget.value,
        waiting_usd_per_hour=alone.limits.waiting_usd_per_hour or 0.0,
        credits=_credits(catalog, candidates),
    )
    return PlacementQuestion(
        instance,
        tuple(candidates),
        alone.groups,
        calendar,
        tuple(left_out),
        credits=_lasting_credits(catalog, calendar),
        sure_credits=_credits(catalog, candidates, surely=True),
        currency=alone.currency,
    )


def at_confidence(question: PlacementQuestion, *, hours: float | None, usd: float | None) -> Instance:
    """Return the instance with pessimistic hours and costs.

    Hours and waits stay below the new values with the chance `hours`, costs with the chance `usd`. None keeps the
    likely values; without `hours`, blocks and allocations hold the likely hours too. With `hours`, terms are paid for
    the longer hours, so that only their price is left to the costs.
    """
    asked = question.instance
    if hours is None:
        asked = replace(asked, ways=tuple(_as_likely(question, way) for way in asked.ways))
    else:
        waits = {way.bin: question.candidates[way.option].earliest for way in asked.ways}
        bins = tuple(_later(bin_, waits.get(number), hours) for number, bin_ in enumerate(asked.bins))
        asked = replace(asked, bins=bins, ways=tuple(_longer(question, way, hours) for way in asked.ways))
    if usd is not None:
        options = zip(asked.options, question.candidates, strict=True)
        surely = tuple(
            replace(option, cost_factor=_cost_factor(candidate, usd, of_price=hours is not None))
            for option, candidate in options
        )
        asked = replace(asked, options=surely, credits=dict(question.sure_credits))
    return asked


def _as_likely(question: PlacementQuestion, way: Way) -> Way:
    billed = question.candidates[way.option].costs[question.groups[way.group].work].billed.value
    return replace(way, billed_hours=billed)


def _longer(question: PlacementQuestion, way: Way, chance: float) -> Way:
    work, candidate = question.groups[way.group].work, question.candidates[way.option]
    longer = candidate.longer(work, chance)
    return replace(way, hours=way.hours * longer, billed_hours=candidate.costs[work].billed.value * longer)


def _later(bin_: Bin, wait: Quantity | None, chance: float) -> Bin:
    if wait is None or bin_.opens > wait.value * (1 + 1e-9):
        return bin_
    return replace(bin_, opens=max(bin_.opens, stays_under(doubted(wait), chance)))


def _cost_factor(candidate: PlacementCandidate, chance: float, *, of_price: bool) -> float:
    """Return the factor from the option's likely cost before credits to the cost that it stays below with a chance.

    With `of_price` that of a term comes from its price alone.
    """
    option, rent = candidate.alone, candidate.alone.cost_by_hours
    if of_price and rent is not None and any(costs.lane_usd_per_hour > 0 for costs in candidate.costs.values()):
        return stays_under(price_range(rent), chance)
    owed = option.owed_usd or option.usd_marginal
    assert owed is not None, "its cost is known"
    if owed.value <= 0 or candidate.before_credits.usd is None:
        return 1.0
    return candidate.before_credits.usd_at(chance) / owed.value


def _spans(
    candidate: PlacementCandidate, limits: CampaignLimits, calendar: Calendar
) -> tuple[dict[Span, int], str, int | None]:
    """Return an option's number of machine sets by window, the name of their pool, and its nodes (None: unlimited)."""
    machine, option = candidate.estimated.candidate, candidate.alone
    opens = candidate.opens
    if machine is None:
        return {Span(opens, math.inf): limits.side_by_side}, option.id, None
    terms = candidate.terms
    ends = closing(candidate.estimated, calendar)
    closes = min(math.inf if ends is None else ends, candidate.planned_until, opens + held_hours(candidate.estimated))
    wanted = max(option.at_once, terms.quota or 1) if limits.at_once is None else option.at_once
    if (limits.prefer is Prefer.TIME or limits.waiting_usd_per_hour) and may_vary(candidate.estimated, limits):
        wanted = max(wanted, most_at_once(candidate.estimated, option, limits))
    most = most_sets(lambda count: allowed(terms, machines=count, days=0.0) is None, width=machine.nodes, wanted=wanted)
    known = [count for count in (terms.quota, terms.site_machines) if count is not None]
    turns = taken_nodes(machine.taken, calendar)
    if not known and not turns:
        return ({Span(opens, closes): most} if most > 0 else {}), option.id, None
    nodes = min(known) if known else most * machine.nodes
    return free_lanes(nodes, machine.nodes, turns, most=most, opens=opens, closes=closes), machine.pool, nodes


def _tiers(candidate: PlacementCandidate, lanes: int) -> list[tuple[int, float]]:
    """Return the sets of machines at the option's price, and those beyond its commitment with what an hour costs more.

    Each number of sets has the USD that an hour of one of them costs beyond the option's price.
    """
    price, rates, nodes = candidate.estimated.price, candidate.estimated.rates, candidate.alone.nodes or 1
    if price is None or rates is None or price.committed_nodes is None or price.usd_per_hour is None:
        return [(lanes, 0.0)]
    bought, beyond = price.committed_nodes // nodes, price.beyond_usd_per_hour
    if not 0 < bought < lanes or beyond is None or beyond <= price.usd_per_hour:
        return [(lanes, 0.0)]
    dearer = (beyond - price.usd_per_hour) * nodes * (1 + rates.support_fraction.value)
    return [(bought, 0.0), (lanes - bought, dearer)]


def _no_room(candidate: PlacementCandidate, spans: Mapping[Span, int], groups: Sequence[Runs]) -> ReasonCode | None:
    """Return why the option's windows hold no run; None if one does."""
    if not groups:
        return ReasonCode.NODES_NOT_ASKED
    if not spans:
        return ReasonCode.QUOTA_TOO_SMALL
    shortest = min(run_hours(candidate, group.work).value for group in groups)
    fits = any(span.closes - span.opens >= shortest * (1 - 1e-9) for span in spans)
    return None if fits else ReasonCode.WINDOW_TOO_SHORT


def _bin(
    candidate: PlacementCandidate, span: Span, lanes: int, pool: str | None, *, most_hours: float, origin: int
) -> Bin:
    """Return the sets of machines in one window. `most_hours`: hours of all runs, one after another, on one set."""
    costs = next(iter(candidate.costs.values()))
    return Bin(
        lanes=lanes,
        opens=span.opens,
        closes=span.closes,
        pool=pool,
        nodes=candidate.alone.nodes or 0,
        lane_usd=costs.lane_usd,
        usd_per_hour=costs.lane_usd_per_hour,
        least_hours=costs.terms.minimum_hours if costs.lane_usd_per_hour else 0.0,
        after_factor=costs.terms.after_factor,
        blocks=costs.blocks(most_hours),
        origin=origin,
    )


def _shared(pools: Mapping[str, int], bins: Sequence[Bin]) -> dict[str, int]:
    """Return the pools whose bins have different numbers of nodes: only there can the pool's machines run short."""
    widths: defaultdict[str | None, set[int]] = defaultdict(set)
    for bin_ in bins:
        widths[bin_.pool].add(bin_.nodes)
    return {pool: nodes for pool, nodes in pools.items() if len(widths[pool]) > 1}


def _lasting_credits(catalog: Catalog, calendar: Calendar) -> dict[str, list[LastingCredit]]:
    """Return the credits by provider, with the hours from the campaign's start until their last day ends."""
    lasting: defaultdict[str, list[LastingCredit]] = defaultdict(list)
    for credit in catalog.credits:
        hours = min(calendar.end_of(credit.expires), LONGEST)
        lasting[credit.provider].append(LastingCredit(hours=hours, usd=credit.usd))
    return dict(lasting)


def _credits(catalog: Catalog, candidates: Sequence[PlacementCandidate], *, surely: bool = False) -> dict[str, float]:
    """Return the USD of credits by provider that have not expired when its slowest option has done all runs alone.

    `surely` takes the options' ends that hold with the plan's confidence instead of the likely ones.
    """
    ends: dict[str, date] = {}
    for candidate in candidates:
        payer, option = candidate.payer, candidate.alone
        finish = (option.done_by_confident if surely else option.done_by) or date.max
        if payer is not None:
            ends[payer] = max(finish, ends.get(payer, finish))
    return {payer: credits_until(catalog.credits, provider=payer, finish=finish) for payer, finish in ends.items()}
