"""Cash flows over the years of owning one node, against the rent that it saves, before and after tax."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from planner.cost.ownership.owned_cost import (
    OwnedInputs,
    busy_gpu_hours_per_year,
    capex_usd,
    running_cost,
)
from planner.model.owning.acquisition import Acquisition
from planner.quantity.time_units import MONTHS_PER_YEAR


@dataclass(frozen=True)
class TaxTerms:
    """Tax treatment of the purchase. Losses are assumed to be offset against other profits at once."""

    rate: float
    credits_usd: float = 0.0
    """Tax credits of the first year."""
    schedule_fractions: tuple[float, ...] = ()
    """Share of the base written off in each year; empty means straight line over the years owned."""
    book_usd: float | None = None
    """Book value of a machine that is already owned; None means its sale value."""


@dataclass(frozen=True)
class Flow:
    """Cash flow of one node at one moment. Years count from the order."""

    at_years: float
    years: float
    """Part of a year that the running amounts cover; 0 at the purchase and at the sale."""
    capital_usd: float
    """Capital, net of grants: negative when bought, positive when sold."""
    running_usd: float
    """Bills, as a negative amount."""
    rent_saved_usd: float
    tax_usd: float = 0.0
    """Tax; negative when paid."""

    @property
    def before_tax_usd(self) -> float:
        """Total without taxes."""
        return self.capital_usd + self.running_usd + self.rent_saved_usd

    @property
    def after_tax_usd(self) -> float:
        """Total with taxes."""
        return self.before_tax_usd + self.tax_usd


def net_present_value(amounts: Sequence[tuple[float, float]], *, rate_per_year: float) -> float:
    """Return the present value of amounts at (years, USD).

    NPV = sum USD / (1 + rate)^years        Source: definition.
    """
    return math.fsum(usd / (1 + rate_per_year) ** years for years, usd in amounts)


def flows(inputs: OwnedInputs, *, rent_usd_per_gpu_hour: float, tax: TaxTerms | None = None) -> tuple[Flow, ...]:
    """Lay out buying (or not selling) one node now, running it, and selling it at the end.

    at 0:                 -(capex - grants) x (1 + spares)
    at each year's end:   busy GPU-hours x rent saved - running cost, for the part of a year that is left in the last
    at the end:           capex x residual share x (1 + spares)

    `rent_usd_per_gpu_hour` is the cloud's price for the same hour of work. Running starts after the lead time; a lease
    is paid from then. With `tax`, see `_tax_usd`.
    """
    spared = 1 + inputs.spares_fraction_of_nodes
    capital = capex_usd(inputs) * spared
    lead = inputs.lead_time_months / MONTHS_PER_YEAR
    bills = running_cost(inputs).total
    saved = rent_usd_per_gpu_hour * busy_gpu_hours_per_year(inputs)
    flows = [Flow(0.0, 0.0, inputs.grants_usd * spared - capital, 0.0, 0.0)]
    for year in range(math.ceil(inputs.years)):
        share = min(1.0, inputs.years - year)
        flows.append(Flow(lead + year + share, share, 0.0, -bills * share, saved * share))
    flows.append(Flow(lead + inputs.years, 0.0, capital * inputs.residual_fraction, 0.0, 0.0))
    if tax is None:
        return tuple(flows)
    taxes = _tax_usd(inputs, flows, tax, base=capital - inputs.grants_usd * spared)
    return tuple(_with_tax(flow, usd) for flow, usd in zip(flows, taxes, strict=True))


def _with_tax(flow: Flow, usd: float) -> Flow:
    return Flow(flow.at_years, flow.years, flow.capital_usd, flow.running_usd, flow.rent_saved_usd, usd)


def _tax_usd(inputs: OwnedInputs, flows: Sequence[Flow], tax: TaxTerms, *, base: float) -> list[float]:
    """Return the taxes of each flow, negative when paid.

    in a year:    -rate x (rent saved - bills - depreciation); a saved rent is a deduction lost
    in the first: + credits
    at the sale:  -rate x (sold for - book)
    at 0:         nothing for a purchase; of a machine already owned, not selling saves rate x (resale - book)

    Depreciation applies to the price less grants (credits do not lower the base), or to the book value, by the schedule
    or in equal parts over the years owned. The undepreciated rest at the sale is its book value.
    """
    if inputs.acquisition is Acquisition.ALREADY_OWNED:
        start = base if tax.book_usd is None else tax.book_usd * (1 + inputs.spares_fraction_of_nodes)
    else:
        start = base
    amounts = [tax.rate * (base - start)]
    book = start
    for position, flow in enumerate(flows[1:-1]):
        written = start * _share_written_off(tax, position, flow.years, inputs.years)
        book -= written
        profit = flow.rent_saved_usd + flow.running_usd - written
        amounts.append(-tax.rate * profit + (tax.credits_usd if position == 0 else 0.0))
    amounts.append(-tax.rate * (flows[-1].capital_usd - book))
    return amounts


def _share_written_off(tax: TaxTerms, position: int, share_of_year: float, years: float) -> float:
    if not tax.schedule_fractions:
        return share_of_year / years
    return tax.schedule_fractions[position] if position < len(tax.schedule_fractions) else 0.0


def npv_usd(
    inputs: OwnedInputs, *, rent_usd_per_gpu_hour: float, tax: TaxTerms | None = None, after_tax: bool = False
) -> float:
    """Return the present value of owning one node over renting the same work, at the discount rate; positive favours
    owning.
    """
    laid_out = flows(inputs, rent_usd_per_gpu_hour=rent_usd_per_gpu_hour, tax=tax)
    amounts = [(flow.at_years, flow.after_tax_usd if after_tax else flow.before_tax_usd) for flow in laid_out]
    return net_present_value(amounts, rate_per_year=inputs.discount_rate_per_year)


def payback_months(inputs: OwnedInputs, *, rent_usd_per_gpu_hour: float) -> float | None:
    """Return the months from the order until the saved rent has paid for the purchase, undiscounted, without resale.

    months = lead time + (capex - grants) x (1 + spares) / (rent saved - running cost a month)

    Returns None if the machine saves nothing, or not before its end.
    """
    spent = (capex_usd(inputs) - inputs.grants_usd) * (1 + inputs.spares_fraction_of_nodes)
    saved = rent_usd_per_gpu_hour * busy_gpu_hours_per_year(inputs) - running_cost(inputs).total
    if saved <= 0:
        return None
    months = spent / saved * MONTHS_PER_YEAR
    return None if months > inputs.years * MONTHS_PER_YEAR else inputs.lead_time_months + months
