"""What one node of a candidate draws."""

from __future__ import annotations

from planner.estimate.border import computed, interval, stated
from planner.estimate.candidate import Candidate
from planner.estimate.energy import average_power_kw
from planner.estimate.evidence import same_hardware
from planner.estimate.interval import Interval
from planner.estimate.speed import Speed
from planner.model.catalog import Catalog
from planner.model.quantity import Basis, Quantity, Unit, weakest

POWER_STATED_FRACTION = 0.2
"""The doubt in a power figure that a plan states."""


def rated_power(candidate: Candidate) -> Quantity | None:
    """Return what the data sheet says one node draws at most, to stand beside."""
    node = candidate.node
    if node.rated_kw is None:
        return None
    return stated(
        Interval.exact(node.rated_kw), Unit.KW, Basis.QUOTED, f"data sheet of {node.id}: {node.source}", node.as_of
    )


def training_power(candidate: Candidate, found: Speed, catalog: Catalog) -> Quantity | None:
    """Return what one node draws in training: the plan, a measurement, the site, or a share of the rated power."""
    option = candidate.option
    if option.power_kw is not None:
        doubt = Interval.exact(option.power_kw).widened_to(POWER_STATED_FRACTION)
        return stated(doubt, Unit.KW, Basis.ASSUMED, f"the plan: power_kw {option.power_kw:g}")
    for run_id in found.run_ids:
        run = catalog.runs[run_id]
        if run.power is not None and same_hardware(run, candidate):
            return run.power
    if candidate.site is not None and candidate.site.power is not None:
        return _site_power(candidate.site.power, candidate, catalog)
    return _share_of_rated(candidate, catalog)


def _site_power(power: Quantity, candidate: Candidate, catalog: Catalog) -> Quantity:
    """Return what the site says its node draws, less what accelerators that idle do not draw.

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
    return computed(interval(power, Unit.KW).times(share), Unit.KW, power, training, idle, source=source)


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
    return stated(power, Unit.KW, basis, source, min((part.as_of for part in parts if part.as_of), default=None))


def _busy_fraction(candidate: Candidate) -> float:
    return candidate.accelerators_per_node / candidate.node.accelerators
