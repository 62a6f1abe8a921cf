"""Estimate training by a service that is paid by the token; its machines and its queue are unknown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date

from planner.cost.cloud.availability import availability, availability_reasons
from planner.cost.cloud.bill_rates import support_fraction
from planner.cost.cloud.hosted_bill import HostedRates, hosted_bill
from planner.cost.cloud.price import listed_price
from planner.decide.options.option import EstimatedOption, on_day
from planner.errors import InputError, NotFoundError
from planner.model.answer.option_estimate import OptionEstimate
from planner.model.answer.reason import Reason, ReasonCode, codes_of, text_of
from planner.model.catalog import Catalog
from planner.model.owning.acquisition import Hold
from planner.model.plan.plan import Plan
from planner.model.plan.plan_option import PlanOption
from planner.model.prices.offer import Price, PriceKind
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.conversion import to_quantity
from planner.quantity.interval import Interval
from planner.scenario.allowed_offers import is_firm, offer_reasons
from planner.scenario.job import Job
from planner.scenario.places import place_of_region, place_reasons
from planner.scenario.price_choice import ANY_REGION, find_price, prices_of

MILLION = 1e6
NO_TIME = Reason(
    code=ReasonCode.TIME_NOT_STATED,
    text="training time: the service does not say how long it takes; give training_hours on the option",
)
NO_TOKENS = Reason(
    code=ReasonCode.NO_TOKENS,
    text="cost: a sample of this workload is no number of tokens, and a service is paid by the token",
)
GENERATES = Reason(
    code=ReasonCode.NO_TOKENS,
    text="cost: the service's price is of tokens that are given, and this training generates its own",
)
NOTHING_KNOWN = "nothing is known of its machines: no energy, no speed; that it trains this network is the plan's word"


@dataclass(frozen=True)
class HostedOption:
    """An option of the plan that a service trains."""

    id: str
    position: int
    """Position among the plan's options."""
    option: PlanOption
    price: Price | None

    @property
    def listed(self) -> Price | None:
        """Row whose price counts; None if the plan states its own price."""
        return self.price if self.option.usd_per_million_tokens is None else None

    @property
    def region(self) -> str | None:
        """Place of the training: the row's, or the one that the plan names with its own price."""
        if self.listed is not None:
            return self.listed.region
        return self.option.region or (self.price.region if self.price else None)


def expand_hosted(plan: Plan, catalog: Catalog) -> Iterator[HostedOption]:
    """Find the price of each option that a service trains; an unknown service needs a price in the plan."""
    counts: dict[str, int] = {}
    for position, option in enumerate(plan.options):
        if not option.hosted:
            continue
        assert option.offer is not None, "the plan's model asks for it"
        where = f"options.{position}"
        price = find_price(option, catalog, where=where)
        if price is None and option.usd_per_million_tokens is None:
            raise _unknown(option.offer, catalog, where=where)
        hosted = HostedOption(option.offer, position, option, price)
        name = f"{option.offer}:{hosted.region or ANY_REGION}:{PriceKind.HOSTED_TRAINING.value}"
        count = counts[name] = counts.get(name, 0) + 1
        yield replace(hosted, id=f"{name}#{count}" if count > 1 else name)


def estimate_hosted(
    plan: Plan, job: Job, hosted: HostedOption, catalog: Catalog, *, today: date | None = None
) -> EstimatedOption:
    """Estimate one training by a service.

    USD = million tokens x USD per million tokens;  tokens = samples of an epoch x epochs x tokens of a sample, without
    padding

    Time is the one that the plan states, else unknown, because machines and queue are. What the service
    trains is its own affair, so nothing is asked of memory. Source: the services' price lists.
    """
    option, price, listed = hosted.option, _price(hosted, catalog, today=today), hosted.listed
    rates = None if job.setup.objective.generates else _rates(plan, job, price, catalog)
    billed = None if rates is None else hosted_bill(rates, trainings=1)
    reasons = _reasons(hosted, job, price)
    limit_reasons = (
        *offer_reasons(option, plan.limits),
        *place_reasons(place_of_region(hosted.region), None, plan.limits),
        *availability_reasons(listed, today=today),
    )
    estimate = OptionEstimate(
        id=hosted.id,
        name=f"{option.offer} (a service, by the token)",
        offer=option.offer,
        site=None,
        region=hosted.region,
        price_kind=PriceKind.HOSTED_TRAINING,
        nodes=None,
        accelerators=None,
        accelerator=None,
        fits=True,
        strategy=None,
        micro_batch=None,
        checkpointing=None,
        throughput=None,
        epoch_hours=None,
        training_hours=None if option.training_hours is None else _stated_hours(option.training_hours),
        usd_per_hour=None,
        usd_per_million_tokens=price,
        list_usd_per_million_tokens=listed.list_usd_per_million_tokens if listed else None,
        usd_per_epoch=None,
        usd_total=billed.usd if billed else None,
        usd_marginal=billed.usd if billed else None,
        smallest_purchase_usd=None,
        bill=billed.bill if billed else None,
        availability=availability(listed, today=today),
        firm=is_firm(option),
        not_allowed=text_of(limit_reasons),
        not_allowed_reasons=limit_reasons,
        energy_kwh=None,
        carbon_kg=None,
        power_kw=None,
        rated_kw=None,
        known_from=None if option.training_hours is None else "time stated by the plan",
        runs=(),
        doubts=(),
        notes=_notes(plan, job, listed),
        hold=Hold.USE,
        why_not=text_of(reasons),
        why_not_codes=codes_of(reasons),
        reasons=reasons,
    )
    shown = estimate if today is None else on_day(estimate, plan, catalog, today=today, price=listed)
    return EstimatedOption(shown, None, plan.currency, "USD", limit_reasons=limit_reasons, hosted=rates)


def _notes(plan: Plan, job: Job, listed: Price | None) -> tuple[str, ...]:
    """Return notes on the price, on the assumed length of a sample, and on unknown facts."""
    price = [f"price: {listed.note}"] if listed is not None and listed.note else []
    samples = [job.samples_note] if job.samples_note and plan.work.tokens_per_sample is None else []
    return (*price, *samples, NOTHING_KNOWN)


def _rates(plan: Plan, job: Job, price: Quantity | None, catalog: Catalog) -> HostedRates | None:
    """Return the rates of the bill; None without a price, or if a sample has no number of tokens."""
    if price is None or job.tokens_per_epoch is None:
        return None
    tokens = job.tokens_per_epoch * job.epochs / MILLION
    return HostedRates(price, tokens, support_fraction(plan.assumptions, catalog), plan.currency)


def _reasons(hosted: HostedOption, job: Job, price: Quantity | None) -> tuple[Reason, ...]:
    reasons = [] if hosted.option.training_hours is not None else [NO_TIME]
    if price is None:
        assert hosted.price is not None, "an option without any price is refused"
        reasons.append(Reason(code=ReasonCode.NO_PRICE, text=f"no price: {hosted.price.no_price_reason}"))
    elif job.tokens_per_epoch is None:
        reasons.append(NO_TOKENS)
    elif job.setup.objective.generates:
        reasons.append(GENERATES)
    return tuple(reasons)


def _price(hosted: HostedOption, catalog: Catalog, *, today: date | None) -> Quantity | None:
    own, row = hosted.option.usd_per_million_tokens, hosted.price
    unit = Unit.USD_PER_MILLION_TOKENS
    if own is not None:
        return to_quantity(Interval.exact(own), unit, Basis.QUOTED, "the plan: usd_per_million_tokens")
    if row is None or row.usd_per_million_tokens is None:
        return None
    return listed_price(row, row.usd_per_million_tokens, unit, catalog, today=today)


def _stated_hours(hours: float) -> Quantity:
    return to_quantity(Interval.exact(hours), Unit.HOURS, Basis.ASSUMED, "the plan: training_hours")


def _unknown(offer: str, catalog: Catalog, *, where: str) -> InputError:
    """Return the error for a name that is no training service: a machine's, or an unknown one."""
    if offer in catalog.nodes or prices_of(offer, catalog):
        return InputError(
            f"{where}.price: {offer} is a machine, and is paid by the hour.",
            fix="Name another kind of price, or the service's own item with its usd_per_million_tokens.",
        )
    every = (*catalog.own_prices, *catalog.prices)
    services = {row.node for row in every if row.price_kind is PriceKind.HOSTED_TRAINING}
    known = f" Known: {', '.join(sorted(services))}." if services else ""
    fix = f"Give usd_per_million_tokens on the option, or add its price to a file of your own.{known}"
    return NotFoundError("hosted training", offer, services, where=f"{where}.offer", fix=fix)
