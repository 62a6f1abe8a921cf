"""A machine that could do the job: an option of the plan, expanded and joined with the catalog."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from planner.errors import InputError
from planner.model.catalog import Catalog
from planner.model.currency import Currency
from planner.model.hardware.machines import Accelerator, Node
from planner.model.network.workload import WHOLE, Split, Strategy
from planner.model.owning.acquisition import Hold
from planner.model.owning.site import Site
from planner.model.plan.option_times import Turn
from planner.model.plan.plan import MOST_OPTIONS, Plan
from planner.model.plan.plan_option import PlanOption
from planner.model.prices.offer import Price, PriceKind
from planner.scenario.cluster import Cluster
from planner.scenario.machine import machine_named
from planner.scenario.quota_machines import quota_machines

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
    """Position among the plan's options."""
    any_strategy: bool = False
    """True if the planner chooses the strategy: the fastest that fits."""
    parallel_config: ParallelConfig | None = None
    """Division of the network, if the planner chose it."""
    currency: Currency | None = None
    """The plan's own currency, in which the option may state its price."""
    hold: Hold = Hold.RENT
    quota: int | None = None
    """Number of machines that may be used at the same time; None if the plan states no limit."""
    taken: tuple[Turn, ...] = ()
    """Times when others use its machines, from any option of the same machines."""

    @property
    def pool(self) -> str:
        """Return the name of its pool of machines, shared by all options of one site that hold them in the same way."""
        return f"{self.site.id}:{self.hold}" if self.site is not None else f"option {self.position}"

    @property
    def has_own_price(self) -> bool:
        """Return whether the plan states the price, so that no catalog row counts."""
        return self.option.usd_per_hour is not None or self.option.local_per_hour is not None

    @property
    def split(self) -> Split:
        """Division of the network."""
        return self.parallel_config.split if self.parallel_config else WHOLE

    @property
    def accelerators(self) -> int:
        """Number of accelerators that work on one training."""
        return self.nodes * self.accelerators_per_node

    @property
    def cluster(self) -> Cluster:
        """Accelerators without their price."""
        return Cluster(self.accelerator, self.node, self.nodes, self.accelerators_per_node)


def expand(plan: Plan, catalog: Catalog) -> list[Candidate]:
    """Turn the plan's machines into candidates, in the plan's order, each with a unique id.

    Services that train by the token are not included (`planner/decide/options/hosted.py`).
    """
    _check_number(plan)
    candidates: list[Candidate] = []
    counts: dict[str, int] = {}
    for position, option in enumerate(plan.options):
        if option.hosted:
            continue
        for candidate in _expand_option(option, plan, catalog, where=f"options.{position}"):
            count = counts[candidate.id] = counts.get(candidate.id, 0) + 1
            name = f"{candidate.id}#{count}" if count > 1 else candidate.id
            candidates.append(replace(candidate, id=name, position=position))
    turns: dict[str, dict[Turn, None]] = {}
    for candidate in candidates:
        turns.setdefault(candidate.pool, {}).update(dict.fromkeys(candidate.option.taken))
    return [replace(candidate, taken=tuple(turns[candidate.pool])) for candidate in candidates]


def _check_number(plan: Plan) -> None:
    """Refuse lists of nodes and accelerators that would multiply to more options than a plan may list."""
    number = 0
    for position, option in enumerate(plan.options):
        number += len(_as_list(option.nodes, 1)) * len(_as_list(option.accelerators, 1))
        if number > MOST_OPTIONS:
            raise InputError(
                f"options.{position}: with lists of nodes and accelerators the plan has over {MOST_OPTIONS} options.",
                fix="Shorten the lists, or split the plan.",
            )


def _expand_option(option: PlanOption, plan: Plan, catalog: Catalog, *, where: str) -> Iterator[Candidate]:
    machine = machine_named(option, catalog, where=where)
    site, node = machine.site, machine.node
    if option.network_gbit_per_s is not None:
        node = node.with_network(option.network_gbit_per_s)
    wanted = option.strategy or plan.training.strategy
    strategy = Strategy.DDP if wanted == "auto" else wanted
    quota = quota_machines(option.quota, node, rented=option.offer is not None, where=where)
    for nodes, per_node in product(
        _as_list(option.nodes, machine.nodes), _as_list(option.accelerators, machine.accelerators)
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
            id=_id(option, node, machine.price, nodes, per_node, strategy),
            option=option,
            site=site,
            price=machine.price,
            node=node,
            accelerator=machine.accelerator,
            nodes=nodes,
            accelerators_per_node=per_node,
            strategy=strategy,
            any_strategy=wanted == "auto",
            currency=plan.currency,
            hold=machine.hold,
            quota=quota,
        )


def _as_list(value: int | tuple[int, ...] | None, default: int) -> tuple[int, ...]:
    if value is None:
        return (default,)
    return (value,) if isinstance(value, int) else value


def _id(option: PlanOption, node: Node, price: Price | None, nodes: int, per_node: int, strategy: Strategy) -> str:
    parts = [node.id if option.own else option.site or option.offer or f"run:{option.run}"]
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
