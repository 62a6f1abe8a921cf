"""A site with all inputs known: ready for the formulas of owning, and movable one input at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property

from planner.cost.ownership.cash_flow import TaxTerms
from planner.cost.ownership.incentives import AppliedIncentive, apply_incentives, schedule_of, sum_of
from planner.cost.ownership.owned_cost import OwnedInputs, capex_usd
from planner.cost.ownership.residual import residual_fraction
from planner.model.owning.acquisition import Acquisition, IncentiveKind
from planner.model.owning.site import ResidualPoint, Site
from planner.model.quantity import Basis, Quantity, weakest
from planner.quantity.interval import Interval
from planner.quantity.spread import Swing, combined, swings


@dataclass(frozen=True)
class ResolvedSite:
    """One node of a site. `curve` is empty if nothing is sold at the end."""

    site: Site
    inputs: OwnedInputs
    quantities: Mapping[str, Quantity]
    """Inputs by their field in OwnedInputs."""
    defaults: tuple[str, ...]
    """Fields that the site left out."""
    curve: tuple[ResidualPoint, ...]
    age_years: float
    """Age at the start of the period."""
    notes: tuple[str, ...]

    @cached_property
    def ranges(self) -> Mapping[str, Interval]:
        """Uncertain inputs, with their ranges."""
        return {
            name: Interval(quantity.value, quantity.low, quantity.high)
            for name, quantity in self.quantities.items()
            if quantity.low < quantity.high
        }

    @property
    def basis(self) -> Basis:
        """Weakest basis of the inputs that are not zero."""
        return weakest(*(quantity.basis for quantity in self.quantities.values() if quantity.high != 0))

    @property
    def as_of(self) -> date | None:
        """Date of the oldest input."""
        return min((quantity.as_of for quantity in self.quantities.values() if quantity.as_of), default=None)

    @property
    def incentives(self) -> tuple[AppliedIncentive, ...]:
        """Every incentive of the site, evaluated."""
        return _applied(self.site, self.inputs)

    @property
    def tax(self) -> TaxTerms | None:
        """Tax treatment of the purchase; None if the site names no tax rate."""
        if self.site.tax is None:
            return None
        owned = self.site.already_owned
        return TaxTerms(
            rate=self.site.tax.rate.value,
            credits_usd=sum_of(self.incentives, IncentiveKind.TAX_CREDIT),
            schedule_fractions=schedule_of(self.incentives),
            book_usd=owned.book_usd.value if owned is not None and owned.book_usd is not None else None,
        )

    def moved(self, inputs: OwnedInputs, name: str, value: float) -> OwnedInputs:
        """Return the inputs with one of them changed, and with it what depends on it: resale by age, grants."""
        changed = replace(inputs, **{name: value})  # type: ignore[arg-type]
        if name == "years" and self.curve:
            share = resale_share(self.curve, age_years=self.age_years, years=value)
            changed = replace(changed, residual_fraction=share.value)
        return with_grants(self.site, changed)

    def swings(self, answer: Callable[[OwnedInputs], float]) -> list[Swing]:
        """Move each uncertain input of an answer to both its ends, the widest effect first."""
        return swings(answer, self.inputs, self.ranges, lambda _, name, value: self._ends[name, value])

    @cached_property
    def _ends(self) -> Mapping[tuple[str, float], OwnedInputs]:
        """Inputs with one of them at either end, by its name and value. Many answers use them."""
        ends = ((name, value) for name, each in self.ranges.items() for value in (each.low, each.high))
        return {(name, value): self.moved(self.inputs, name, value) for name, value in ends}

    def range_of(self, answer: Callable[[OwnedInputs], float]) -> Interval:
        """Return an answer with its range."""
        return combined(answer(self.inputs), self.swings(answer))


def resale_share(curve: tuple[ResidualPoint, ...], *, age_years: float, years: float) -> Interval:
    """Return the sale value `years` later as a share of the sale value at this age.

    share = residual(age + years) / residual(age), at most 1; for a new machine residual(years). It is 0 if the machine
    is worth nothing today.
    """
    later = residual_fraction(curve, age_years=age_years + years)
    if age_years == 0:
        return later
    today = residual_fraction(curve, age_years=age_years).value
    if today <= 0:
        return Interval.exact(0.0)
    return Interval(*(min(share, 1.0) for share in later.scaled(1 / today)))


def with_grants(site: Site, inputs: OwnedInputs) -> OwnedInputs:
    """Return the inputs with the grants that the site's incentives give on them."""
    if not site.incentives or inputs.acquisition is not Acquisition.PURCHASE:
        return inputs
    return replace(inputs, grants_usd=sum_of(_applied(site, inputs), IncentiveKind.GRANT))


def _applied(site: Site, inputs: OwnedInputs) -> tuple[AppliedIncentive, ...]:
    return apply_incentives(site.incentives, server_usd=inputs.server_usd, capex_usd=capex_usd(inputs), on=site.as_of)
