"""Name options for people: "Lambda, 8x H100", "2x AWS p4d spot, 16x A100"; each name means one machine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations, count

from planner.decide.options.card_name import card_names, card_parts
from planner.decide.options.instance_name import instance_name
from planner.decide.options.machines_alike import NO_OTHERS, Alike, machines_alike
from planner.decide.options.plan_remarks import REMARKS
from planner.model.answer.option_estimate import OptionEstimate, RankedOption
from planner.model.hardware.machines import Node
from planner.model.owning.acquisition import Hold
from planner.model.prices.offer import PriceKind
from planner.model.prices.service import Provider
from planner.scenario.own_machine import OWN

KIND_WORDS = {
    PriceKind.ON_DEMAND: "on demand",
    PriceKind.SPOT: "spot",
    PriceKind.SAVINGS_1Y: "1-year savings plan",
    PriceKind.SAVINGS_3Y: "3-year savings plan",
    PriceKind.RESERVED_1Y: "reserved 1 year",
    PriceKind.RESERVED_3Y: "reserved 3 years",
    PriceKind.CAPACITY_BLOCK: "block",
    PriceKind.MARKETPLACE: "marketplace",
    PriceKind.LEASE: "lease",
    PriceKind.GRANT: "grant",
    PriceKind.HOSTED_TRAINING: "by the token",
}
UNSAID = (PriceKind.ON_DEMAND, PriceKind.MARKETPLACE)
"""Kinds of price that a name leaves out if no other option has the same name."""
REGION, KIND, STRATEGY, INSTANCE, PRICE = "region", "kind", "strategy", "instance", "price"
DIFFERENCES = (REGION, KIND, STRATEGY, INSTANCE, PRICE)
"""Additions to equal names in the order in which they are tried; the plan's remarks come after them."""
DESCRIPTION = re.compile(r" with | \(|, ")
"""Start of the part of a machine's name that describes its contents."""


class _Naming:
    """Data on which an option's name depends: cards of the answer, providers, machines of the catalog."""

    def __init__(
        self, options: Sequence[OptionEstimate], providers: Mapping[str, Provider], nodes: Mapping[str, Node]
    ) -> None:
        self.providers = providers
        self.accelerators = {option.accelerator for option in options if option.accelerator is not None}
        rented = {option.offer.partition("/")[0] for option in options if option.offer is not None}
        self.alike = machines_alike(nodes, rented, lambda machine: " ".join(_rented_place(machine, providers)))

    def same_named(self, option: OptionEstimate) -> Alike:
        """Return the catalog's machines that would have the same name."""
        return NO_OTHERS if option.offer is None else self.alike.get(option.offer, NO_OTHERS)

    def card(self, option: OptionEstimate) -> str:
        """Return the name of the option's accelerator in this answer."""
        assert option.accelerator is not None
        return card_names(self.accelerators | self.same_named(option).accelerators)[option.accelerator]


def with_display_names(
    options: Sequence[OptionEstimate],
    providers: Mapping[str, Provider],
    nodes: Mapping[str, Node],
    remarks: Sequence[Mapping[str, str]] = (),
) -> tuple[OptionEstimate, ...]:
    """Return the options of one answer, each with its own name; `remarks` are the plan's, one for each option.

    A name means the same machine of the catalog in every answer. Equal names gain the smallest addition that tells them
    apart: the first of region, kind of price, strategy, instance, price and remarks, else two of them and so on. Names
    that are still equal are numbered.
    """
    remarks = remarks or [{}] * len(options)
    naming = _Naming(options, providers, nodes)
    names = [_name(option, naming, added=()) for option in options]
    for name in sorted({name for name in names if names.count(name) > 1}):
        places = [place for place, other in enumerate(names) if other == name]
        alike = [(options[place], remarks[place]) for place in places]
        unlike = _unlike(alike, naming, taken=set(names) - {name})
        for place, better in zip(places, unlike, strict=True):
            names[place] = better
    return tuple(option.model_copy(update={"display_name": name}) for option, name in zip(options, names, strict=True))


def named_beside(
    option: RankedOption, shown: Sequence[OptionEstimate], providers: Mapping[str, Provider], nodes: Mapping[str, Node]
) -> RankedOption:
    """Return an option of another search with a name that no offer of the shown answer has."""
    if all(other.display_name != option.display_name or _offered(other) == _offered(option) for other in shown):
        return option
    naming = _Naming((*shown, option), providers, nodes)
    [name] = _unlike([(option, {})], naming, taken={other.display_name for other in shown})
    return option.model_copy(update={"display_name": name})


def _offered(option: OptionEstimate) -> tuple[str | None, str | None, PriceKind | None, str | None]:
    return option.offer, option.site, option.price_kind, option.region


def provider_name(provider: str, providers: Mapping[str, Provider], *, machine: str = "") -> str:
    """Return a provider's name; an unknown provider is spelled as in its machine's name, else by its id."""
    known = providers.get(provider)
    return known.name if known is not None else _spelled(provider, machine)


def _spelled(provider: str, machine: str) -> str:
    words = provider.replace("-", " ")
    spelled = machine[: len(words)]
    return spelled if spelled.casefold() == words.casefold() else words.capitalize()


def strategy_name(strategy: str) -> str:
    """Return the usual spelling of a strategy: `zero2` is ZeRO-2."""
    return strategy.upper().replace("ZERO", "ZeRO-")


def machine_name(
    machine: str,
    providers: Mapping[str, Provider],
    *,
    accelerator: str | None,
    accelerators: int | None,
    nodes: int = 1,
) -> str:
    """Return the name of a machine by its id: `aws/p4d.24xlarge` with eight A100 is AWS p4d, 8x A100."""
    said = " ".join(_rented_place(machine, providers)) if "/" in machine else machine
    if accelerator is not None and accelerators is not None:
        said += f", {nodes * accelerators}x {card_names({accelerator})[accelerator]}"
    return f"{nodes} nodes: {said}" if nodes > 1 else said


def _unlike(
    options: Sequence[tuple[OptionEstimate, Mapping[str, str]]],
    naming: _Naming,
    *,
    taken: set[str],
) -> list[str]:
    names: list[str] = []
    of_the_plan = [key for key in REMARKS if len({remarks.get(key) for _, remarks in options}) > 1]
    differences = (*DIFFERENCES, *of_the_plan)
    for size in range(1, len(differences) + 1):
        for added in combinations(differences, size):
            names = [_name(option, naming, added=added, remarks=remarks) for option, remarks in options]
            if len(set(names)) == len(names) and taken.isdisjoint(names):
                return names
    numbered: list[str] = []
    for option, remarks in options:
        name = _name(option, naming, added=of_the_plan, remarks=remarks)
        free_names = (
            tried for number in count(1) if (tried := name if number == 1 else f"{name} ({number})") not in taken
        )
        numbered.append(next(free_names))
        taken = taken | {numbered[-1]}
    return numbered


def _name(
    option: OptionEstimate,
    naming: _Naming,
    *,
    added: Sequence[str],
    remarks: Mapping[str, str] | None = None,
) -> str:
    machine = [_owned_name(option)] if option.offer is None else _rented_name(option, naming, added)
    nodes = f"{option.nodes}x " if option.nodes is not None and option.nodes > 1 else ""
    said = [nodes + " ".join(machine)]
    if option.accelerator is not None:
        carried = f"{option.accelerators}x {naming.card(option)}"
        said = [_own_cards(option, naming.card(option))] if _is_named_by_its_cards(option) else [*said, carried]
    if STRATEGY in added and option.strategy is not None:
        said.append(strategy_name(option.strategy))
    if PRICE in added and option.price is not None:
        said.append(f"at {option.price.value:,.2f} {option.price.unit.value}")
    said += [remark for key, remark in (remarks or {}).items() if key in added]
    return ", ".join(said)


def _own_cards(option: OptionEstimate, card: str) -> str:
    """Return `your RTX 3090` or `your 2x RTX 3090`, without "your" for cards that are still to be bought."""
    number = f"{option.accelerators}x " if option.hold is Hold.BUY or option.accelerators != 1 else ""
    return f"{'' if option.hold is Hold.BUY else 'your '}{number}{card}"


def _is_named_by_its_cards(option: OptionEstimate) -> bool:
    """Return whether the plan names the machine by its accelerator alone, as its own."""
    return option.offer is None and (option.site or "").startswith(OWN)


def _rented_name(option: OptionEstimate, naming: _Naming, added: Sequence[str]) -> list[str]:
    assert option.offer is not None
    said = _rented_place(option.offer, naming.providers, name=option.name)
    if INSTANCE in added or not naming.same_named(option).is_plain:
        said = [said[0], *instance_name(option)]
    if option.price_kind is not None and (KIND in added or option.price_kind not in UNSAID):
        said.append(KIND_WORDS[option.price_kind])
    if REGION in added and option.region is not None:
        said.append(option.region)
    return said


def _rented_place(machine: str, providers: Mapping[str, Provider], *, name: str = "") -> list[str]:
    provider, _, instance = machine.partition("/")
    known = providers.get(provider)
    said = [provider_name(provider, providers, machine=name)]
    if known is not None and known.families:
        said.append(instance.partition(".")[0])
    return said


def _owned_name(option: OptionEstimate) -> str:
    """Return the name of a site or machine without its contents: `DGX Station (4x V100 32 GB)` is DGX Station."""
    name = option.name.removesuffix(f" ({option.accelerators}x {option.accelerator})")
    if option.accelerator is None:
        return name
    short = DESCRIPTION.split(name, maxsplit=1)[0]
    family, memory, _ = card_parts(option.accelerator)
    carried = f" {family} {memory.replace('GB', ' GB')}"
    return (short.removesuffix(carried) if memory else short) or name


def name_of(option: OptionEstimate) -> str:
    """Return the option's display name; in a stored answer without names its id."""
    return option.display_name or option.id
