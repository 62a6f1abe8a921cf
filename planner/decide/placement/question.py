"""A plan's options and runs as an instance for the solver."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from planner.cost.cloud.billing_terms import BLOCK_LAST_HOURS
from planner.cost.cloud.credits import credits_until
from planner.decide.campaign.alone import Alone
from planner.decide.campaign.calendar import Calendar
from planner.decide.campaign.run_groups import Runs
from planner.decide.campaign.turns import taken_nodes
from planner.decide.campaign.windows import Span, free_lanes
from planner.decide.limits import MachineTerms, allowed, most_days, most_sets
from planner.decide.options.option import EstimatedOption
from planner.decide.outcomes.draws import stays_under
from planner.decide.outcomes.option_outcomes import TimedOption, outcomes_of
from planner.decide.outcomes.outcomes import Outcomes
from planner.decide.placement.costs import OptionCosts, option_costs
from planner.decide.placement.earliest import earliest_of
from planner.decide.placement.instance import Bin, Group, Instance, Option, Way
from planner.model.answer.cost_by_hours import LastingCredit
from planner.model.answer.option_estimate import CampaignOption
from planner.model.answer.reason import Reason, ReasonCode
from planner.model.catalog import Catalog
from planner.model.currency import Currency
from planner.model.owning.hold import Hold
from planner.model.plan.option_times import Queue, Tries
from planner.model.plan.plan import CampaignLimits
from planner.model.prices.offer import PriceKind
from planner.model.quantity import Quantity, Unit
from planner.quantity.chance import doubted
from planner.quantity.conversion import derived, interval
from planner.quantity.interval import sum_of
from planner.quantity.time_units import HOURS_PER_DAY
from planner.scenario.allowed_offers import provider_of

FOREVER = 1e9
"""Hours: of a credit that expires with the calendar's last day."""
STANDARD_ERROR = 0.005
"""Of a chance of one half over 10,000 draws: a chance that is lower by less is as asked for."""


@dataclass(frozen=True)
class Candidate:
    """An option that may do some of the runs."""

    estimated: EstimatedOption
    alone: CampaignOption
    earliest: Quantity | None
    costs: Mapping[float, OptionCosts]
    """By the work of a run."""
    outcomes: Outcomes
    """What becomes of the whole campaign on this option alone."""
    before_credits: Outcomes
    """The same before credits pay any of it."""

    @property
    def payer(self) -> str | None:
        """Return whose credits pay its bill."""
        offer = self.estimated.option.offer
        return provider_of(offer) if offer is not None else None

    @property
    def queued(self) -> Queue | Tries | None:
        """Return from what the plan says its waits are drawn."""
        machine = self.estimated.candidate
        return None if machine is None else machine.option.queue or machine.option.tries

    @property
    def most_node_hours(self) -> float:
        """Return the node-hours that its allocation holds; infinite where it has none."""
        price = self.estimated.price
        return math.inf if price is None or price.node_hours_limit is None else price.node_hours_limit

    def billed_hours(self, work: float, chance: float) -> float:
        """Return the hours of a run that count against a term, a block or an allocation.

        A block and an allocation hold what the work stays under with this chance. A term is billed as it is used.
        """
        costs = self.costs[work]
        bounded = costs.terms.blocks or not math.isinf(self.most_node_hours)
        return costs.billed.value * self.longer(work, chance) if bounded else costs.billed.value

    def longer(self, work: float, chance: float) -> float:
        """Return how many times its likely hours a run takes at most with this chance."""
        hours = run_hours(self, work)
        return TimedOption.of(self.alone).hours_at(hours, chance) / hours.value if hours.value > 0 else 1.0

    @property
    def opens(self) -> float:
        """Return the hours from the start until its machines can be had; 0 where nobody knows."""
        return self.earliest.value if self.earliest is not None else 0.0

    @property
    def planned_until(self) -> float:
        """Return the hours until which runs are planned there: spot is not counted on for longer than 14 days."""
        return self.opens + most_days(self.terms) * HOURS_PER_DAY

    @property
    def terms(self) -> MachineTerms:
        """Return what the limits ask of its machines."""
        return MachineTerms.of_option(self.alone, self.estimated.candidate)


@dataclass(frozen=True)
class Question:
    """The instance, with what its numbers stand for."""

    instance: Instance
    """By the middle values."""
    candidates: tuple[Candidate, ...]
    """The instance's options, by their numbers."""
    groups: tuple[Runs, ...]
    calendar: Calendar
    left_out: tuple[tuple[str, Reason], ...]
    """Options that can do no run, with the reason."""
    credits: Mapping[str, Sequence[LastingCredit]] = field(default_factory=dict)
    """By whose bills they pay, with the hours until which they last."""
    sure_credits: Mapping[str, float] = field(default_factory=dict)
    """USD of those that last with the plan's confidence."""
    currency: Currency | None = None
    """The plan's own."""


def question_of(alone: Alone, catalog: Catalog, *, today: date) -> Question:
    """Return what the solver is asked: the options that can be had, their sets of machines, their runs and costs.

    Spot counts up to 4 nodes and 14 days, rented machines of which nobody says that they are there up to 8 nodes, as
    in the order of `compare` (docs/recommendation.md).
    """
    calendar = Calendar.of(alone.limits, today=today)
    candidates: list[Candidate] = []
    bins: list[Bin] = []
    ways: list[Way] = []
    pools: dict[str, int] = {}
    left_out: list[tuple[str, Reason]] = []
    numbers: dict[tuple[str, int, Span], int] = {}
    sure = alone.limits.confidence - STANDARD_ERROR
    for estimated, option in zip(alone.estimated.options, alone.options, strict=True):
        against = _against(estimated, option)
        candidate = None if against else _candidate(estimated, option, alone, catalog, calendar, today=today)
        if candidate is None:
            left_out.append((option.id, against or _UNKNOWN))
            continue
        spans, pool, machines = _spans(candidate, alone.limits, calendar)
        runs = [(n, group) for n, group in enumerate(alone.groups) if group.takes(option.nodes)]
        if not runs:
            left_out.append((option.id, _WRONG_NODES))
            continue
        reason = _too_short(candidate, spans, runs, calendar)
        if reason is not None:
            left_out.append((option.id, reason))
            continue
        number = len(candidates)
        candidates.append(candidate)
        pools |= {pool: machines} if machines is not None else {}
        for span, lanes in spans.items():
            key = (pool, option.nodes or 0, span)
            if key not in numbers:
                numbers[key] = len(bins)
                bins.append(_bin(candidate, span, lanes, pool if machines is not None else None, origin=len(bins),
                                 most_hours=sum(group.runs * candidate.billed_hours(group.work, sure)
                                                for _, group in runs)))  # fmt: skip
            for place, group in runs:
                hours, run_usd = run_hours(candidate, group.work).value, candidate.costs[group.work].run_usd
                billed = candidate.billed_hours(group.work, sure)
                ways.append(Way(place, number, numbers[key], hours, run_usd, billed))
    instance = Instance(
        groups=tuple(Group(group.runs, group.phase) for group in alone.groups),
        options=tuple(_option(candidate) for candidate in candidates),
        bins=tuple(bins),
        ways=tuple(ways),
        pools=_shared(pools, bins),
        deadline=math.inf if alone.limits.deadline is None else calendar.end_of(alone.limits.deadline),
        budget=math.inf if alone.budget is None else alone.budget.value,
        waiting_usd_per_hour=alone.limits.waiting_usd_per_hour or 0.0,
        credits=_credits(catalog, candidates),
    )
    return Question(
        instance,
        tuple(candidates),
        alone.groups,
        calendar,
        tuple(left_out),
        _lasting(catalog, calendar),
        _credits(catalog, candidates, surely=True),
        alone.currency,
    )


_UNKNOWN = Reason(code=ReasonCode.TIME_OR_COST_NOT_KNOWN, text="time or cost is not known")
_WRONG_NODES = Reason(code=ReasonCode.NODES_NOT_ASKED, text="no group of runs may have so many nodes")


def run_hours(candidate: Candidate, work: float) -> Quantity:
    """Return the hours of one run: its launch, where it is rented, and work x wall-clock hours, less what others use.

    hours = (work x wall hours + launch hours) / (1 - other use)
    """
    option = candidate.estimated.option
    wall, launch = option.wall_hours, option.time.launch_hours if option.time is not None else None
    assert wall is not None, "its time is known"
    machine = candidate.estimated.candidate
    others = (machine.option.other_use or 0.0) if machine is not None else 0.0
    parts = [interval(wall, Unit.HOURS).scaled(work)]
    if launch is not None:
        parts.append(interval(launch, Unit.HOURS))
    source = f"{work:.4g} x {wall.value:.5g} h" + (f" + {launch.value:.3g} h of its launch" if launch else "")
    return derived(sum_of(parts).scaled(1 / (1 - others)), Unit.HOURS, wall, source=f"{source}; {wall.source}")


def at_confidence(question: Question, *, hours: float | None, usd: float | None) -> Instance:
    """Return the instance with hours and waits that are kept with one chance, and costs that are with another.

    None: by the middle values.
    """
    asked = question.instance
    if hours is not None:
        waits = {way.bin: question.candidates[way.option].earliest for way in asked.ways}
        bins = tuple(_later(spot, waits.get(number), hours) for number, spot in enumerate(asked.bins))
        asked = replace(asked, bins=bins, ways=tuple(_longer(question, way, hours) for way in asked.ways))
    if usd is not None:
        options = zip(asked.options, question.candidates, strict=True)
        held = tuple(replace(one, held=_held(candidate, usd)) for one, candidate in options)
        asked = replace(asked, options=held, credits=dict(question.sure_credits))
    return asked


def _longer(question: Question, way: Way, chance: float) -> Way:
    work, candidate = question.groups[way.group].work, question.candidates[way.option]
    hours = way.hours * candidate.longer(work, chance)
    return replace(way, hours=hours, billed_hours=max(way.billed_hours, candidate.billed_hours(work, chance)))


def _held(candidate: Candidate, chance: float) -> float:
    """Return the factor under which the option's cost, before its credits, stays with a chance."""
    option = candidate.alone
    owed = option.owed_usd or option.usd_marginal
    assert owed is not None, "its cost is known"
    if owed.value <= 0 or candidate.before_credits.usd is None:
        return 1.0
    return candidate.before_credits.usd_at(chance) / owed.value


def _later(spot: Bin, wait: Quantity | None, confidence: float) -> Bin:
    if wait is None or spot.opens > wait.value * (1 + 1e-9):
        return spot
    return replace(spot, opens=max(spot.opens, stays_under(doubted(wait), confidence)))


def _against(estimated: EstimatedOption, option: CampaignOption) -> Reason | None:
    """Return why an option can do no run at all; what it cannot do of the whole campaign does not count here."""
    for reason in estimated.limit_reasons:
        return reason
    if option.fits is False:
        return next(iter(option.blocking_reasons), Reason(code=ReasonCode.MEMORY_TOO_SMALL, text="it does not fit"))
    if option.wall_hours is None or option.usd_marginal is None:
        return next(iter(option.blocking_reasons), _UNKNOWN)
    if option.hold is Hold.BUY and option.pay_now_usd is None:
        return Reason(code=ReasonCode.PURCHASE_NOT_KNOWN, text="nobody says what it costs to buy")
    return allowed(MachineTerms.of_option(option, estimated.candidate), machines=option.nodes or 0, days=0.0)


def _candidate(
    estimated: EstimatedOption, option: CampaignOption, alone: Alone, catalog: Catalog, calendar: Calendar,
    *, today: date,
) -> Candidate | None:  # fmt: skip
    earliest = earliest_of(estimated, alone.limits, catalog, calendar, today=today)
    costs = {
        work: option_costs(estimated, catalog, work=work, runs=alone.limits.runs)
        for work in {group.work for group in alone.groups}
    }
    known = {work: cost for work, cost in costs.items() if cost is not None}
    if len(known) < len(costs):
        return None
    outcomes, cost = outcomes_of(option, alone.limits, today=today), option.cost_by_hours
    before_credits = outcomes
    if cost is not None and cost.credits:
        unpaid = option.model_copy(update={"cost_by_hours": cost.model_copy(update={"credits": ()})})
        before_credits = outcomes_of(unpaid, alone.limits, today=today)
    return Candidate(estimated, option, earliest, known, outcomes, before_credits)


def _spans(candidate: Candidate, limits: CampaignLimits, calendar: Calendar) -> tuple[dict[Span, int], str, int | None]:
    """Return the windows of its sets of machines, the name of their pool, and how many machines that has, if known."""
    machine, option = candidate.estimated.candidate, candidate.alone
    opens = candidate.opens
    if machine is None:
        return {Span(opens, math.inf): limits.side_by_side}, option.id, None
    closes, most, width = math.inf, option.at_once, machine.nodes
    price = candidate.estimated.price
    if machine.option.window is not None:
        closes = calendar.hours(machine.option.window.end) - BLOCK_LAST_HOURS
    elif price is not None and price.price_kind is PriceKind.GRANT and price.valid_until is not None:
        closes = calendar.end_of(price.valid_until)
    closes = min(closes, candidate.planned_until)
    terms = candidate.terms
    most = most_sets(lambda count: allowed(terms, machines=count, days=0.0) is None, width=width, wanted=most)
    held = [count for count in (terms.quota, terms.site_machines) if count is not None]
    pool, turns = machine.pool, taken_nodes(machine.taken, calendar)
    if not held and not turns:
        return ({Span(opens, closes): most} if most > 0 else {}), option.id, None
    nodes = min(held) if held else most * width
    return free_lanes(nodes, width, turns, most=most, opens=opens, closes=closes), pool, nodes


def _too_short(
    candidate: Candidate, spans: Mapping[Span, int], runs: Sequence[tuple[int, Runs]], calendar: Calendar
) -> Reason | None:
    """Return that no window holds one run; None where one does."""
    if not spans:
        option = candidate.alone
        text = f"{option.nodes} nodes of it are not to be had at the same time"
        return Reason(code=ReasonCode.QUOTA_TOO_SMALL, text=text)
    shortest = min(run_hours(candidate, group.work).value for _, group in runs)
    if any(span.closes - span.opens >= shortest * (1 - 1e-9) for span in spans):
        return None
    longest = max(spans, key=lambda span: span.closes - span.opens)
    ends = calendar.moment(max(0.0, longest.closes)).isoformat(timespec="minutes")
    text = f"its longest window ends at {ends}, {max(0.0, longest.closes - longest.opens):.4g} h after it opens; a run "
    figures = {"window_hours": longest.closes - longest.opens, "run_hours": shortest}
    return Reason(code=ReasonCode.WINDOW_TOO_SHORT, text=f"{text}takes {shortest:.4g} h", figures=figures)


def _bin(candidate: Candidate, span: Span, lanes: int, pool: str | None, *, most_hours: float, origin: int) -> Bin:
    """Return sets of machines in one window; `most_hours`: those of all runs on one of them."""
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
        blocks=costs.blocks(most_hours),
        origin=origin,
    )


def _option(candidate: Candidate) -> Option:
    fixed = max(cost.fixed_usd for cost in candidate.costs.values())
    return Option(fixed, candidate.most_node_hours, candidate.payer)


def _shared(pools: Mapping[str, int], bins: Sequence[Bin]) -> dict[str, int]:
    """Return the pools that bins of several widths share: only there machines may run short."""
    widths: dict[str, set[int]] = {}
    for spot in bins:
        if spot.pool is not None:
            widths.setdefault(spot.pool, set()).add(spot.nodes)
    return {pool: nodes for pool, nodes in pools.items() if len(widths.get(pool, ())) > 1}


def _lasting(catalog: Catalog, calendar: Calendar) -> dict[str, list[LastingCredit]]:
    """Return the credits by provider, with the hours from the campaign's start until their last day ends."""
    lasting: dict[str, list[LastingCredit]] = {}
    for credit in catalog.credits:
        hours = min(calendar.end_of(credit.expires), FOREVER)
        lasting.setdefault(credit.provider, []).append(LastingCredit(hours=hours, usd=credit.usd))
    return lasting


def _credits(catalog: Catalog, candidates: Sequence[Candidate], *, surely: bool = False) -> dict[str, float]:
    """Return what credits pay by provider: those that last until each of its options has done all runs alone.

    `surely`: with the plan's confidence, instead of by the most likely hours.
    """
    ends: dict[str, date] = {}
    for candidate in candidates:
        payer, option = candidate.payer, candidate.alone
        finish = (option.done_by_confident if surely else option.done_by) or date.max
        if payer is not None:
            ends[payer] = max(finish, ends.get(payer, finish))
    return {payer: credits_until(catalog.credits, provider=payer, finish=finish) for payer, finish in ends.items()}
