"""One option, estimated: joins speed, time, money and energy, and says how each number is known."""

from __future__ import annotations

from dataclasses import dataclass

from planner.estimate.border import computed, interval, stated
from planner.estimate.candidate import Candidate
from planner.estimate.circuit import circuit_problem
from planner.estimate.cloud_cost import rent_usd
from planner.estimate.duration import train_hours
from planner.estimate.electricity import cloud_pue, electricity, pue
from planner.estimate.energy import carbon_kg, node_energy_kwh
from planner.estimate.interval import Interval
from planner.estimate.job import Job
from planner.estimate.owned_money import OwnedMoney, owned_money
from planner.estimate.power import rated_power, training_power
from planner.estimate.price import no_price_reason, price_notes, price_of, smallest_purchase_usd
from planner.estimate.speed import Speed, fastest
from planner.model.answer import OptionEstimate
from planner.model.catalog import Catalog
from planner.model.offer import PriceKind
from planner.model.plan import Assumptions
from planner.model.quantity import Basis, Quantity, Unit


@dataclass(frozen=True)
class _Money:
    """What one training costs on a rented machine, and why what is missing is missing."""

    usd_per_epoch: Quantity | None = None
    usd_total: Quantity | None = None
    usd_marginal: Quantity | None = None
    smallest_purchase_usd: Quantity | None = None
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def estimate_option(job: Job, candidate: Candidate, catalog: Catalog, given: Assumptions) -> OptionEstimate:
    """Estimate one training of the job on one candidate."""
    candidate, found = fastest(job, candidate, catalog)
    throughput = _throughput(found)
    epoch = _hours(throughput, job, epochs=1.0)
    training = _hours(throughput, job, epochs=job.epochs)
    power = training_power(candidate, found, catalog)
    energy = _energy(training, power, candidate)
    building = pue(candidate.site, given, catalog) if candidate.site is not None else cloud_pue(given, catalog)
    money: _Money | OwnedMoney
    if candidate.site is not None:
        money = owned_money(
            candidate,
            catalog,
            given,
            epoch=epoch,
            training=training,
            energy=energy,
            power=power,
            electricity=electricity(candidate.site, given, catalog),
            pue=building,
        )
    else:
        money = _rented_money(epoch, training, candidate, catalog)
    missing = [] if throughput is not None else [found.problem or "throughput is not known"]
    overload = circuit_problem(candidate.site, candidate.node, nodes=candidate.site.nodes) if candidate.site else None
    if overload is not None:
        missing.insert(0, overload)
    missing += money.missing
    if training is not None and energy is None:
        missing.append(f"energy_kwh: no power is known for {candidate.node.id}; give power_kw")
    known = (candidate.accelerator.support_ended, candidate.accelerator.trap)
    notes = found.notes + money.notes + tuple(f"{candidate.accelerator.id}: {text}" for text in known if text)
    return OptionEstimate(
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
        micro_batch=found.fit.micro_batch,
        checkpointing=found.fit.checkpointing,
        throughput=throughput,
        epoch_hours=epoch,
        training_hours=training,
        usd_per_hour=price_of(candidate),
        usd_per_epoch=money.usd_per_epoch,
        usd_total=money.usd_total,
        usd_marginal=money.usd_marginal,
        smallest_purchase_usd=money.smallest_purchase_usd if isinstance(money, _Money) else None,
        energy_kwh=energy,
        carbon_kg=_carbon(energy, building, given),
        power_kw=power,
        rated_kw=rated_power(candidate),
        runs=found.run_ids,
        doubts=found.doubts,
        notes=notes,
        why_not="; ".join(missing) or None,
    )


def _rented_money(epoch: Quantity | None, training: Quantity | None, candidate: Candidate, catalog: Catalog) -> _Money:
    """Count the rent; all of it is money that this training adds to the bills."""
    price = price_of(candidate)
    if price is None:
        return _Money(missing=(no_price_reason(candidate, catalog),))
    if epoch is None or training is None:
        return _Money()
    total = _rent(training, price, candidate)
    return _Money(
        usd_per_epoch=_rent(epoch, price, candidate),
        usd_total=total,
        usd_marginal=total,
        smallest_purchase_usd=smallest_purchase_usd(training, candidate),
        notes=price_notes(candidate),
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
    return stated(value, Unit.SAMPLES_PER_S, found.basis, found.source, found.as_of)


def _hours(throughput: Quantity | None, job: Job, *, epochs: float) -> Quantity | None:
    if throughput is None:
        return None
    hours = train_hours(
        samples=job.samples_per_epoch * epochs,
        samples_per_s=interval(throughput, Unit.SAMPLES_PER_S),
        goodput_fraction=job.goodput_fraction,
    )
    goodput = "" if job.goodput_fraction == 1 else f" / {job.goodput_fraction:g} goodput"
    samples = f"{job.samples_per_epoch:,.0f} samples" + (f" x {epochs:g} epochs" if epochs != 1 else "")
    source = f"{samples} / {throughput.value:.6g} samples/s{goodput} / 3600; {throughput.source}"
    return computed(hours, Unit.HOURS, throughput, source=source)


def _energy(training: Quantity | None, power: Quantity | None, candidate: Candidate) -> Quantity | None:
    if training is None or power is None:
        return None
    kwh = node_energy_kwh(
        hours=interval(training, Unit.HOURS), nodes=candidate.nodes, power_kw=interval(power, Unit.KW)
    )
    source = f"{training.value:.5g} h{_times_nodes(candidate)} x {power.value:g} kW; {power.source}"
    return computed(kwh, Unit.KWH, training, power, source=source)


def _carbon(energy: Quantity | None, building: Quantity, given: Assumptions) -> Quantity | None:
    if energy is None or given.carbon_kg_per_kwh is None:
        return None
    source = "the plan: assumptions.carbon_kg_per_kwh"
    intensity = stated(Interval.exact(given.carbon_kg_per_kwh), Unit.KG_CO2_PER_KWH, Basis.ASSUMED, source)
    kg = carbon_kg(
        energy_kwh=interval(energy, Unit.KWH),
        pue=interval(building, Unit.RATIO),
        kg_per_kwh=given.carbon_kg_per_kwh,
    )
    product = f"{energy.value:.5g} kWh x {building.value:g} PUE x {given.carbon_kg_per_kwh:g} kg/kWh"
    return computed(
        kg, Unit.KG_CO2, energy, building, intensity, source=f"{product}; {source}; {building.source}; {energy.source}"
    )


def _rent(hours: Quantity, price: Quantity, candidate: Candidate) -> Quantity:
    usd = rent_usd(
        hours=interval(hours, Unit.HOURS),
        nodes=candidate.nodes,
        usd_per_node_hour=interval(price, Unit.USD_PER_HOUR),
    )
    source = f"{hours.value:.5g} h{_times_nodes(candidate)} x {price.value:g} USD/h; {price.source}"
    return computed(usd, Unit.USD, hours, price, source=source)


def _times_nodes(candidate: Candidate) -> str:
    return f" x {candidate.nodes} nodes" if candidate.nodes > 1 else ""
