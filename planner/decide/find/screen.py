"""A first, coarse speed of every machine shape: enough to choose which offers are estimated in full."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from planner.decide.find.offered import Offered
from planner.model.catalog import Catalog
from planner.model.hardware.machines import Accelerator, Node
from planner.model.network.workload import Strategy
from planner.scenario.candidate import Candidate
from planner.scenario.cluster import Cluster
from planner.scenario.job import Job
from planner.speed.throughput.share_of_peak import is_too_small
from planner.speed.throughput.speed import speed
from planner.speed.throughput.strategy_search import search_many
from planner.speed.throughput.strategy_space import StrategyQuestion

TRIED = (Strategy.DDP, Strategy.FSDP2)
"""The ends of what sharding does; the others lie between them."""


@dataclass(frozen=True)
class Shape:
    """What decides the speed of an offer: equal shapes are timed once, whoever rents them out."""

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
    """Return samples/s of each shape that can hold the job; the others are left out.

    Of text networks all shapes are timed at once, undivided, with plain and with fully sharded data parallelism; of
    others one by one, as an estimate would.
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
    node: Node = offer.node
    accelerator: Accelerator = offer.accelerator
    return Candidate(
        id=node.id, option=offer.option(), site=None, price=offer.price, node=node, accelerator=accelerator,
        nodes=offer.nodes, accelerators_per_node=node.accelerators, strategy=Strategy.DDP,
    )  # fmt: skip
