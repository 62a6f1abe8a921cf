"""What a person calls an option: "Lambda, 8x H100", "2x AWS p4d spot, 16x A100"; unlike within one answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations, count

from planner.decide.options.instance_name import instance_name
from planner.decide.options.plan_remarks import REMARKS
from planner.model.answer.option_estimate import OptionEstimate
from planner.model.hardware.accelerator_name import spelled
from planner.model.owning.hold import Hold
from planner.model.prices.offer import PriceKind
from planner.model.prices.provider import Provider
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
"""Kinds that a name leaves out, where nothing else is called so."""
REGION, KIND, STRATEGY, INSTANCE, PRICE = "region", "kind", "strategy", "instance", "price"
DIFFERENCES = (REGION, KIND, STRATEGY, INSTANCE, PRICE)
"""What is added to equal names, the first that makes them unlike; after these the plan's remarks, one by one."""
UNSAID_FORM = re.compile(r"SXM\d?|DGXS|per|GPU|Blackwell")
SAID_FORM = re.compile(r"PCIe|NVL|WS|Server")
"""Parts of an accelerator's id that say how it is built: the usual form, and those that are said."""
SLOWER_FORMS = ("PCIe", "NVL")
"""Forms whose chip has fewer units or a lower limit of power than the module's."""
MEMORY = re.compile(r"\d+GB")
DESCRIPTION = re.compile(r" with | \(|, ")
"""Where a machine's name goes on with what it carries."""


def with_display_names(
    options: Sequence[OptionEstimate],
    providers: Mapping[str, Provider],
    remarks: Sequence[Mapping[str, str]] = (),
) -> tuple[OptionEstimate, ...]:
    """Return the options of one answer, each with a name that no other has; `remarks` are the plan's, one an option.

    Equal names gain the least that makes them unlike: the first of region, kind of price, strategy, instance, price
    and remarks that does, else two of them and so on; what is still alike is numbered.
    """
    remarks = remarks or [{}] * len(options)
    cards = card_names({option.accelerator for option in options if option.accelerator is not None})
    names = [_name(option, cards, providers, added=()) for option in options]
    for name in sorted({name for name in names if names.count(name) > 1}):
        places = [place for place, one in enumerate(names) if one == name]
        alike = [(options[place], remarks[place]) for place in places]
        unlike = _unlike(alike, cards, providers, taken=set(names) - {name})
        for place, better in zip(places, unlike, strict=True):
            names[place] = better
    return tuple(option.model_copy(update={"display_name": name}) for option, name in zip(options, names, strict=True))


def card_names(accelerators: set[str]) -> dict[str, str]:
    """Return how people call accelerators: `H100-SXM` is H100, `H100-PCIe` is H100 PCIe.

    With the memory, and most forms, only where they differ in it. A form that makes another card of the same chip is
    always said, so that H100 means one card in every answer.
    """
    parts = {one: _card_parts(one) for one in sorted(accelerators)}
    names: dict[str, str] = {}
    for one, (family, memory, form) in parts.items():
        same = [other for other in parts.values() if other[0] == family]
        sizes = {size for _, size, _ in same if size}
        differs = len({other[2] for other in same}) > 1
        said = [family, memory if len(sizes) > 1 else "", form if differs or form in SLOWER_FORMS else ""]
        names[one] = " ".join(filter(None, said))
    return names


def provider_name(provider: str, providers: Mapping[str, Provider], *, machine: str = "") -> str:
    """Return what a provider is called; one that no catalog knows as its machine's name spells it, else by its id."""
    known = providers.get(provider)
    return known.name if known is not None else _spelled(provider, machine)


def _spelled(provider: str, machine: str) -> str:
    words = provider.replace("-", " ")
    spelled = machine[: len(words)]
    return spelled if spelled.casefold() == words.casefold() else words.capitalize()


def strategy_name(strategy: str) -> str:
    """Return how people write a strategy: `zero2` is ZeRO-2."""
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
    cards: Mapping[str, str],
    providers: Mapping[str, Provider],
    *,
    taken: set[str],
) -> list[str]:
    names: list[str] = []
    of_the_plan = [key for key in REMARKS if len({remarks.get(key) for _, remarks in options}) > 1]
    differences = (*DIFFERENCES, *of_the_plan)
    for size in range(1, len(differences) + 1):
        for added in combinations(differences, size):
            names = [_name(option, cards, providers, added=added, remarks=remarks) for option, remarks in options]
            if len(set(names)) == len(names) and taken.isdisjoint(names):
                return names
    numbered: list[str] = []
    for option, remarks in options:
        name = _name(option, cards, providers, added=of_the_plan, remarks=remarks)
        free = (one for number in count(1) if (one := name if number == 1 else f"{name} ({number})") not in taken)
        numbered.append(next(free))
        taken = taken | {numbered[-1]}
    return numbered


def _name(
    option: OptionEstimate,
    cards: Mapping[str, str],
    providers: Mapping[str, Provider],
    *,
    added: Sequence[str],
    remarks: Mapping[str, str] | None = None,
) -> str:
    machine = [_owned_name(option)] if option.offer is None else _rented_name(option, providers, added)
    nodes = f"{option.nodes}x " if option.nodes is not None and option.nodes > 1 else ""
    said = [nodes + " ".join(machine)]
    if option.accelerator is not None:
        carried = f"{option.accelerators}x {cards[option.accelerator]}"
        said = [_own_cards(option, cards)] if _is_named_by_its_cards(option) else [*said, carried]
    if STRATEGY in added and option.strategy is not None:
        said.append(strategy_name(option.strategy))
    if PRICE in added and option.price is not None:
        said.append(f"at {option.price.value:,.2f} {option.price.unit.value}")
    said += [remark for key, remark in (remarks or {}).items() if key in added]
    return ", ".join(said)


def _own_cards(option: OptionEstimate, cards: Mapping[str, str]) -> str:
    """Return `your RTX 3090`, `your 2x RTX 3090`; what is still to be bought is nobody's yet."""
    assert option.accelerator is not None, "the plan names it"
    number = f"{option.accelerators}x " if option.hold is Hold.BUY or option.accelerators != 1 else ""
    return f"{'' if option.hold is Hold.BUY else 'your '}{number}{cards[option.accelerator]}"


def _is_named_by_its_cards(option: OptionEstimate) -> bool:
    """Return whether the plan names the machine by its accelerator alone, as its own."""
    return option.offer is None and (option.site or "").startswith(OWN)


def _rented_name(option: OptionEstimate, providers: Mapping[str, Provider], added: Sequence[str]) -> list[str]:
    assert option.offer is not None
    said = _rented_place(option.offer, providers, name=option.name)
    if INSTANCE in added:
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
    """Return the name of a site or machine without what it carries: `DGX Station (4x V100 32 GB)` is DGX Station."""
    name = option.name.removesuffix(f" ({option.accelerators}x {option.accelerator})")
    if option.accelerator is None:
        return name
    short = DESCRIPTION.split(name, maxsplit=1)[0]
    family, memory, _ = _card_parts(option.accelerator)
    carried = f" {family} {memory.replace('GB', ' GB')}"
    return (short.removesuffix(carried) if memory else short) or name


def _card_parts(accelerator: str) -> tuple[str, str, str]:
    """Return family, memory and form of an accelerator by its id: `A100-40GB-PCIe` is A100, 40GB, PCIe."""
    first, *others = accelerator.split("-")
    memory = [part for part in others if MEMORY.fullmatch(part)]
    form = [part for part in others if SAID_FORM.fullmatch(part)]
    left = [part for part in others if not any(kind.fullmatch(part) for kind in (MEMORY, SAID_FORM, UNSAID_FORM))]
    return spelled(" ".join((first, *left))), " ".join(memory), " ".join(form)
