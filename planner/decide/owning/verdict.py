"""Which way of doing a year's trainings to take: what stands there stays, and nothing is bought, without good cause."""

from __future__ import annotations

from collections.abc import Sequence

from planner.decide.recommend.rank import TIE_FRACTION
from planner.model.answer.planned_year import YearOption
from planner.model.owning.hold import Hold
from planner.model.quantity import Quantity
from planner.quantity.chance import chance_below, doubted
from planner.quantity.interval import Interval

PLACE = {Hold.HAVE: 0, Hold.RENT: 1, Hold.USE: 1, Hold.BUY: 2}
"""Of equals, what stands there comes first, then what can be given back."""


def chance_cheaper(one: Quantity, other: Quantity) -> float:
    """Return the chance that one yearly cost is no more than another, both taken as independent.

    Of what may cost nothing or less at the low end of its range, that end is lifted to a hundredth of its value.
    """
    mine, theirs = _positive(doubted(one)), _positive(doubted(other))
    if mine is None or theirs is None:
        return float(one.value <= other.value)
    return chance_below(mine.times(theirs.inverse()), 1.0)


def recommended(options: Sequence[YearOption], *, confidence: float) -> YearOption | None:
    """Return the option to take; None where none has a cost.

    In the order have, rent or use, buy, and of each the cheapest first: the first that no other one beats, by more
    than 10 % and with the plan's confidence. So a machine is bought only where that is sure enough to pay, and one that
    stands there is given up only so. What takes more at once than the plan's budget is not bought. Spot and
    marketplace are never first: nobody keeps them for years.
    """
    known = [one for one in options if may_be_recommended(one)]
    order = sorted(known, key=lambda one: (PLACE[one.hold], _usd(one)))
    unbeaten = (one for one in order if not any(_beats(other, one, confidence) for other in known))
    return next(unbeaten, min(known, key=_usd, default=None))


def may_be_recommended(option: YearOption) -> bool:
    """Return whether the option is firm, possible, within the budget, and of known cost."""
    allowed = option.firm and option.why_not is None and not option.over_budget
    return allowed and option.usd_per_year is not None


def _beats(other: YearOption, one: YearOption, confidence: float) -> bool:
    if _usd(other) * (1 + TIE_FRACTION) >= _usd(one):
        return False
    assert other.usd_per_year is not None
    assert one.usd_per_year is not None
    return chance_cheaper(other.usd_per_year, one.usd_per_year) >= confidence


def _usd(option: YearOption) -> float:
    assert option.usd_per_year is not None
    return option.usd_per_year.value


def _positive(value: Interval) -> Interval | None:
    if value.value <= 0:
        return None
    least = value.value / 100
    return Interval(value.value, max(value.low, least), max(value.high, value.value))
