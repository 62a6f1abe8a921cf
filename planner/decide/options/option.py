"""One option, estimated: joins speed, time, money and energy, and says how each number is known."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from planner.cost.cloud.allocation import beyond_allocation
from planner.cost.cloud.bill import Work, owned_bill, rented_bill
from planner.cost.cloud.bill_rates import BillRates, bill_rates, launch_hours
from planner.cost.cloud.billing_terms import terms_notes
from planner.cost.cloud.cloud_cost import rent_usd
from planner.cost.cloud.credits import with_credits
from planner.cost.cloud.hosted_bill import HostedRates
from planner.cost.cloud.price import list_price_of, no_price_reason, price_notes, price_of
from planner.cost.cloud.price_age import dated
from planner.cost.ownership.circuit import circuit_problem
from planner.cost.ownership.electricity import cloud_pue, paid_in, pue
from planner.cost.ownership.energy import carbon_kg, node_energy_kwh
from planner.cost.ownership.owned_money import owned_money
from planner.cost.ownership.power import rated_power, training_power
from planner.duration.duration import last_day, train_hours
from planner.duration.training_time import Timed, training_time
from planner.model.answer.bill import Bill
from planner.model.answer.documents import OptionEstimate
from planner.model.answer.training_time import TrainingTime
from planner.model.catalog import Catalog
from planner.model.currency import Currency
from planner.model.plan.plan import Owning, Plan
from planner.model.prices.offer import Price, PriceKind
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.conversion import derived, interval, to_quantity
from planner.quantity.interval import Interval
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.scenario.places import not_allowed
from planner.speed.throughput.speed import Speed, fastest


@dataclass(frozen=True)
class _Money:
    """What one training costs, and why what is missing is missing."""

    usd_per_epoch: Quantity | None = None
    usd_total: Quantity | None = None
    usd_marginal: Quantity | None = None
    smallest_purchase_usd: Quantity | None = None
    bill: Bill | None = None
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class EstimatedOption:
    """An option's estimate, with what the bill of a whole campaign multiplies."""

    option: OptionEstimate
    rates: BillRates | None
    """None: owned, or without a price."""
    currency: Currency | None
    tariff_currency: str
    """In which an owned machine's electricity is paid."""
    outside: str | None = None
    """Why the plan's limits rule its place out."""
    price: Price | None = None
    """The row whose price counts; None: owned, or at a price of the plan's own."""
    hosted: HostedRates | None = None
    """Of a service that trains by the token."""


def estimate_option(
    plan: Plan, job: Job, candidate: Candidate, catalog: Catalog, *, today: date | None = None
) -> EstimatedOption:
    """Estimate one training of the job on one candidate."""
    candidate, found = fastest(job, candidate, catalog)
    throughput = _throughput(found)
    epoch = _hours(throughput, job, epochs=1.0)
    training = _hours(throughput, job, epochs=job.epochs)
    power = training_power(candidate, found.run_ids, catalog)
    rates = None
    tariff = paid_in(candidate.site, plan, catalog)
    building = pue(candidate.site, plan, catalog) if candidate.site is not None else cloud_pue(plan, catalog)
    price = price_of(candidate)
    if candidate.site is None and price is not None:
        rates = bill_rates(plan, job, candidate, price, catalog)
    timed = Timed(None)
    if throughput is not None and training is not None:
        launch = launch_hours(plan, job, catalog) if candidate.site is None else None
        timed = training_time(
            plan, job, candidate, catalog, throughput=throughput, training=training, strategy=found.strategy,
            launch=launch,
        )  # fmt: skip
        training = None if timed.problem else training  # it never ends, whatever its steps would take
    wall = timed.time.wall_hours if timed.time is not None else None
    energy = _energy(wall, power, candidate)
    if candidate.site is not None:
        money = _owned_money(plan, candidate, catalog, epoch, wall, energy, power, paid_in=tariff)
    elif rates is None:
        money = _Money(missing=(no_price_reason(candidate, catalog),))
    else:
        money = _rented_money(epoch, training, timed.time, candidate, rates)
    missing = [] if throughput is not None else [found.problem or "throughput is not known"]
    missing += [timed.problem] if timed.problem else []
    overload = circuit_problem(candidate.site, candidate.node, nodes=candidate.site.nodes) if candidate.site else None
    if overload is not None:
        missing.insert(0, overload)
    missing += money.missing
    if wall is not None and energy is None:
        missing.append(f"energy_kwh: no power is known for {candidate.node.id}; give power_kw")
    known = (candidate.accelerator.support_ended, candidate.accelerator.trap)
    notes = (
        found.notes + timed.notes + money.notes + tuple(f"{candidate.accelerator.id}: {text}" for text in known if text)
    )
    estimate = OptionEstimate(
        id=candidate.id,
        name=_name(candidate),
        offer=candidate.option.offer,
        site=candidate.site.id if candidate.site else None,
        region=_region(candidate),
        price_kind=_price_kind(candidate),
        nodes=candidate.nodes,
        accelerators=candidate.accelerators,
        accelerator=candidate.accelerator.id,
        fits=found.fit.fits if overload is None else False,
        strategy=found.strategy,
        split=candidate.way.split if candidate.way else None,
        micro_batch=found.fit.micro_batch,
        checkpointing=found.fit.checkpointing,
        throughput=throughput,
        epoch_hours=epoch,
        training_hours=training,
        time=timed.time,
        usd_per_hour=price,
        list_usd_per_hour=list_price_of(candidate),
        usd_per_epoch=money.usd_per_epoch,
        usd_total=money.usd_total,
        usd_marginal=money.usd_marginal,
        smallest_purchase_usd=money.smallest_purchase_usd,
        bill=money.bill,
        not_allowed=not_allowed(candidate, plan.limits),
        energy_kwh=energy,
        carbon_kg=_carbon(energy, building, plan),
        power_kw=power,
        rated_kw=rated_power(candidate),
        runs=found.run_ids,
        doubts=found.doubts,
        notes=notes,
        why_not="; ".join(missing) or None,
    )
    row = None if candidate.site is not None or candidate.has_own_price else candidate.price
    shown = estimate if today is None else on_day(estimate, plan, catalog, today=today, price=row)
    return EstimatedOption(shown, rates, plan.currency, tariff, outside=estimate.not_allowed, price=row)


def on_day(
    estimate: OptionEstimate, plan: Plan, catalog: Catalog, *, today: date, price: Price | None = None
) -> OptionEstimate:
    """Return the estimate of a training that starts on a day: the age of its price, its credits, its allocation.

    It starts on the campaign's first day, where the plan names one.
    """
    if estimate.bill is not None and estimate.offer is not None and estimate.wall_hours is not None:
        start = plan.campaign.start or today
        finish = last_day(start=start, hours=estimate.wall_hours.value)
        provider = estimate.offer.partition("/")[0]
        bill = with_credits(estimate.bill, catalog.credits, provider=provider, finish=finish)
        beyond = beyond_allocation(price, bill=bill, start=start, finish=finish)
        estimate = estimate.model_copy(update={"bill": bill, "not_allowed": joined(estimate.not_allowed, beyond)})
    return dated(estimate, today=today)


def joined(*reasons: str | None) -> str | None:
    """Join the reasons that there are."""
    return "; ".join(reason for reason in reasons if reason) or None


def _owned_money(
    plan: Plan,
    candidate: Candidate,
    catalog: Catalog,
    epoch: Quantity | None,
    training: Quantity | None,
    energy: Quantity | None,
    power: Quantity | None,
    *,
    paid_in: str,
) -> _Money:
    """Count an owned machine at the margin and in full; its bill is the one that the plan asks for."""
    found = owned_money(plan, candidate, catalog, epoch=epoch, training=training, energy=energy, power=power)
    in_full = plan.owning is Owning.FULL
    billed = None
    if found.usd_total is not None or not in_full:
        full = found.usd_total if in_full else None
        billed = owned_bill(found.usd_marginal, trainings=1, currency=plan.currency, paid_in=paid_in, full=full)
    return _Money(
        usd_per_epoch=found.usd_per_epoch,
        usd_total=found.usd_total,
        usd_marginal=found.usd_marginal,
        bill=billed.bill if billed else None,
        missing=found.missing,
        notes=found.notes,
    )


def _rented_money(
    epoch: Quantity | None, training: Quantity | None, time: TrainingTime | None, candidate: Candidate, rates: BillRates
) -> _Money:
    """Count the whole bill of one training that is run alone."""
    if epoch is None or training is None or time is None:
        return _Money()
    billed = rented_bill(training, rates, Work(), lost=time.lost_hours)
    return _Money(
        usd_per_epoch=_rent(epoch, rates.price, candidate),
        usd_total=billed.worth,
        usd_marginal=billed.usd,
        smallest_purchase_usd=billed.bought,
        bill=billed.bill,
        notes=price_notes(candidate) + terms_notes(candidate),
    )


def _name(candidate: Candidate) -> str:
    count = f"{candidate.accelerators}x {candidate.accelerator.id}"
    where = candidate.site.name if candidate.site else candidate.node.name
    return f"{where} ({count})"


def _region(candidate: Candidate) -> str | None:
    if candidate.site is not None:
        return None
    return candidate.price.region if candidate.price else candidate.option.region


def _price_kind(candidate: Candidate) -> PriceKind | None:
    return None if candidate.site is not None else candidate.option.price or PriceKind.ON_DEMAND


def _throughput(found: Speed) -> Quantity | None:
    if found.samples_per_s is None:
        return None
    value = found.samples_per_s
    return to_quantity(value, Unit.SAMPLES_PER_S, found.basis, found.source, found.as_of)


def _hours(throughput: Quantity | None, job: Job, *, epochs: float) -> Quantity | None:
    if throughput is None:
        return None
    hours = train_hours(
        samples=job.samples_per_epoch * epochs,
        samples_per_s=interval(throughput, Unit.SAMPLES_PER_S),
        goodput_fraction=job.goodput_fraction or 1.0,
    )
    goodput = f" / {job.goodput_fraction:g} goodput" if job.goodput_fraction not in (None, 1) else ""
    samples = f"{job.samples_per_epoch:,.0f} samples" + (f" x {epochs:g} epochs" if epochs != 1 else "")
    source = f"{samples} / {throughput.value:.6g} samples/s{goodput} / 3600; {throughput.source}"
    return derived(hours, Unit.HOURS, throughput, source=source)


def _energy(training: Quantity | None, power: Quantity | None, candidate: Candidate) -> Quantity | None:
    if training is None or power is None:
        return None
    kwh = node_energy_kwh(
        hours=interval(training, Unit.HOURS), nodes=candidate.nodes, power_kw=interval(power, Unit.KW)
    )
    source = f"{training.value:.5g} h{_times_nodes(candidate)} x {power.value:g} kW; {power.source}"
    return derived(kwh, Unit.KWH, training, power, source=source)


def _carbon(energy: Quantity | None, building: Quantity, plan: Plan) -> Quantity | None:
    kg_per_kwh = plan.assumptions.carbon_kg_per_kwh
    if energy is None or kg_per_kwh is None:
        return None
    source = "the plan: assumptions.carbon_kg_per_kwh"
    intensity = to_quantity(Interval.exact(kg_per_kwh), Unit.KG_CO2_PER_KWH, Basis.ASSUMED, source)
    kg = carbon_kg(energy_kwh=interval(energy, Unit.KWH), pue=interval(building, Unit.RATIO), kg_per_kwh=kg_per_kwh)
    product = f"{energy.value:.5g} kWh x {building.value:g} PUE x {kg_per_kwh:g} kg/kWh"
    return derived(
        kg, Unit.KG_CO2, energy, building, intensity, source=f"{product}; {source}; {building.source}; {energy.source}"
    )


def _rent(hours: Quantity, price: Quantity, candidate: Candidate) -> Quantity:
    usd = rent_usd(
        hours=interval(hours, Unit.HOURS),
        nodes=candidate.nodes,
        usd_per_node_hour=interval(price, Unit.USD_PER_HOUR),
    )
    source = f"{hours.value:.5g} h{_times_nodes(candidate)} x {price.value:g} USD/h; {price.source}"
    return derived(usd, Unit.USD, hours, price, source=source)


def _times_nodes(candidate: Candidate) -> str:
    return f" x {candidate.nodes} nodes" if candidate.nodes > 1 else ""
