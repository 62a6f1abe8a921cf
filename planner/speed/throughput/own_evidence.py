"""The measurements that correct an estimate: runs on file, and steps that the plan states for its machines."""

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
from planner.speed.throughput.power_cap import as_delivered
from planner.speed.throughput.probe_evidence import NO_PROBE, ProbeEvidence

MOST_MEASUREMENTS = 64
"""That one answer conditions on: the nearest."""

Observed = TypeVar("Observed", bound=Observation)
Observed_co = TypeVar("Observed_co", bound=Observation, covariant=True)
OfStep = Callable[[Job, Candidate, float, DeviceFit], Observed | None]
"""Of a job on a candidate at so many samples/s, with its micro-batch."""


@dataclass(frozen=True)
class OwnEvidence(Generic[Observed_co]):
    """What corrects an estimate: steps first, then runs, those of its own accelerator before others."""

    observations: tuple[Observed_co, ...]
    steps: tuple[Candidate, ...]
    """The options whose steps are among them."""
    runs: tuple[RunRecord, ...]
    notes: tuple[str, ...]
    """Which steps of the plan are not among them, and why."""
    probe: ProbeEvidence = NO_PROBE
    """Kernels that were measured one by one; they stand last among the observations."""


def own_evidence(
    job: Job,
    candidate: Candidate,
    catalog: Catalog,
    *,
    of_run: Callable[[RunRecord, Node], Observed | None],
    of_step: OfStep[Observed],
) -> OwnEvidence[Observed]:
    """Return what says something of a candidate: all on its accelerator, others unless bound by links.

    `of_run` and `of_step` describe one in the physics' terms; None where it says too little. Runs
    that something was found wrong with correct nothing.
    """
    steps: list[tuple[Candidate, Observed]] = []
    refused: list[tuple[Candidate, str]] = []
    for stepped in job.stated_steps:
        observed = _observed_step(job, stepped, candidate, catalog, of_step)
        if isinstance(observed, str):
            refused.append((stepped, observed))
        else:
            steps.append((stepped, observed))
    runs = telling_runs(candidate.cluster, catalog, of_run=of_run, job=job)
    runs = runs[: max(0, MOST_MEASUREMENTS - len(steps))]
    return OwnEvidence(
        observations=tuple(observed for _, observed in (*steps, *runs)),
        steps=tuple(stepped for stepped, _ in steps),
        runs=tuple(run for run, _ in runs),
        notes=tuple(_refusals(refused)),
    )


def telling_runs(
    cluster: Cluster,
    catalog: Catalog,
    *,
    of_run: Callable[[RunRecord, Node], Observed | None],
    job: Job | None = None,
    besides: str | None = None,
) -> list[tuple[RunRecord, Observed]]:
    """Return the runs that say something of a cluster, those of its accelerator first; `besides` names one that is
    asked about itself.
    """
    runs: list[tuple[RunRecord, Observed]] = []
    for run in as_delivered(catalog.runs.values()):
        passed_over = run.id == besides or _is_of_another_site(run, catalog) or bool(run.verdict)
        passed_over = passed_over or why_not_believed(run, job, catalog) is not None
        node = None if passed_over else _telling_node(run, cluster, catalog)
        of_this = None if node is None else of_run(run, node)
        if of_this is not None:
            runs.append((run, of_this))
    runs.sort(key=lambda pair: (pair[0].hardware.accelerator != cluster.accelerator.id, pair[0].id))
    return runs[:MOST_MEASUREMENTS]


def steps_not_used(job: Job, why: str) -> tuple[str, ...]:
    """Return the note of an estimate that no step of the plan corrects, whatever its machine."""
    return tuple(_refusals((stepped, why) for stepped in job.stated_steps))


def step_name(stepped: Candidate) -> str:
    """Return by what an option's step is called among measurements."""
    return f"step of {stepped.id}"


def _is_of_another_site(run: RunRecord, catalog: Catalog) -> bool:
    """Return whether a bundled run was measured on a machine that no plan can name: its site is not the reader's."""
    return run.id in catalog.bundled_runs and run.hardware.node not in catalog.nodes


def _telling_node(run: RunRecord, candidate: Cluster, catalog: Catalog) -> Node | None:
    """Return the node of a run that says something of the candidate, with the network that the plan may state for it.

    A run over a network that nobody states was slowed by nobody knows what: it tells of several such nodes alone.
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
    of_step: OfStep[Observed],
) -> Observed | str:
    """Describe the step of an option in the physics' terms, or return why it does not correct the candidate."""
    step, nodes, per_node = stepped.option.step, stepped.nodes, stepped.accelerators_per_node
    assert step is not None, "only options with a step are asked"
    if step.basis is not Basis.MEASURED:
        return f"{step.basis.value}, and only a measured step corrects other machines"
    if stepped.option.power_cap_w is not None:
        return "measured under a power limit"
    bound = is_communication_bound(stepped.node.link, accelerators_per_node=per_node, nodes=nodes)
    if bound and stepped.accelerator.id != candidate.accelerator.id:
        return "its links may have bound it, so it says little of other accelerators"
    if not is_stated(stepped.node, stepped.accelerator, nodes=nodes, per_node=per_node):
        return "the network between its nodes is not known"
    its_job = replace(job, setup=replace(job.setup, global_batch=step.batch))
    for strategy in _strategies(stepped):
        alone = replace(
            stepped,
            option=stepped.option.model_copy(update={"step": None}),
            strategy=strategy,
            any_strategy=False,
        )
        fitting = fit(its_job, alone, None, catalog)
        if fitting.fits is not False:
            return (
                of_step(its_job, alone, step.batch / step.seconds, fitting)
                or "the estimator cannot describe its machine or network"
            )
    return "by the memory estimate it does not fit there, so what ran is not known"


def _strategies(stepped: Candidate) -> list[Strategy]:
    """Return the strategies that the step may have had, the plainest first."""
    return list(Strategy) if stepped.any_strategy and stepped.accelerators > 1 else [stepped.strategy]


def _refusals(refused: Iterable[tuple[Candidate, str]]) -> list[str]:
    """Write one note for each reason."""
    by_reason: dict[str, list[str]] = {}
    for stepped, why in refused:
        by_reason.setdefault(why, []).append(stepped.id)
    return [f"not corrected by the step of {', '.join(names)}: {why}" for why, names in by_reason.items()]
