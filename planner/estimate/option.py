"""One option, estimated: joins speed, time, money and energy, and says how each number is known."""

from __future__ import annotations

from planner.estimate.border import computed, interval, stated
from planner.estimate.candidate import Candidate
from planner.estimate.cloud_cost import rent_usd
from planner.estimate.duration import train_hours
from planner.estimate.energy import energy_usd, node_energy_kwh
from planner.estimate.job import Job
from planner.estimate.power import rated_power, training_power
from planner.estimate.price import minimum_term_note, no_price_reason, price_of
from planner.estimate.speed import Speed, speed
from planner.model.answer import OptionEstimate
from planner.model.catalog import Catalog
from planner.model.offer import PriceKind
from planner.model.quantity import Quantity, Unit

NO_OWNING_COST = "usd_total: the full cost of owning is not part of this version; usd_marginal is the electricity"


def estimate_option(
    job: Job, candidate: Candidate, catalog: Catalog, *, electricity: Quantity, pue: Quantity
) -> OptionEstimate:
    """Estimate one training of the job on one candidate."""
    found = speed(job, candidate, catalog)
    missing: list[str] = []
    notes = list(found.notes)
    throughput = _throughput(found)
    epoch = training = None
    if throughput is None:
        missing.append(found.problem or "throughput is not known")
    else:
        epoch = _hours(throughput, job, samples=job.samples_per_epoch, what=f"{job.samples_per_epoch:,.0f} samples")
        training = _hours(
            throughput, job, samples=job.samples, what=f"{job.samples_per_epoch:,.0f} samples x {job.epochs:g} epochs"
        )
    rated = rated_power(candidate)
    power = training_power(candidate, found, catalog)
    energy = _energy(training, power, candidate)
    price = price_of(candidate)
    per_epoch = total = marginal = None
    if candidate.site is not None:
        missing.append(NO_OWNING_COST)
        marginal = _electricity_usd(energy, electricity, pue)
        if training is not None and energy is None:
            missing.append(f"energy_kwh and usd_marginal: no power is known for {candidate.node.id}; give power_kw")
    elif price is None:
        missing.append(no_price_reason(candidate))
    elif training is not None and epoch is not None:
        per_epoch = _rent(epoch, price, candidate)
        total = marginal = _rent(training, price, candidate)
        if candidate.price is not None and candidate.price.note and candidate.option.usd_per_hour is None:
            notes.append(f"price: {candidate.price.note}")
        notes += minimum_term_note(candidate.price, training, candidate)
    if candidate.site is None and training is not None and energy is None:
        missing.append(f"energy_kwh: no power is known for {candidate.node.id}; give power_kw")
    if candidate.accelerator.support_ended:
        notes.append(f"{candidate.accelerator.id}: {candidate.accelerator.support_ended}")
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
        fits=found.fit.fits,
        strategy=found.strategy,
        micro_batch=found.fit.micro_batch,
        checkpointing=found.fit.checkpointing,
        throughput=throughput,
        epoch_hours=epoch,
        training_hours=training,
        usd_per_hour=price,
        usd_per_epoch=per_epoch,
        usd_total=total,
        usd_marginal=marginal,
        energy_kwh=energy,
        power_kw=power,
        rated_kw=rated,
        runs=found.run_ids,
        doubts=found.doubts,
        notes=tuple(notes),
        why_not="; ".join(missing) or None,
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


def _hours(throughput: Quantity, job: Job, *, samples: float, what: str) -> Quantity:
    hours = train_hours(
        samples=samples,
        samples_per_s=interval(throughput, Unit.SAMPLES_PER_S),
        goodput_fraction=job.goodput_fraction,
    )
    goodput = "" if job.goodput_fraction == 1 else f" / {job.goodput_fraction:g} goodput"
    source = f"{what} / {throughput.value:.6g} samples/s{goodput} / 3600; {throughput.source}"
    return computed(hours, Unit.HOURS, throughput, source=source)


def _energy(training: Quantity | None, power: Quantity | None, candidate: Candidate) -> Quantity | None:
    if training is None or power is None:
        return None
    kwh = node_energy_kwh(
        hours=interval(training, Unit.HOURS), nodes=candidate.nodes, power_kw=interval(power, Unit.KW)
    )
    source = f"{training.value:.5g} h x {candidate.nodes} node(s) x {power.value:g} kW; {power.source}"
    return computed(kwh, Unit.KWH, training, power, source=source)


def _electricity_usd(energy: Quantity | None, electricity: Quantity, pue: Quantity) -> Quantity | None:
    if energy is None:
        return None
    usd = energy_usd(
        energy_kwh=interval(energy, Unit.KWH),
        pue=interval(pue, Unit.RATIO),
        usd_per_kwh=interval(electricity, Unit.USD_PER_KWH),
    )
    source = f"{energy.value:.5g} kWh x {pue.value:g} PUE x {electricity.value:g} USD/kWh; {electricity.source}"
    return computed(usd, Unit.USD, energy, electricity, pue, source=source)


def _rent(hours: Quantity, price: Quantity, candidate: Candidate) -> Quantity:
    usd = rent_usd(
        hours=interval(hours, Unit.HOURS),
        nodes=candidate.nodes,
        usd_per_node_hour=interval(price, Unit.USD_PER_HOUR),
    )
    source = f"{hours.value:.5g} h x {candidate.nodes} node(s) x {price.value:g} USD/h; {price.source}"
    return computed(usd, Unit.USD, hours, price, source=source)
