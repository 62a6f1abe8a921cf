"""Terms of rented hours: by the second, in steps, with a minimum, or in blocks bought once for the campaign."""

from __future__ import annotations

import math
from dataclasses import dataclass

from planner.model.prices.offer import PriceKind
from planner.quantity.time_units import HOURS_PER_DAY, HOURS_PER_MONTH, HOURS_PER_YEAR, SECONDS_PER_HOUR
from planner.scenario.candidate import Candidate

BLOCK_DAYS: tuple[int, ...] = (*range(1, 15), *range(21, 183, 7))
"""Lengths of an AWS Capacity Block: 1-day steps up to 14 days, 7-day steps up to 182.

Source: the service's API reference, CapacityDurationHours of DescribeCapacityBlockOfferings.
"""
LONGEST_BLOCK = BLOCK_DAYS[-1] * HOURS_PER_DAY
BLOCK_LAST_HOURS = 0.5
"""Time before a block's end at which AWS ends its instances: 30 minutes. Source: EC2 user guide, Capacity Blocks."""
BLOCK_INSTANCES = 64
"""Most instances in one block. Source: EC2 user guide, Capacity Blocks."""
TERM_HOURS = {
    PriceKind.LEASE: HOURS_PER_MONTH,
    PriceKind.SAVINGS_1Y: HOURS_PER_YEAR,
    PriceKind.RESERVED_1Y: HOURS_PER_YEAR,
    PriceKind.SAVINGS_3Y: 3 * HOURS_PER_YEAR,
    PriceKind.RESERVED_3Y: 3 * HOURS_PER_YEAR,
}
"""Hours of a commitment, paid in full whether used or not; a lease without a stated term is taken for one month.

They count if no price row states its own hours: AWS states 8,760 a year (`minimum_term_hours`).
"""
UNRESOLVED_HOURS = 1 / SECONDS_PER_HOUR
"""Shortest billed step that matters: billing by the second is finer than any estimate."""
ROUNDING = 1e-9
"""Relative tolerance with which hours still fit a term."""
SHORT_HOURS = 1.0
"""Longest minimum that applies to each launch. A longer one is a term, bought once and used by the whole campaign."""


@dataclass(frozen=True)
class BillingTerms:
    """Terms of the hours of one node."""

    minimum_hours: float = 0.0
    step_hours: float = 0.0
    """Billing step; 0 means to the second, which no estimate resolves."""
    blocks: bool = False
    """True if sold only as Capacity Blocks."""
    most_hours: float = math.inf
    """Hours after which the machine is gone: the length of a stated window, which is sold as a whole."""
    upfront_fraction: float = 0.0
    """Share of a term that is paid before its first hour."""
    after_factor: float = 1.0
    """Price of an hour after the term as a multiple of the term's price, at least 1.

    It is infinite if the machine has no price on demand: then only another whole term can be bought.
    """

    @property
    def once(self) -> bool:
        """Return whether the hours are bought once for the campaign, not for each training."""
        return self.ends or self.minimum_hours > SHORT_HOURS

    @property
    def ends(self) -> bool:
        """Return whether the machines are taken away when the bought hours are over."""
        return self.blocks or not math.isinf(self.most_hours)


def terms_of(candidate: Candidate) -> BillingTerms:
    """Return the terms of the candidate's hours, from its kind of price, and from its price row if that counts."""
    row, kind = candidate.price, candidate.option.price or PriceKind.ON_DEMAND
    window = candidate.option.window
    if window is not None:
        return BillingTerms(minimum_hours=window.hours, most_hours=window.hours, upfront_fraction=1.0)
    if kind is PriceKind.CAPACITY_BLOCK:
        return BillingTerms(blocks=True, upfront_fraction=1.0)
    term = TERM_HOURS.get(kind, 0.0)
    if row is None or candidate.has_own_price:
        least = max(term, candidate.option.minimum_hours or 0.0)
        return BillingTerms(minimum_hours=least, after_factor=math.inf if term else 1.0)
    step_hours = (row.billing_granularity_s or 0.0) / SECONDS_PER_HOUR
    least = max(row.minimum_term_hours or term, row.minimum_hours)
    return BillingTerms(
        minimum_hours=least,
        step_hours=step_hours if step_hours > UNRESOLVED_HOURS else 0.0,
        upfront_fraction=row.upfront_fraction,
        after_factor=math.inf if row.minimum_term_hours or term else 1.0,
    )


def usable_hours(bought: float) -> float:
    """Return the hours of blocks, one after another, in which machines can be used: each ends half an hour early."""
    return bought - BLOCK_LAST_HOURS * math.ceil(bought / LONGEST_BLOCK)


def block_hours(most: float) -> tuple[float, ...]:
    """Return the lengths in which blocks are sold, one after another from the longest on, until one holds `most`."""
    whole = math.floor(most / usable_hours(LONGEST_BLOCK))
    return tuple(before * LONGEST_BLOCK + days * HOURS_PER_DAY for before in range(whole + 1) for days in BLOCK_DAYS)


def sold_hours(hours: float, terms: BillingTerms) -> float:
    """Return the hours that must be bought for `hours` of use.

    max(minimum, ceil(hours / step) x step); for blocks the shortest length on sale that holds hours + 0.5, after as
    many of the longest as the use fills.

    It is monotone in `hours`, and never less. A stated window is always bought as a whole, because nothing is available
    after it. Hours after a term are bought on demand, or as another term if that costs less.
    """
    if terms.blocks:
        whole = math.floor(hours / usable_hours(LONGEST_BLOCK))
        rest = hours - whole * usable_hours(LONGEST_BLOCK)
        if rest <= 0:
            return whole * LONGEST_BLOCK
        days = next((day for day in BLOCK_DAYS if rest <= usable_hours(day * HOURS_PER_DAY)), BLOCK_DAYS[-1])
        return whole * LONGEST_BLOCK + days * HOURS_PER_DAY
    if terms.after_factor > 1:
        whole, rest = _whole_terms(hours, terms)
        on_demand = not rest or rest * terms.after_factor <= terms.minimum_hours
        return whole * terms.minimum_hours + (rest if on_demand else terms.minimum_hours)
    if terms.step_hours:
        hours = max(hours, math.ceil(hours / terms.step_hours - 1e-9) * terms.step_hours)
    return min(terms.most_hours, max(terms.minimum_hours, hours))


def priced_hours(hours: float, terms: BillingTerms) -> float:
    """Return the cost of `hours` of use in hours at the price of the terms: those sold, and any surcharge after a term.

    whole terms x hours of the term + min(hours after them x `after_factor`, hours of the term)
    """
    if terms.after_factor <= 1:
        return sold_hours(hours, terms)
    whole, rest = _whole_terms(hours, terms)
    return whole * terms.minimum_hours + min(rest * terms.after_factor if rest else 0.0, terms.minimum_hours)


def _whole_terms(hours: float, terms: BillingTerms) -> tuple[int, float]:
    """Return the terms that the hours fill, at least one, and the hours after them."""
    whole = max(1, math.floor(hours / terms.minimum_hours + ROUNDING))
    rest = hours - whole * terms.minimum_hours
    return whole, rest if rest > ROUNDING * terms.minimum_hours else 0.0


def terms_notes(candidate: Candidate) -> tuple[str, ...]:
    """Return a note if the hours cannot be bought in one piece."""
    kind = candidate.option.price
    if kind is not PriceKind.CAPACITY_BLOCK or candidate.nodes <= BLOCK_INSTANCES:
        return ()
    blocks = math.ceil(candidate.nodes / BLOCK_INSTANCES)
    return (f"a Capacity Block holds {BLOCK_INSTANCES} instances: {candidate.nodes} nodes need {blocks} blocks",)


def billing_text(terms: BillingTerms) -> str:
    """Describe the terms in words."""
    if terms.blocks:
        return "blocks of 1 to 14 days or of weeks up to 26, bought once for the campaign, ended 30 minutes early"
    if terms.ends:
        return f"a window of {terms.most_hours:g} h, paid for whole, its machines gone 30 minutes before its end"
    if terms.once:
        after = ", then on demand or another such term" if terms.after_factor > 1 else ""
        return f"{terms.minimum_hours:g} h at least, bought once for the campaign{after}"
    steps = f"in steps of {terms.step_hours * SECONDS_PER_HOUR:g} s" if terms.step_hours else ""
    least = f"{terms.minimum_hours:g} h at least" if terms.minimum_hours else ""
    return " and ".join(part for part in (least, steps) if part) or "by the second"
