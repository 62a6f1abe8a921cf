"""State the facts of an option that are not figures: its name, network, region, price and missing figures."""

from __future__ import annotations

from planner.cost.power.circuit import overloads
from planner.decide.options.option_money import Usage
from planner.duration.training_time import Timed
from planner.model.answer.reason import Reason, ReasonCode
from planner.model.catalog import Catalog
from planner.model.hardware.machines import NodeNetwork
from planner.model.prices.offer import PriceKind, PriceOrigin
from planner.scenario.allowed_offers import provider_of
from planner.scenario.candidate import Candidate
from planner.scenario.own_machine import offered_notes, own_notes
from planner.speed.throughput.speed import Speed


def missing_figures(
    candidate: Candidate, speed: Speed, timed: Timed, no_money: tuple[Reason, ...], usage: Usage
) -> tuple[Reason, ...]:
    """Return the reasons why a figure of the option is unknown, or its site cannot power it."""
    site, node = candidate.site, candidate.node
    reasons = list(overloads(site, node, nodes=site.nodes)) if site is not None else []
    reasons += speed.problems
    reasons += [timed.reason] if timed.reason else []
    reasons += no_money
    if usage.time is not None and usage.energy is None:
        text = f"energy: no power is known for {node.id}; give power_kw"
        reasons.append(Reason(code=ReasonCode.POWER_NOT_KNOWN, text=text))
    return tuple(reasons)


def machine_notes(candidate: Candidate) -> list[str]:
    """Return notes on what is assumed of the machine, and on its accelerator's support and traps."""
    accelerator, site = candidate.accelerator, candidate.site
    own = candidate.option.own
    assumed = own_notes(own, site, candidate.node) if own is not None and site is not None else ()
    assumed = assumed or offered_notes(candidate.node)
    return [*assumed] + [f"{accelerator.id}: {text}" for text in (accelerator.support_ended, accelerator.trap) if text]


def machine_name(candidate: Candidate) -> str:
    """Return the name of the machine with its number of accelerators."""
    count = f"{candidate.accelerators}x {candidate.accelerator.id}"
    where = candidate.site.name if candidate.site else candidate.node.name
    return f"{where} ({count})"


def network_of(candidate: Candidate) -> NodeNetwork | None:
    """Return the network between the nodes; None for a single node."""
    if candidate.nodes == 1:
        return None
    return NodeNetwork.of(candidate.node, stated=candidate.option.network_gbit_per_s)


def region_of(candidate: Candidate) -> str | None:
    """Return the region of a rented machine."""
    if candidate.site is not None:
        return None
    return candidate.price.region if candidate.price else candidate.option.region


def is_refreshed(candidate: Candidate, catalog: Catalog) -> bool | None:
    """Return whether a refresh can renew the price; None if it is not rented at a price on file."""
    if candidate.site is not None or candidate.price is None:
        return None
    provider = catalog.providers.get(provider_of(candidate.node.id))
    return candidate.price.origin is not PriceOrigin.USER and provider is not None and provider.refreshed


def price_kind_of(candidate: Candidate) -> PriceKind | None:
    """Return the kind of price of a rented machine."""
    return None if candidate.site is not None else candidate.option.price or PriceKind.ON_DEMAND
