"""Power that one node of a candidate draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.cost.power.circuit import node_rated_kw
from planner.cost.power.energy import average_power_kw
from planner.model.catalog import Catalog
from planner.model.quantity import Basis, Quantity, Unit, weakest
from planner.quantity.conversion import derived, interval, to_quantity
from planner.quantity.interval import Interval
from planner.scenario.candidate import Candidate
from planner.scenario.hardware_match import same_hardware

POWER_STATED_FRACTION = 0.2
"""Uncertainty of a power figure that a plan states."""


@dataclass(frozen=True)
class TrainingPower:
    """Power of one node in training; None if no source states it."""

    kw: Quantity | None
    from_rated_share: bool = False
    """True if computed from the rated power and the default share of it in training."""


def rated_power(candidate: Candidate) -> Quantity | None:
    """Return the maximum power of one node by its data sheet, for comparison."""
    node = candidate.node
    if node.rated_kw is None:
        return None
    return to_quantity(
        Interval.exact(node.rated_kw), Unit.KW, Basis.QUOTED, f"data sheet of {node.id}: {node.source}", node.as_of
    )


def training_power(candidate: Candidate, run_ids: Sequence[str], catalog: Catalog) -> TrainingPower:
    """Return the power of one node in training: the plan's, a measurement, the site's, or a share of the rated power.

    `run_ids` are the runs behind the speed. Power measured at the accelerators alone is not the node's power: see
    `_with_measured_accelerators`.
    """
    option = candidate.option
    if option.power_kw is not None:
        doubt = Interval.exact(option.power_kw).widened_to(POWER_STATED_FRACTION)
        source = f"the plan: power_kw {option.power_kw:g}"
        return TrainingPower(to_quantity(doubt, Unit.KW, Basis.ASSUMED, source))
    for run_id in run_ids:
        run = catalog.runs[run_id]
        if run.power is not None and same_hardware(run, candidate):
            return TrainingPower(run.power)
    site_power = candidate.site.power if candidate.site is not None else None
    capped = option.power_cap_w is not None
    if site_power is None or site_power.basis is not Basis.MEASURED or capped:
        whole = _with_measured_accelerators(candidate, run_ids, catalog)
        if whole is not None or capped:  # under a cap, a figure without the cap says nothing
            return TrainingPower(whole, from_rated_share=whole is not None)
    if site_power is not None:
        return TrainingPower(_site_power(site_power, candidate, catalog))
    share = _share_of_rated(candidate, catalog)
    return TrainingPower(share, from_rated_share=share is not None)


def _with_measured_accelerators(candidate: Candidate, run_ids: Sequence[str], catalog: Catalog) -> Quantity | None:
    """Return a node's power from its accelerators' measured power, plus the data sheet's power for the rest.

    kW = measured kW of the accelerators + (rated kW - accelerators x TDP) x share that a node draws in training

    The rest draws at least its idle share and at most all of it. Returns None if no such run exists, if some of the
    node's accelerators idle, or if a data sheet is missing.
    """
    rated, tdp_w = _rated_kw(candidate), candidate.accelerator.tdp_w
    if rated is None or tdp_w is None or _busy_fraction(candidate) < 1:
        return None
    rest_kw = rated - candidate.accelerators_per_node * tdp_w / 1000
    runs = (catalog.runs[run_id] for run_id in run_ids)
    measured = next((run for run in runs if run.accelerator_power is not None and same_hardware(run, candidate)), None)
    if measured is None or rest_kw <= 0:
        return None
    drawn = measured.accelerator_power
    assert drawn is not None
    each = interval(drawn, Unit.KW).scaled(1 / candidate.nodes)
    training, idle = catalog.defaults.training_power_fraction, catalog.defaults.idle_power_fraction
    power = Interval(each.value + rest_kw * training.value, each.low + rest_kw * idle.value, each.high + rest_kw)
    source = (
        f"{each.value:.4g} kW of the accelerators alone (measured, run {measured.id}) + {rest_kw:.4g} kW rated for the "
        f"rest x {training.value:g} in training"
    )
    dates = [day for day in (drawn.as_of, training.as_of) if day]
    return to_quantity(
        power, Unit.KW, weakest(Basis.MODELLED, drawn.basis, training.basis), source, min(dates, default=None)
    )


def _rated_kw(candidate: Candidate) -> float | None:
    if candidate.site is not None:
        return node_rated_kw(candidate.site, candidate.node)
    return candidate.node.rated_kw


def _site_power(power: Quantity, candidate: Candidate, catalog: Catalog) -> Quantity:
    """Return the site's node power, minus what idle accelerators do not draw.

    kW = site's kW x (busy + (1 - busy) x idle / training), the latter two being shares of rated power.
    """
    busy = _busy_fraction(candidate)
    if busy == 1:
        return power
    training, idle = catalog.defaults.training_power_fraction, catalog.defaults.idle_power_fraction
    share = Interval(
        busy + (1 - busy) * idle.value / training.value,
        busy + (1 - busy) * idle.low / training.high,
        busy + (1 - busy) * idle.high / training.low,
    )
    shares = f"({busy:g} at work + {1 - busy:g} idle x {idle.value:g}/{training.value:g})"
    source = f"{power.value:g} kW x {shares}; {power.source}"
    return derived(interval(power, Unit.KW).times(share), Unit.KW, power, training, idle, source=source)


def _share_of_rated(candidate: Candidate, catalog: Catalog) -> Quantity | None:
    rated = rated_power(candidate)
    if rated is None:
        return None
    training, idle = catalog.defaults.training_power_fraction, catalog.defaults.idle_power_fraction
    busy = _busy_fraction(candidate)
    power = average_power_kw(
        rated_kw=rated.value,
        busy_fraction=busy,
        training=interval(training, Unit.RATIO),
        idle=interval(idle, Unit.RATIO),
    )
    parts = [rated, training] if busy == 1 else [rated, training, idle]
    basis = weakest(Basis.MODELLED, *(part.basis for part in parts))  # shares measured on other machines
    shares = f"{training.value:g}"
    if busy < 1:
        shares = f"({training.value:g} x {busy:g} at work + {idle.value:g} x {1 - busy:g} idle)"
    source = f"{rated.value:g} kW rated ({candidate.node.source}) x {shares} in training"
    return to_quantity(power, Unit.KW, basis, source, min((part.as_of for part in parts if part.as_of), default=None))


def _busy_fraction(candidate: Candidate) -> float:
    return candidate.accelerators_per_node / candidate.node.accelerators
