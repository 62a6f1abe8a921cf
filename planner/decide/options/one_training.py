"""Throughput, hours, energy and emissions of one training on one candidate."""

from __future__ import annotations

from planner.cost.power.energy import carbon_kg, node_energy_kwh
from planner.duration.goodput import train_hours
from planner.model.plan.plan import Plan
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.conversion import derived, interval, to_quantity
from planner.quantity.interval import Interval
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.speed.throughput.speed import Speed


def throughput_of(speed: Speed) -> Quantity | None:
    """Return samples/s of the whole cluster; None if unknown."""
    if speed.samples_per_s is None:
        return None
    return to_quantity(speed.samples_per_s, Unit.SAMPLES_PER_S, speed.basis, speed.source, speed.as_of)


def hours_of(throughput: Quantity | None, job: Job, *, epochs: float) -> Quantity | None:
    """Return the hours of the steps of a number of epochs: samples / samples/s / goodput / 3600."""
    if throughput is None:
        return None
    hours = train_hours(
        samples=job.samples_per_epoch * epochs,
        samples_per_s=interval(throughput, Unit.SAMPLES_PER_S),
        goodput_fraction=job.goodput_fraction or 1.0,
    )
    goodput = f" / {job.goodput_fraction:g} goodput" if job.goodput_fraction not in (None, 1) else ""
    samples = job.samples_text + (f" x {epochs:g} epochs" if epochs != 1 else "")
    source = f"{samples} / {throughput.value:.6g} samples/s{goodput} / 3600; {throughput.source}"
    return derived(hours, Unit.HOURS, throughput, source=source)


def energy_of(training: Quantity | None, power: Quantity | None, candidate: Candidate) -> Quantity | None:
    """Return kWh at the nodes: hours x nodes x kW."""
    if training is None or power is None:
        return None
    kwh = node_energy_kwh(
        hours=interval(training, Unit.HOURS), nodes=candidate.nodes, power_kw=interval(power, Unit.KW)
    )
    source = f"{training.value:.5g} h{times_nodes(candidate)} x {power.value:g} kW; {power.source}"
    return derived(kwh, Unit.KWH, training, power, source=source)


def carbon_of(energy: Quantity | None, building: Quantity, plan: Plan) -> Quantity | None:
    """Return kg of CO2 equivalent: kWh x PUE x kg/kWh; None if the plan gives no carbon intensity."""
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


def times_nodes(candidate: Candidate) -> str:
    """Write the factor of nodes in a formula; nothing for one node."""
    return f" x {candidate.nodes} nodes" if candidate.nodes > 1 else ""
