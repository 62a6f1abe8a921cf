"""Contradictions between a probe and the user's own runs of a machine, and the note about them."""

from __future__ import annotations

from collections.abc import Sequence

from planner.model.catalog import Catalog
from planner.model.evidence.calibration import Calibration
from planner.model.evidence.run import RunRecord
from planner.scenario.candidate import Candidate
from planner.scenario.machine import machine_of
from planner.speed.physics.observation import Observation
from planner.speed.physics.planned_config import observed_run
from planner.speed.throughput.probe_evidence import probe_evidence

CONTRADICTED_FRACTION = 0.15
"""Least half-width of a measurement that a probe contradicts; it is that of a window of seconds."""


def contradiction_text(own: tuple[Observation, ...], calibration: Calibration) -> str | None:
    """Return a note if runs and kernels contradict each other by over two standard deviations; else None."""
    from planner.speed.estimator.text_estimator import contradiction_of

    if not any(observation.kernel for observation in own):
        return None
    found = contradiction_of(own, calibration)
    if found is None:
        return None
    run, ratio = found
    return (
        f"the probe contradicts your run {run}, which takes {ratio:.2g} times as long as its kernels say: the range is "
        "wider; probe or measure again, with nothing else running"
    )


def measurement_contradicted(runs: Sequence[RunRecord], candidate: Candidate, catalog: Catalog) -> str | None:
    """Return a note if runs that measured a machine contradict its probe; None if not, or without a probe of it."""
    first = runs[0]
    network = first.architecture
    if not catalog.probes or catalog.calibration is None or network is None or network.sample != "tokens":
        return None
    probe = probe_evidence(candidate, catalog, precision=first.precision, compiled=bool(first.compiled))
    observed = [observed_run(run, catalog, machine_of(run, catalog)[0]) for run in runs]
    known = [observation for observation in observed if observation is not None]
    if not probe.of_this_machine or len(known) < len(runs):
        return None
    return contradiction_text((*known, *probe.observations), catalog.calibration)
