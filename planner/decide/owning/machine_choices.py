"""List what can be done with an owned machine: keep, buy, lease, add nodes, sell, rent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from planner.cost.cloud.bill_lines import local_amount
from planner.cost.ownership.owed_anyway import is_owed
from planner.cost.ownership.owned_cost import OwnedInputs, annual_cost, busy_gpu_hours_per_year, capex_usd
from planner.cost.ownership.resolved_site import ResolvedSite
from planner.cost.power.circuit import overloads
from planner.model.answer.option_estimate import OptionEstimate
from planner.model.answer.own_or_rent import ChoiceKind, OwnOrRentChoice, RentalOption
from planner.model.answer.reason import codes_of, text_of
from planner.model.currency import Currency
from planner.model.hardware.machines import Node
from planner.model.owning.acquisition import Acquisition
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import derived, interval, to_quantity
from planner.quantity.spread import signed_product

KIND_OF = {
    Acquisition.PURCHASE: ChoiceKind.BUY,
    Acquisition.LEASE: ChoiceKind.LEASE,
    Acquisition.ALREADY_OWNED: ChoiceKind.KEEP,
}


@dataclass(frozen=True)
class OwnedOption:
    """An owned option of the plan with its resolved site."""

    option: OptionEstimate
    resolved: ResolvedSite
    node: Node
    other_use: float = 0.0
    """Share of the machine's busy hours that others use."""
    as_bought: ResolvedSite | None = None
    """Costs of an existing machine at its price, if that is stated and its sale value is not."""

    @property
    def at_its_price(self) -> ResolvedSite:
        """Return the costs of the machine as an investment: at its price, if that is stated."""
        return self.as_bought or self.resolved


def choices(
    owned: OwnedOption, others: Sequence[OwnedOption], rentals: Sequence[RentalOption], currency: Currency | None
) -> tuple[OwnOrRentChoice, ...]:
    """Return the choices for the site's yearly work, the cheapest per training first; empty if no speed is known.

    The work is that of the site as planned: nodes x busy GPU-hours / (hours x accelerators of one training).
    Keeping counts the machine's sale value as its capital, so selling and renting costs the rent alone. Rents count by
    the price of the hour alone, without set-up, storage or the unused hours of a block: USD of a training = USD of the
    year / its trainings.
    """
    work = _trainings_per_node_year(owned)
    if work is None:
        return ()
    resolved, nodes = owned.at_its_price, owned.resolved.site.nodes
    inputs = resolved.inputs
    already = inputs.acquisition is Acquisition.ALREADY_OWNED
    owed = is_owed(resolved, owned.option.hold)
    kind = ChoiceKind.KEEP if owed else KIND_OF[inputs.acquisition]
    laid_out = [_owned(kind, owned, nodes, work * nodes, upfront_usd(inputs, nodes), currency)]
    if not already and not owed:
        more = upfront_usd(inputs, nodes + 1)
        laid_out.append(_owned(ChoiceKind.ADD_NODES, owned, nodes + 1, work * (nodes + 1), more, currency))
    proceeds = nodes * inputs.resale_usd if already else 0.0
    for other in others:
        each = _trainings_per_node_year(other)
        if each is None or other.at_its_price.inputs.acquisition is Acquisition.ALREADY_OWNED:
            continue
        needed = max(1, math.ceil(work * nodes / each - 1e-9))
        kind = ChoiceKind.SELL_AND_BUY if already else KIND_OF[other.at_its_price.inputs.acquisition]
        spent = upfront_usd(other.at_its_price.inputs, needed) - proceeds
        laid_out.append(_owned(kind, other, needed, work * nodes, spent, currency))
    hours = nodes * busy_gpu_hours_per_year(inputs)
    for rental in rentals:
        if rental.usd_per_owned_gpu_hour is not None:
            laid_out.append(_rented(rental, hours, work * nodes, proceeds if already else None, currency))
    return tuple(sorted(laid_out, key=lambda choice: (choice.why_not is not None, choice.usd_per_training.value)))


def _trainings_per_node_year(owned: OwnedOption) -> float | None:
    hours, accelerators = owned.option.wall_hours, owned.option.accelerators
    if hours is None or accelerators is None:
        return None
    return busy_gpu_hours_per_year(owned.resolved.inputs) / (hours.value * accelerators)


def upfront_usd(inputs: OwnedInputs, nodes: int) -> float:
    """Return the USD spent at once on machines to be bought: nodes x (capex - grants); 0 if none are bought.

    Spares are not part of it, as in `pay_now` of a campaign: they are bought over the years.
    """
    if inputs.acquisition is not Acquisition.PURCHASE:
        return 0.0
    return nodes * (capex_usd(inputs) - inputs.grants_usd)


def _owned(
    kind: ChoiceKind, owned: OwnedOption, nodes: int, trainings: float, upfront: float, currency: Currency | None
) -> OwnOrRentChoice:
    reasons = overloads(owned.resolved.site, owned.node, nodes=nodes)
    resolved = owned.at_its_price
    each = resolved.range_of(lambda inputs: annual_cost(inputs).total)
    source = f"{nodes} node(s) x {each.value:,.0f} USD a year; site {resolved.site.id}: {resolved.site.source}"
    year = to_quantity(each.scaled(nodes), Unit.USD_PER_YEAR, resolved.basis, source, resolved.as_of)
    training = _per_training(year, trainings, owned.option)
    return OwnOrRentChoice(
        kind=kind,
        id=owned.option.id,
        display_name=owned.option.display_name,
        nodes=nodes,
        trainings_per_year=trainings,
        usd_per_year=year,
        local_per_year=local_amount(year, currency),
        usd_per_training=training,
        local_per_training=local_amount(training, currency),
        usd_upfront=upfront,
        why_not=text_of(reasons),
        why_not_codes=codes_of(reasons),
    )


def _rented(
    rental: RentalOption, gpu_hours: float, trainings: float, proceeds: float | None, currency: Currency | None
) -> OwnOrRentChoice:
    rent = rental.usd_per_owned_gpu_hour
    assert rent is not None
    value = interval(rent, Unit.USD_PER_GPU_HOUR).scaled(gpu_hours)
    source = f"{gpu_hours:,.0f} busy GPU-hours of ours a year x {rent.value:.4g} USD; {rent.source}"
    year = derived(value, Unit.USD_PER_YEAR, rent, source=source)
    source = f"{year.value:,.0f} USD a year / {trainings:.4g} trainings; {source}"
    training = derived(value.scaled(1 / trainings), Unit.USD, rent, source=source)
    return OwnOrRentChoice(
        kind=ChoiceKind.RENT if proceeds is None else ChoiceKind.SELL_AND_RENT,
        id=rental.id,
        display_name=rental.display_name,
        nodes=None,
        trainings_per_year=trainings,
        usd_per_year=year,
        local_per_year=local_amount(year, currency),
        usd_per_training=training,
        local_per_training=local_amount(training, currency),
        usd_upfront=None if proceeds is None else -proceeds,
        why_not=None,
    )


def _per_training(year: Quantity, trainings: float, option: OptionEstimate) -> Quantity:
    """Return USD a year / trainings a year, with the uncertainty of the time of a training."""
    hours = option.wall_hours
    assert hours is not None, "the number of trainings comes from it"
    slower = interval(hours, Unit.HOURS).scaled(1 / hours.value)
    each = signed_product(slower, interval(year, Unit.USD_PER_YEAR)).scaled(1 / trainings)
    source = f"{year.value:,.0f} USD a year / {trainings:.4g} trainings; {year.source}; {hours.source}"
    return derived(each, Unit.USD, year, hours, source=source)
