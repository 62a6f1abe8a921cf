"""One machine that could do the job: an option of the plan, expanded and joined with the catalog."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from planner.errors import InputError, NotFoundError
from planner.model.catalog import Catalog
from planner.model.currency import Currency
from planner.model.evidence.run import RunRecord
from planner.model.hardware.machines import Accelerator, Link, Node
from planner.model.network.workload import WHOLE, Split, Strategy
from planner.model.owning.site import Site
from planner.model.plan.plan import Plan
from planner.model.plan.plan_option import PlanOption
from planner.model.prices.offer import Price, PriceKind
from planner.scenario.price_choice import find_price, prices_of

if TYPE_CHECKING:
    from planner.scenario.parallel_config import ParallelConfig


@dataclass(frozen=True)
class Candidate:
    """An option with one number of nodes and accelerators."""

    id: str
    option: PlanOption
    site: Site | None
    price: Price | None
    node: Node
    accelerator: Accelerator
    nodes: int
    accelerators_per_node: int
    strategy: Strategy
    position: int = 0
    """Among the plan's options."""
    any_strategy: bool = False
    """The plan leaves the choice to the planner: the fastest that fits."""
    parallel_config: ParallelConfig | None = None
    """How the network is divided, where the planner chose so."""
    currency: Currency | None = None
    """The plan's own, in which the option may state its price."""

    @property
    def has_own_price(self) -> bool:
        """Return whether the plan states the price, so that no catalog row counts."""
        return self.option.usd_per_hour is not None or self.option.local_per_hour is not None

    @property
    def split(self) -> Split:
        """Into what the network is divided."""
        return self.parallel_config.split if self.parallel_config else WHOLE

    @property
    def accelerators(self) -> int:
        """All accelerators that work on one training."""
        return self.nodes * self.accelerators_per_node


def expand(plan: Plan, catalog: Catalog) -> list[Candidate]:
    """Turn the plan's machines into candidates, in the plan's order, each with an id of its own.

    Services that train by the token are not among them (`planner/decide/options/hosted.py`).
    """
    candidates: list[Candidate] = []
    counts: dict[str, int] = {}
    for position, option in enumerate(plan.options):
        if option.hosted:
            continue
        for candidate in _expand_option(option, plan, catalog, where=f"options.{position}"):
            count = counts[candidate.id] = counts.get(candidate.id, 0) + 1
            name = f"{candidate.id}#{count}" if count > 1 else candidate.id
            candidates.append(replace(candidate, id=name, position=position))
    return candidates


def _expand_option(option: PlanOption, plan: Plan, catalog: Catalog, *, where: str) -> Iterator[Candidate]:
    site, price, node, accelerator, per_node_default, nodes_default = _join(option, catalog, where=where)
    if option.network_gbit_per_s is not None:
        node = node.model_copy(update={"network_gbit_per_s": option.network_gbit_per_s})
    wanted = option.strategy or plan.training.strategy
    strategy = Strategy.DDP if wanted == "auto" else wanted
    for nodes, per_node in product(
        _as_list(option.nodes, nodes_default), _as_list(option.accelerators, per_node_default)
    ):
        if per_node > node.accelerators:
            raise InputError(
                f"{where}.accelerators: {per_node} are asked for, but {node.id} has {node.accelerators} a node.",
                fix="Use nodes for more than one machine.",
            )
        if site is not None and nodes > site.nodes:
            raise InputError(
                f"{where}.nodes: {nodes} are asked for, but the site {site.id} has {site.nodes}.",
                fix="Ask for fewer, or describe the larger site in your workspace's sites folder.",
            )
        yield Candidate(
            id=_id(option, node, price, nodes, per_node, strategy),
            option=option,
            site=site,
            price=price,
            node=node,
            accelerator=accelerator,
            nodes=nodes,
            accelerators_per_node=per_node,
            strategy=strategy,
            any_strategy=wanted == "auto",
            currency=plan.currency,
        )


def _join(
    option: PlanOption, catalog: Catalog, *, where: str
) -> tuple[Site | None, Price | None, Node, Accelerator, int, int]:
    if option.run is not None:
        run = catalog.find_run(option.run, where=f"{where}.run")
        node, accelerator = machine_of(run, catalog)
        site = Site(
            schema_version=1,
            id=node.id,
            name=node.name,
            node=node.id,
            nodes=run.hardware.nodes,
            source=f"run {run.id}",
            as_of=node.as_of,
        )
        return site, None, node, accelerator, run.hardware.accelerators_per_node, run.hardware.nodes
    if option.site is not None:
        site = catalog.find_site(option.site, where=f"{where}.site")
        node = _find_node(site.node, catalog, where=f"site {site.id}")
        return site, None, node, _accelerator(node, catalog), node.accelerators, 1
    assert option.offer is not None, "the model lets exactly one of site, offer and run through"
    if option.offer not in catalog.nodes and prices_of(option.offer, catalog):
        raise InputError(
            f"{where}.offer: {option.offer} is a service that trains by the token, no machine.",
            fix=f"Write price: {PriceKind.HOSTED_TRAINING.value} beside it.",
        )
    node = _find_node(option.offer, catalog, where=f"{where}.offer")
    price = find_price(option, catalog, where=where)
    return None, price, node, _accelerator(node, catalog), node.accelerators, 1


def _find_node(name: str, catalog: Catalog, *, where: str) -> Node:
    node = catalog.nodes.get(name)
    if node is None:
        raise NotFoundError("machine", name, catalog.nodes, where=where, fix="See catalogs/hardware/nodes.csv")
    return node


def _accelerator(node: Node, catalog: Catalog) -> Accelerator:
    accelerator = catalog.accelerators.get(node.accelerator)
    if accelerator is None:
        raise NotFoundError("accelerator", node.accelerator, catalog.accelerators, where=f"node {node.id}")
    return accelerator


def machine_of(run: RunRecord, catalog: Catalog) -> tuple[Node, Accelerator]:
    """Return the node and accelerator of a run; a machine that no catalog knows is described by the run alone."""
    source, as_of = f"run {run.id}", run.throughput.as_of or catalog.defaults.pue.as_of
    hardware = run.hardware
    accelerator = catalog.accelerators.get(hardware.accelerator)
    assert as_of is not None, "defaults carry a date"
    if accelerator is None:
        accelerator = Accelerator(
            id=hardware.accelerator,
            vendor="unknown",
            architecture="unknown",
            launch_year=as_of.year,
            source=source,
            as_of=as_of,
            confidence="low",
        )
    node = catalog.nodes.get(hardware.node or "")
    if node is None:
        node = Node(
            id=hardware.node or f"run/{run.id}",
            name=str(run.environment.get("machine") or hardware.node or run.id),
            accelerator=hardware.accelerator,
            accelerators=hardware.accelerators_per_node,
            link=Link.OTHER if hardware.accelerators_per_node > 1 else Link.SINGLE,
            source=source,
            as_of=as_of,
        )
    return node, accelerator


def _as_list(value: int | tuple[int, ...] | None, default: int) -> tuple[int, ...]:
    if value is None:
        return (default,)
    return (value,) if isinstance(value, int) else value


def _id(option: PlanOption, node: Node, price: Price | None, nodes: int, per_node: int, strategy: Strategy) -> str:
    parts = [option.site or option.offer or f"run:{option.run}"]
    if option.offer is not None:
        parts.append((price.region if price else option.region) or "any")
        parts.append((option.price or PriceKind.ON_DEMAND).value)
    if per_node != node.accelerators:
        parts.append(f"x{per_node}")
    if nodes > 1:
        parts.append(f"{nodes}n")
    if option.strategy is not None:
        parts.append("auto" if option.strategy == "auto" else strategy.value)
    if option.power_cap_w is not None:
        parts.append(f"cap{option.power_cap_w:g}w")
    return ":".join(parts)
