"""Network between the nodes of a candidate: whether it is known, and the range that an assumed one adds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from planner.model.answer.reason import Reason, ReasonCode
from planner.model.catalog import Catalog
from planner.model.hardware.machines import Accelerator, ClusterSale, Link, Node
from planner.quantity.interval import Interval
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.scenario.machine import machine_of
from planner.speed.physics.interconnect import RACK_DOMAIN, is_rack
from planner.speed.throughput.matching_runs import same_workload, why_not_believed
from planner.speed.throughput.power_cap import uncapped_runs

NOT_KNOWN = Reason(
    code=ReasonCode.NODE_NETWORK_NOT_KNOWN,
    text="network between its nodes is not known; state network_gbit_per_s on the option",
)
SINGLE_NODES = Reason(
    code=ReasonCode.NODE_NETWORK_NOT_KNOWN,
    text="the provider sells it as single nodes only; if yours are joined, state network_gbit_per_s on the option",
)


def is_stated(node: Node, accelerator: Accelerator, *, nodes: int, per_node: int) -> bool:
    """Return whether the network between the nodes is stated or not needed.

    A single node needs none, and neither do the nodes of one rack whose accelerators one NVLink switch joins.
    """
    if nodes == 1 or node.network_gbit_per_s is not None:
        return True
    return is_rack(accelerator) and node.link is Link.NVSWITCH and nodes * per_node <= RACK_DOMAIN


def network_problem(job: Job, candidate: Candidate, catalog: Catalog) -> Reason | None:
    """Return the reason why no speed over the candidate's nodes can be estimated; None if one can.

    The network need not be stated if a run of the same workload used several nodes of that machine.
    """
    node = candidate.node
    stated = is_stated(node, candidate.accelerator, nodes=candidate.nodes, per_node=candidate.accelerators_per_node)
    if stated or any(
        run.hardware.nodes > 1
        and not run.verdict
        and why_not_believed(run, job, catalog) is None
        and same_workload(run, job)
        and machine_of(run, catalog)[0].id == node.id
        for run in uncapped_runs(catalog.runs.values())
    ):
        return None
    return SINGLE_NODES if node.clusters is ClusterSale.SINGLE_NODES else NOT_KNOWN


def is_assumed(candidate: Candidate) -> bool:
    """Return whether the candidate's speed depends on a network for which only a range is known."""
    return candidate.nodes > 1 and candidate.node.network_range is not None


def with_assumed_network(
    rate: Interval, candidate: Candidate, rate_over: Callable[[Candidate], float | None]
) -> Interval:
    """Return the rate over the likeliest network, with a range that includes the slowest and the fastest network.

    rate x (1; rate over the slowest / rate; rate over the fastest / rate), with independent errors

    `rate_over` returns the rate of a candidate with another network, or None.
    """
    assert candidate.node.network_range is not None
    ends = [
        rate_over(replace(candidate, node=candidate.node.with_network(gbit))) for gbit in candidate.node.network_range
    ]
    ratios = [1.0, *(end / rate.value for end in ends if end is not None)]
    return rate.times(Interval(1.0, min(ratios), max(ratios)))
