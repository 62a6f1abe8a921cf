"""What one node of a candidate draws."""

from __future__ import annotations

from planner.estimate.border import interval, stated
from planner.estimate.candidate import Candidate
from planner.estimate.energy import average_power_kw
from planner.estimate.interval import Interval
from planner.estimate.speed import Speed
from planner.model.catalog import Catalog
from planner.model.quantity import Basis, Quantity, Unit

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
        if run.power is not None and run.hardware.node == candidate.node.id:
            return run.power
    if candidate.site is not None and candidate.site.power is not None:
        return candidate.site.power
    if candidate.node.rated_kw is None:
        return None
    training, idle = catalog.defaults.training_power_fraction, catalog.defaults.idle_power_fraction
    power = average_power_kw(
        rated_kw=candidate.node.rated_kw,
        busy_fraction=candidate.accelerators_per_node / candidate.node.accelerators,
        training=interval(training, Unit.RATIO),
        idle=interval(idle, Unit.RATIO),
    )
    source = f"{candidate.node.rated_kw:g} kW rated ({candidate.node.source}) x {training.value:g} in training"
    return stated(power, Unit.KW, Basis.MODELLED, source, candidate.node.as_of)
