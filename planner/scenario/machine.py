"""The machine that an option names, as the catalog, a run or the defaults describe it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner.errors import InputError, NotFoundError, NotModelledError
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.hardware.machines import Accelerator, Link, Node
from planner.model.owning.acquisition import Hold
from planner.model.owning.site import Site
from planner.model.plan.plan_option import PlanOption
from planner.model.prices.offer import Price, PriceKind
from planner.scenario.holding import hold_of, to_be_bought
from planner.scenario.own_machine import find_own, own_node, own_site
from planner.scenario.price_choice import find_price, prices_of
from planner.scenario.unpublished_power import nearest_offer, owning_not_modelled

LONGEST_NAME = 200
"""Longest name of a machine in a run, in characters."""


@dataclass(frozen=True)
class Machine:
    """One node and its owner, with the default numbers of nodes and accelerators for an option."""

    site: Site | None
    price: Price | None
    node: Node
    accelerator: Accelerator
    accelerators: int
    nodes: int = 1
    hold: Hold = Hold.RENT


def machine_named(option: PlanOption, catalog: Catalog, *, where: str) -> Machine:
    """Join an option with the catalog. A machine that is to be bought is described as such."""
    if option.offer is not None:
        return _rented(option, option.offer, catalog, where=where)
    if option.run is not None:
        machine = _machine_of_run(option.run, catalog, where=where)
    elif option.own is not None:
        machine = _machine_of_card(option, option.own, catalog, where=where)
    else:
        assert option.site is not None, "the model lets exactly one of site, own, offer and run through"
        site = catalog.find_site(option.site, where=f"{where}.site")
        node = _find_node(site.node, catalog, where=f"site {site.id}")
        machine = Machine(site, None, node, accelerator_of(node, catalog), node.accelerators)
    assert machine.site is not None
    hold = hold_of(option, machine.site, where=where)
    return replace(machine, hold=hold, site=to_be_bought(machine.site, option) if hold is Hold.BUY else machine.site)


def _machine_of_run(run_id: str, catalog: Catalog, *, where: str) -> Machine:
    run = catalog.find_run(run_id, where=f"{where}.run")
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
    return Machine(site, None, node, accelerator, run.hardware.accelerators_per_node, run.hardware.nodes)


def _machine_of_card(option: PlanOption, name: str, catalog: Catalog, *, where: str) -> Machine:
    accelerator = find_own(name, catalog, where=where)
    reason = owning_not_modelled(accelerator) if option.power_kw is None else None
    if reason is not None:
        offer = nearest_offer(accelerator, catalog)
        fix = "Write power_kw." if offer is None else f"Write power_kw, or the nearest, which is rented: offer: {offer}"
        raise NotModelledError(f"{where}.own: {reason}.", fix=fix)
    node = own_node(accelerator, option.count or 1, new=option.hold is Hold.BUY)
    asked = option.nodes or 1
    site = own_site(
        node, accelerator, catalog, nodes=asked if isinstance(asked, int) else max(asked), resale_usd=option.resale_usd
    )
    return Machine(site, None, node, accelerator, node.accelerators)


def _rented(option: PlanOption, offer: str, catalog: Catalog, *, where: str) -> Machine:
    rows = prices_of(offer, catalog)
    if offer not in catalog.nodes and rows:
        if any(row.price_kind is PriceKind.HOSTED_TRAINING for row in rows):
            raise InputError(
                f"{where}.offer: {offer} is a service that trains by the token, no machine.",
                fix=f"Write price: {PriceKind.HOSTED_TRAINING.value} beside it.",
            )
        raise InputError(
            f"{where}.offer: {offer} has a price, but its row does not say what it carries.",
            fix="Fill the columns accelerator and accelerators of its row.",
        )
    node = _find_node(offer, catalog, where=f"{where}.offer")
    price = find_price(option, catalog, where=where)
    hold = hold_of(option, None, where=where)
    return Machine(None, price, node, accelerator_of(node, catalog), node.accelerators, hold=hold)


def _find_node(name: str, catalog: Catalog, *, where: str) -> Node:
    node = catalog.nodes.get(name)
    if node is None:
        raise NotFoundError("machine", name, catalog.nodes, where=where, fix="See catalogs/hardware/nodes.csv")
    return node


def accelerator_of(node: Node, catalog: Catalog) -> Accelerator:
    """Return the accelerator of a node. Raise if a node of the workspace names one that no catalog has."""
    accelerator = catalog.accelerators.get(node.accelerator)
    if accelerator is None:
        fix = "Add it to hardware/accelerators.csv of the workspace."
        raise NotFoundError("accelerator", node.accelerator, catalog.accelerators, where=f"node {node.id}", fix=fix)
    return accelerator


def machine_of(run: RunRecord, catalog: Catalog) -> tuple[Node, Accelerator]:
    """Return the node and accelerator of a run. A machine outside any catalog is described by the run alone."""
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
            name=str(run.environment.get("machine") or hardware.node or run.id)[:LONGEST_NAME],
            accelerator=hardware.accelerator,
            accelerators=hardware.accelerators_per_node,
            link=Link.OTHER if hardware.accelerators_per_node > 1 else Link.SINGLE,
            source=source,
            as_of=as_of,
        )
    return node, accelerator
