"""Machine that a plan names only by its accelerator: {own: RTX-3090, count: 2}. All else is assumed, and named."""

from __future__ import annotations

import re
from collections.abc import Mapping

from planner.errors import InputError, NotFoundError
from planner.model.catalog import Catalog
from planner.model.figure import Figure
from planner.model.hardware.accelerator_name import accelerator_named, spelling
from planner.model.hardware.machines import Accelerator, Link, Node
from planner.model.owning.acquisition import AlreadyOwned
from planner.model.owning.site import Room, Site
from planner.model.prices.offer import Price
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.conversion import derived, interval, to_quantity
from planner.quantity.formula import stated
from planner.quantity.interval import Interval, sum_of

OWN = "own/"
"""Prefix of the ids of such machines."""
OFFERED = "assumed of an instance that a price file alone names"
"""Source of such nodes."""
CARDS_OF_A_PC = 2
CARDS_OF_A_ROOM = 4
"""Most PCIe cards of a workstation. More cards, and modules, are in a rack."""
MOST_NAMED = 12
"""Largest number of accelerators in one message. If a name may mean more of them, the nearest are given."""
_FOR_PCS = re.compile(r"^(RTX|GTX|TITAN|RX)-(?!.*Server)|^(CPU|GB10)$")
_GEFORCE = re.compile(r"^RTX-[2-5]0\d0|^(GTX|TITAN)-")
"""Cards that are sold without P2P over PCIe."""
_MODULE = re.compile(r"SXM|DGXS")
_BUILT_IN = re.compile(r"per-GPU|^(GH200|GB10|TPU|MI(25|3)|Gaudi|Trainium|Inferentia)")
NOT_SOLD = "what it would sell for is not counted (resale_usd of its option)"
YEARS_LEFT = Figure(value=3, low=1, high=5, source="assumed of a machine whose age the plan does not state")
OTHER_CARDS = ("ti", "super")
"""Name endings that belong to a different card."""
WITHOUT_NVSWITCH = ("Pascal", "Volta")
LINKS = {
    Link.NVSWITCH: "NVSwitch",
    Link.NVLINK: "NVLink",
    Link.PCIE: "PCIe",
    Link.PCIE_NO_P2P: "PCIe without P2P",
    Link.OTHER: "a link that is not known",
}


def find_own(name: str, catalog: Catalog, *, where: str) -> Accelerator:
    """Return the accelerator of any usual spelling ("RTX 3090", "3090"). Raise with the nearest if none matches."""
    for asked in (name, f"RTX {name}"):
        _refuse_unlike(asked, catalog, where=where)
        accelerator = accelerator_named(asked, catalog.accelerators, catalog.aliases)
        if accelerator is not None:
            return accelerator
    kin = sorted(known for known in catalog.accelerators if spelling(known).startswith(spelling(name)[:4]))
    if 0 < len(kin) <= MOST_NAMED and spelling(name):
        raise InputError(
            f"{where}.own: '{name}' is not an accelerator of the catalog, or may be several.",
            fix=f"Write one of: {', '.join(kin)}",
        )
    raise NotFoundError(
        "accelerator", name, catalog.accelerators, where=f"{where}.own", fix="See catalogs/hardware/accelerators.csv"
    )


def _refuse_unlike(name: str, catalog: Catalog, *, where: str) -> None:
    """Refuse a name that is the start of accelerators with different memory sizes: A100 is 40 or 80 GB."""
    written = spelling(name)
    begun = [card for card in catalog.accelerators.values() if written and spelling(card.id).startswith(written)]
    kin = [card for card in begun if not spelling(card.id).removeprefix(written).startswith(OTHER_CARDS)]
    if any(spelling(card.id) == written for card in kin) or len({card.hbm_gib for card in kin}) < 2:
        return
    if len(kin) <= MOST_NAMED:
        raise InputError(
            f"{where}.own: '{name}' may be several, with unlike memories.",
            fix=f"Write one of: {', '.join(sorted(card.id for card in kin))}",
        )


def is_pc(accelerator: Accelerator, count: int) -> bool:
    """Return whether such a machine is a PC built from parts in stock: at most two cards sold for PCs."""
    return count <= CARDS_OF_A_PC and _FOR_PCS.search(accelerator.id) is not None


def is_own_pc(node: str, catalog: Catalog) -> bool:
    """Return whether a node is a PC that a plan names only by its accelerator."""
    name, _, count = node.removeprefix(OWN).rpartition("-x")
    accelerator = catalog.accelerators.get(name) if node.startswith(OWN) else None
    return accelerator is not None and is_pc(accelerator, int(count))


def stands_in_a_room(accelerator: Accelerator, count: int) -> bool:
    """Return whether such a machine needs no rack: a PC, or few cards in PCIe slots."""
    in_slots = not (_MODULE.search(accelerator.id) or _BUILT_IN.search(accelerator.id))
    return is_pc(accelerator, count) or (in_slots and count <= CARDS_OF_A_ROOM)


def own_node(accelerator: Accelerator, count: int, *, new: bool) -> Node:
    """Return the machine: its link by the kind of accelerator, no network to others. A new one must be bought first."""
    return Node(
        id=f"{OWN}{accelerator.id}-x{count}",
        name=f"{'New' if new else 'Your'} {count}x {accelerator.id.replace('-', ' ')}",
        accelerator=accelerator.id,
        accelerators=count,
        link=assumed_link(accelerator, count),
        source="assumed of a machine that the plan names by its accelerator alone",
        as_of=accelerator.as_of,
    )


def assumed_link(accelerator: Accelerator, count: int) -> Link:
    """Return the usual link between this many accelerators of a kind in one machine."""
    if count == 1:
        return Link.SINGLE
    if _BUILT_IN.search(accelerator.id):
        return Link.OTHER
    if _MODULE.search(accelerator.id):
        return Link.NVSWITCH if count > 4 and accelerator.architecture not in WITHOUT_NVSWITCH else Link.NVLINK
    return Link.PCIE_NO_P2P if _GEFORCE.search(accelerator.id) else Link.PCIE


def own_site(
    node: Node, accelerator: Accelerator, catalog: Catalog, *, nodes: int, resale_usd: float | None = None
) -> Site:
    """Return the machine as a site: its power from defaults, in an existing room if it needs no rack.

    rated kW = accelerators x TDP + assumed host; in training the share of it that nodes draw, at most all of it

    Its sale value counts if the plan states it; otherwise it is zero.
    """
    rated = _rated_kw(node, accelerator, catalog)
    power = None
    if rated is not None:
        share = catalog.defaults.training_power_fraction
        drawn = Interval(rated.value * share.value, rated.low * share.low, rated.high)
        source = f"{rated.value:.4g} kW x {share.value:g} in training; {rated.source}"
        power = to_quantity(drawn, Unit.KW, Basis.ASSUMED, source, share.as_of)
    figure = None if rated is None else Figure(value=rated.value, low=rated.low, high=rated.high, source=rated.source)
    no_rent = Figure(value=0, source="stands in a room that is there anyhow")
    resale = Figure(value=resale_usd or 0.0, source="the plan: resale_usd" if resale_usd else NOT_SOLD)
    return Site(
        schema_version=1,
        id=node.id,
        name=node.name,
        node=node.id,
        nodes=nodes,
        already_owned=AlreadyOwned(resale_usd=resale, remaining_life_years=YEARS_LEFT),
        power=power,
        rated_kw=figure,
        room=Room(usd_per_month=no_rent) if stands_in_a_room(accelerator, node.accelerators) else None,
        spares_fraction_of_nodes=Figure(value=0, source="no spare is kept for one machine"),
        software_usd_per_gpu_year=Figure(value=0, source="free frameworks alone"),
        source=node.source,
        as_of=node.as_of,
    )


def own_notes(name: str, site: Site, node: Node) -> tuple[str, ...]:
    """Return the assumptions about the machine that the plan calls by the name."""
    taken = f"'{name}' is taken as {node.accelerator}; " if spelling(name) != spelling(node.accelerator) else ""
    link = f"{LINKS[node.link]} between its accelerators, " if node.accelerators > 1 else ""
    draws = "power not known" if site.rated_kw is None else f"{site.rated_kw.value:.3g} kW ({site.rated_kw.source})"
    return (f"{node.id}: {taken}assumed: {link}no network to others, {draws}",)


def offered_node(price: Price, accelerators: Mapping[str, Accelerator]) -> Node | None:
    """Return the machine that a row of the user's price file describes; None if the row does not name its accelerator.

    Its link follows from the kind of accelerator; it has no network to others.
    """
    if price.accelerator is None or price.accelerators is None:
        return None
    carried = accelerators.get(price.accelerator)
    return Node(
        id=price.node,
        name=f"{price.provider} {price.instance_type}",
        accelerator=price.accelerator,
        accelerators=price.accelerators,
        link=Link.OTHER if carried is None else assumed_link(carried, price.accelerators),
        source=OFFERED,
        as_of=price.as_of,
    )


def offered_notes(node: Node) -> tuple[str, ...]:
    """Return the assumptions about an instance that only a price file names; empty for others."""
    if node.source != OFFERED:
        return ()
    link = f"{LINKS[node.link]} between its accelerators, " if node.accelerators > 1 else ""
    return (f"{node.id}: assumed: {link}no network to others",)


def host_kw(accelerator: Accelerator, count: int, catalog: Catalog) -> Quantity:
    """Return the assumed power of the machine without its accelerators."""
    given = catalog.holding_defaults
    if is_pc(accelerator, count):
        return given.pc_host_kw.quantity(Unit.KW, where="default: holding.pc_host_kw")
    if _MODULE.search(accelerator.id) and count > 4 and accelerator.tdp_w is not None:
        share = given.board_host_fraction.quantity(Unit.RATIO, where="default: holding.board_host_fraction")
        usual = interval(share, Unit.RATIO).scaled(count * accelerator.tdp_w / 1000)
        source = f"{share.value:g} x {count} x {accelerator.tdp_w:g} W; {share.source}"
        return derived(usual, Unit.KW, share, source=source)
    return given.server_host_kw.quantity(Unit.KW, where="default: holding.server_host_kw")


def _rated_kw(node: Node, accelerator: Accelerator, catalog: Catalog) -> Quantity | None:
    """Return the highest power of the machine; None if its accelerators' power is unknown."""
    count, host = node.accelerators, host_kw(accelerator, node.accelerators, catalog)
    if accelerator.tdp_w is None and accelerator.id != "CPU":
        return None
    cards = stated(
        "cards_kw", count * (accelerator.tdp_w or 0.0) / 1000, "kW", f"{count} x {accelerator.tdp_w or 0:g} W"
    )
    rated = sum_of([Interval.exact(cards), interval(host, Unit.KW, name="host_kw")])
    source = f"{count} x {accelerator.tdp_w or 0:g} W and a host of {host.value:.3g} kW, {host.source}"
    return to_quantity(rated, Unit.KW, Basis.ASSUMED, source, host.as_of)
