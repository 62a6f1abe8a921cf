"""Estimate a coarse speed of every machine shape, in order to choose which offers to estimate in full."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from planner.decide.find.offered import Offered
from planner.model.catalog import Catalog
from planner.model.network.workload import Strategy
from planner.scenario.candidate import Candidate
from planner.scenario.cluster import Cluster
from planner.scenario.job import Job
from planner.speed.throughput.share_of_peak import is_too_small
from planner.speed.throughput.speed import speed
from planner.speed.throughput.strategy_search import search_many
from planner.speed.throughput.strategy_space import StrategyQuestion

TRIED = (Strategy.DDP, Strategy.FSDP2)
"""Strategies without and with full sharding. The speeds of the others lie between them."""


@dataclass(frozen=True)
class Shape:
    """Properties that determine the speed of an offer. Equal shapes of several providers are timed once."""

    accelerator: str
    per_node: int
    link: str | None
    network_gbit_per_s: float | None
    nodes: int

    @classmethod
    def of(cls, offer: Offered) -> Shape:
        """Return the shape of an offer."""
        node = offer.node
        network = node.network_gbit_per_s if offer.nodes > 1 else None
        return cls(node.accelerator, node.accelerators, node.link, network, offer.nodes)


def coarse_rates(job: Job, offers: Iterable[Offered], catalog: Catalog) -> Mapping[Shape, float]:
    """Return the samples/s of each shape that can hold the job.

    For text networks all shapes are timed at once, with plain and with fully sharded data parallelism and without
    splits. For other networks they are timed one by one, as in a full estimate.
    """
    shapes = {Shape.of(offer): offer for offer in offers}
    network = job.setup.network
    if (
        network is not None
        and network.sample == "tokens"
        and catalog.calibration is not None
        and not is_too_small(network)
    ):
        questions = [_question(job, offer) for offer in shapes.values()]
        best = search_many(questions, catalog.calibration)
        return {shape: rate for shape, rate in zip(shapes, best, strict=True) if rate is not None}
    timed = {shape: speed(job, _candidate(offer), catalog).samples_per_s for shape, offer in shapes.items()}
    return {shape: rate.value for shape, rate in timed.items() if rate is not None}


def _question(job: Job, offer: Offered) -> StrategyQuestion:
    cluster = Cluster(offer.accelerator, offer.node, offer.nodes, offer.node.accelerators)
    return StrategyQuestion(job.setup, cluster, shortest_step=True, undivided=True, strategies=TRIED)


def _candidate(offer: Offered) -> Candidate:
    return Candidate(
        id=offer.node.id, option=offer.option(), site=None, price=offer.price, node=offer.node,
        accelerator=offer.accelerator, nodes=offer.nodes, accelerators_per_node=offer.node.accelerators,
        strategy=Strategy.DDP,
    )  # fmt: skip
