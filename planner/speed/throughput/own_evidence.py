"""Measurements that correct an estimate: stored runs, and steps that the plan states for its machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.hardware.machines import Node
from planner.model.network.workload import Strategy
from planner.model.quantity import Basis
from planner.scenario.candidate import Candidate
from planner.scenario.cluster import Cluster
from planner.scenario.job import Job
from planner.scenario.machine import machine_of
from planner.speed.memory.device_fit import DeviceFit, fit
from planner.speed.physics.observation import Observation
from planner.speed.throughput.linear_scaling import is_communication_bound
from planner.speed.throughput.matching_runs import why_not_believed
from planner.speed.throughput.node_network import is_stated
from planner.speed.throughput.power_cap import uncapped_runs
from planner.speed.throughput.probe_evidence import NO_PROBE, ProbeEvidence

MOST_MEASUREMENTS = 64
"""Largest number of measurements that correct one answer; the closest are used."""

Observed = TypeVar("Observed", bound=Observation)
Observed_co = TypeVar("Observed_co", bound=Observation, covariant=True)
DescribeStep = Callable[[Job, Candidate, float, DeviceFit], Observed | None]
"""Function that describes a stated step: from a job, a candidate, samples/s, and the fit with the micro-batch."""


@dataclass(frozen=True)
class OwnEvidence(Generic[Observed_co]):
    """Measurements that correct an estimate."""

    observations: tuple[Observed_co, ...]
    """Steps first, then runs, with those of the estimate's own accelerator before others, then kernels of probes."""
    steps: tuple[Candidate, ...]
    """Options whose steps are among the observations."""
    runs: tuple[RunRecord, ...]
    """Runs that are among the observations."""
    notes: tuple[str, ...]
    """Reasons why other steps of the plan are not used."""
    probe: ProbeEvidence = NO_PROBE


def own_evidence(
    job: Job,
    candidate: Candidate,
    catalog: Catalog,
    *,
    of_run: Callable[[RunRecord, Node], Observed | None],
    of_step: DescribeStep[Observed],
) -> OwnEvidence[Observed]:
    """Return the measurements that correct a candidate's estimate.

    They are all on its accelerator, and those on other accelerators unless links limited them. `of_run` and `of_step`
    describe a measurement in the physics' terms, or return None if it states too little. Runs with a bad verdict are
    not used.
    """
    steps: list[tuple[Candidate, Observed]] = []
    refused: list[tuple[Candidate, str]] = []
    for stepped in job.stated_steps:
        observed = _observed_step(job, stepped, candidate, catalog, of_step)
        if isinstance(observed, str):
            refused.append((stepped, observed))
        else:
            steps.append((stepped, observed))
    runs = informative_runs(candidate.cluster, catalog, of_run=of_run, job=job)
    runs = runs[: max(0, MOST_MEASUREMENTS - len(steps))]
    return OwnEvidence(
        observations=tuple(observed for _, observed in (*steps, *runs)),
        steps=tuple(stepped for stepped, _ in steps),
        runs=tuple(run for run, _ in runs),
        notes=tuple(_refusals(refused)),
    )


def informative_runs(
    cluster: Cluster,
    catalog: Catalog,
    *,
    of_run: Callable[[RunRecord, Node], Observed | None],
    job: Job | None = None,
    besides: str | None = None,
) -> list[tuple[RunRecord, Observed]]:
    """Return the runs that inform about a cluster, described by `of_run`, those of its accelerator first.

    `besides` is the id of a run to leave out.
    """
    runs: list[tuple[RunRecord, Observed]] = []
    for run in uncapped_runs(catalog.runs.values()):
        if run.id == besides or run.verdict or _is_of_another_site(run, catalog):
            continue
        if why_not_believed(run, job, catalog) is not None:
            continue
        node = _informative_node(run, cluster, catalog)
        observed = None if node is None else of_run(run, node)
        if observed is not None:
            runs.append((run, observed))
    runs.sort(key=lambda pair: (pair[0].hardware.accelerator != cluster.accelerator.id, pair[0].id))
    return runs[:MOST_MEASUREMENTS]


def steps_not_used(job: Job, why: str) -> tuple[str, ...]:
    """Return the note of an estimate that no step of the plan can correct."""
    return tuple(_refusals((stepped, why) for stepped in job.stated_steps))


def step_name(stepped: Candidate) -> str:
    """Return the id of an option's step as a measurement."""
    return f"step of {stepped.id}"


def _is_of_another_site(run: RunRecord, catalog: Catalog) -> bool:
    """Return whether a bundled run was measured on a machine outside the catalog, which plans cannot name."""
    return run.id in catalog.bundled_runs and run.hardware.node not in catalog.nodes


def _informative_node(run: RunRecord, candidate: Cluster, catalog: Catalog) -> Node | None:
    """Return the node of a run that informs about the candidate, with the network that the plan states for it.

    Returns None if the run does not inform. A run over an unknown network informs only about several nodes of the same
    machine, because that network may have slowed it.
    """
    node, accelerator = machine_of(run, catalog)
    if node.id == candidate.node.id:
        node = candidate.node
    nodes, per_node = run.hardware.nodes, run.hardware.accelerators_per_node
    bound = is_communication_bound(node.link, accelerators_per_node=per_node, nodes=nodes)
    if accelerator.id != candidate.accelerator.id and (bound or run.short_window):
        return None
    if is_stated(node, accelerator, nodes=nodes, per_node=per_node):
        return node
    return node if node.id == candidate.node.id and candidate.nodes > 1 else None


def _observed_step(
    job: Job,
    stepped: Candidate,
    candidate: Candidate,
    catalog: Catalog,
    of_step: DescribeStep[Observed],
) -> Observed | str:
    """Return an option's step in the physics' terms, or the reason why it does not correct the candidate."""
    step, nodes, per_node = stepped.option.step, stepped.nodes, stepped.accelerators_per_node
    assert step is not None, "the caller passes options with a step"
    if step.basis is not Basis.MEASURED:
        return f"{step.basis.value}, and only a measured step corrects other machines"
    if stepped.option.power_cap_w is not None:
        return "measured under a power limit"
    bound = is_communication_bound(stepped.node.link, accelerators_per_node=per_node, nodes=nodes)
    if bound and stepped.accelerator.id != candidate.accelerator.id:
        return "its links may have bound it, so it says little of other accelerators"
    if not is_stated(stepped.node, stepped.accelerator, nodes=nodes, per_node=per_node):
        return "the network between its nodes is not known"
    step_job = replace(job, setup=replace(job.setup, global_batch=step.batch))
    for strategy in _strategies(stepped):
        alone = replace(
            stepped,
            option=stepped.option.model_copy(update={"step": None}),
            strategy=strategy,
            any_strategy=False,
        )
        fitting = fit(step_job, alone, None, catalog)
        if fitting.fits is not False:
            observed = of_step(step_job, alone, step.batch / step.seconds, fitting)
            return observed or "the estimator cannot describe its machine or network"
    return "by the memory estimate it does not fit there, so what ran is not known"


def _strategies(stepped: Candidate) -> list[Strategy]:
    """Return the strategies that the step may have used, the simplest first."""
    return list(Strategy) if stepped.any_strategy and stepped.accelerators > 1 else [stepped.strategy]


def _refusals(refused: Iterable[tuple[Candidate, str]]) -> list[str]:
    """Return one note for each reason, with the names of all options that it concerns."""
    by_reason: dict[str, list[str]] = {}
    for stepped, why in refused:
        by_reason.setdefault(why, []).append(stepped.id)
    return [f"not corrected by the step of {', '.join(names)}: {why}" for why, names in by_reason.items()]
