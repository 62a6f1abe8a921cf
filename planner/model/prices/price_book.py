"""Price book: our own prices instead of list prices: discounts, quotes, commitments already bought, credits.

Private.
"""

from __future__ import annotations

from datetime import date
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from planner.model.base import Count, Day, Flag, Frozen, Id, Positive, Text, not_a_tiny_share
from planner.model.prices.offer import Price, PriceKind

DiscountFraction = Annotated[float, Field(strict=True, gt=0, lt=1), AfterValidator(not_a_tiny_share)]


class Scope(Frozen):
    """Prices to which an entry applies. A missing field matches everything."""

    provider: Id | None = None
    item: Id | None = None
    """Item as a plan names it: provider/instance_type."""
    kind: PriceKind | None = None
    region: Text | None = None
    valid_from: Day | None = None
    valid_until: Day | None = None
    """Last day of validity: of a discount or commitment for hours worked, of a quote for its acceptance."""

    def covers(self, price: Price) -> bool:
        """Return whether the entry applies to this price on any day."""
        return (
            self.provider in (None, price.provider)
            and self.item in (None, price.node)
            and self.kind in (None, price.price_kind)
            and (self.region is None or price.region in (self.region, "any"))
        )

    def applies(self, price: Price, on: date) -> bool:
        """Return whether the entry applies to this price on this day."""
        begun = self.valid_from is None or self.valid_from <= on
        return begun and (self.valid_until is None or on <= self.valid_until) and self.covers(price)


class Discount(Scope):
    """A share off the price. In the order of `after`, each takes its share of what the previous ones left."""

    name: Id
    discount_fraction: DiscountFraction
    """Share off the price; 0.15 is 15 %."""
    of: Literal["rest", "list"] = "rest"
    """Base of the share. list means the list price, whatever was subtracted before."""
    after: tuple[Id, ...] = ()
    """Names of discounts that come first. By default the order of the file counts."""
    on_quotes: Flag = False
    """True if it also applies to a price of `quotes`. A quote is usually final."""
    source: Text


class Quote(Scope):
    """A price that a vendor or reseller has offered us, instead of the list price."""

    name: Id
    item: Id
    usd_per_hour: Positive
    source: Text


class Commitment(Scope):
    """Instances that are paid for already, used or not."""

    name: Id
    item: Id
    nodes: Count
    usd_per_hour: Positive
    """Price of one of them."""
    valid_until: Day
    source: Text


class Credit(Frozen):
    """Money that a provider has granted, until it expires."""

    name: Id
    provider: Id
    usd: Positive
    """Remaining amount."""
    expires: Day
    """Last day of validity."""
    source: Text


class PriceBook(Frozen):
    """`price_book.yaml` in the workspace."""

    schema_version: Literal[1]
    as_of: Day
    discounts: tuple[Discount, ...] = ()
    quotes: tuple[Quote, ...] = ()
    commitments: tuple[Commitment, ...] = ()
    credits: tuple[Credit, ...] = ()

    @model_validator(mode="after")
    def _names_and_order(self) -> Self:
        names = [entry.name for entry in self.discounts] + [entry.name for entry in self.quotes]
        names += [entry.name for entry in self.commitments] + [entry.name for entry in self.credits]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"the name '{twice}' stands twice")
        known = {discount.name for discount in self.discounts}
        for discount in self.discounts:
            unknown = next((name for name in discount.after if name not in known), None)
            if unknown is not None:
                raise ValueError(f"discount '{discount.name}' comes after '{unknown}', which is no discount")
        try:
            self.stacked()
        except CycleError as error:
            raise ValueError(f"discounts wait for each other: {' after '.join(error.args[1])}") from error
        return self

    def stacked(self) -> list[Discount]:
        """Return the discounts in the order of stacking: after those they name, otherwise in the file's order."""
        by_name = {discount.name: discount for discount in self.discounts}
        sorter = TopologicalSorter({discount.name: discount.after for discount in self.discounts})
        sorter.prepare()
        order: list[str] = []
        while sorter.is_active():
            ready = set(sorter.get_ready())
            order += [name for name in by_name if name in ready]
            sorter.done(*ready)
        return [by_name[name] for name in order]
