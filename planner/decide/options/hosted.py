"""Training by a service that is paid by the token: what it costs, and what nobody outside can know of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date

from planner.cost.cloud.bill_rates import support_fraction
from planner.cost.cloud.hosted_bill import HostedRates, hosted_bill
from planner.decide.options.option import EstimatedOption, on_day
from planner.errors import InputError, NotFoundError
from planner.model.answer.documents import OptionEstimate
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan
from planner.model.plan.plan_option import PlanOption
from planner.model.prices.offer import Price, PriceKind
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.conversion import to_quantity
from planner.quantity.interval import Interval
from planner.scenario.candidate import ANY_REGION, find_price, prices_of
from planner.scenario.job import Job
from planner.scenario.places import place_of_region, ruled_out

MILLION = 1e6
NO_TIME = "training_hours: the service does not say how long it takes; give training_hours on the option"
NO_TOKENS = "usd_total: a sample of this workload is no number of tokens, and a service is paid by the token"


@dataclass(frozen=True)
class HostedOption:
    """An option of the plan that a service trains."""

    id: str
    position: int
    """Among the plan's options."""
    option: PlanOption
    price: Price | None

    @property
    def listed(self) -> Price | None:
        """The row whose price counts; None at a price of the plan's own."""
        return self.price if self.option.usd_per_million_tokens is None else None

    @property
    def region(self) -> str | None:
        """Where it is done: the row's place, or at a price of the plan's own the one that the plan names."""
        if self.listed is not None:
            return self.listed.region
        return self.option.region or (self.price.region if self.price else None)


def expand_hosted(plan: Plan, catalog: Catalog) -> Iterator[HostedOption]:
    """Find the price of each option that a service trains; one that no catalog knows needs a price of its own."""
    taken: dict[str, int] = {}
    for position, option in enumerate(plan.options):
        if not option.hosted:
            continue
        assert option.offer is not None, "the plan's model asks for it"
        where = f"options.{position}"
        price = find_price(option, catalog, where=where)
        if price is None and option.usd_per_million_tokens is None:
            raise _unknown(option.offer, catalog, where=where)
        found = HostedOption(option.offer, position, option, price)
        name = f"{option.offer}:{found.region or ANY_REGION}:{PriceKind.HOSTED_TRAINING.value}"
        count = taken[name] = taken.get(name, 0) + 1
        yield replace(found, id=f"{name}#{count}" if count > 1 else name)


def estimate_hosted(
    plan: Plan, job: Job, hosted: HostedOption, catalog: Catalog, *, today: date | None = None
) -> EstimatedOption:
    """Estimate one training by a service.

    USD = million tokens x USD per million tokens;  tokens = samples of an epoch x epochs x tokens of a sample

    Time is what the plan says of it, else not known: nobody outside knows the machines or the queue. What the service
    trains is its own affair, so nothing is asked of memory. Source: the services' price lists.
    """
    option, price = hosted.option, _price(hosted)
    hours = None if option.training_hours is None else _stated_hours(option.training_hours)
    missing = [] if hours is not None else [NO_TIME]
    rates = None
    if price is None:
        assert hosted.price is not None, "an option without any price is refused"
        missing.append(f"no price: {hosted.price.no_price_reason}")
    elif job.seq_len is None:
        missing.append(NO_TOKENS)
    else:
        tokens = job.samples_per_epoch * job.epochs * job.seq_len / MILLION
        support = support_fraction(plan.assumptions, catalog)
        rates = HostedRates(price, tokens, support, plan.currency)
    billed = None if rates is None else hosted_bill(rates, trainings=1)
    listed = hosted.listed
    notes = [f"price: {listed.note}"] if listed is not None and listed.note else []
    notes.append(
        "nothing is known of its machines: no energy, no speed; that it trains this network is the plan's word"
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
        training_hours=hours,
        usd_per_hour=None,
        usd_per_million_tokens=price,
        list_usd_per_million_tokens=listed.list_usd_per_million_tokens if listed else None,
        usd_per_epoch=None,
        usd_total=billed.usd if billed else None,
        usd_marginal=billed.usd if billed else None,
        smallest_purchase_usd=None,
        bill=billed.bill if billed else None,
        not_allowed=ruled_out(place_of_region(hosted.region), None, plan.limits),
        energy_kwh=None,
        carbon_kg=None,
        power_kw=None,
        rated_kw=None,
        runs=(),
        doubts=(),
        notes=tuple(notes),
        why_not="; ".join(missing) or None,
    )
    shown = estimate if today is None else on_day(estimate, plan, catalog, today=today)
    return EstimatedOption(shown, None, plan.currency, "USD", outside=estimate.not_allowed, hosted=rates)


def _price(hosted: HostedOption) -> Quantity | None:
    own, row = hosted.option.usd_per_million_tokens, hosted.price
    unit = Unit.USD_PER_MILLION_TOKENS
    if own is not None:
        return to_quantity(Interval.exact(own), unit, Basis.QUOTED, "the plan: usd_per_million_tokens")
    if row is None or row.usd_per_million_tokens is None:
        return None
    basis = Basis.ASSUMED if row.confidence == "estimate" else Basis.QUOTED
    source = f"{row.price_kind.value} in {row.region}: {row.source}"
    return to_quantity(Interval.exact(row.usd_per_million_tokens), unit, basis, source, row.as_of)


def _stated_hours(hours: float) -> Quantity:
    return to_quantity(Interval.exact(hours), Unit.HOURS, Basis.ASSUMED, "the plan: training_hours")


def _unknown(offer: str, catalog: Catalog, *, where: str) -> InputError:
    """Say that nobody trains by this name: it is a machine, or is not known at all."""
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
