"""Which way of doing a year's trainings to take: what stands there stays, and nothing is bought, without good cause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from planner.decide.recommend.rank import TIE_FRACTION, Costs, hours_come_first
from planner.model.answer.planned_year import YearOption
from planner.model.owning.hold import Hold
from planner.quantity.chance import doubted

if TYPE_CHECKING:
    from planner.decide.outcomes.draws import Array

PLACE = {Hold.HAVE: 0, Hold.RENT: 1, Hold.USE: 1, Hold.BUY: 2}
"""Of equals, what stands there comes first, then what can be given back."""


def chance_cheaper(option: YearOption, other: YearOption) -> float:
    """Return the share of the samples in which the year costs no more on one option than on another.

    Causes of an error that both share, such as the practice that a plan counts, are drawn once for both.
    """
    from planner.decide.outcomes.outcomes import share_of

    mine, theirs = _drawn(option), _drawn(other)
    return share_of(mine <= theirs, mine - theirs)


def _drawn(option: YearOption) -> Array:
    """Return the cost of the year in each sample."""
    from planner.decide.outcomes.draws import at_scores, mixed

    assert option.usd_per_year is not None, "it is known"
    causes = option.error_causes or ((f"year {option.id}", 1.0),)
    return at_scores(doubted(option.usd_per_year), mixed(causes))


def recommended(options: Sequence[YearOption], *, confidence: float) -> YearOption | None:
    """Return the option to take; None where none has a cost.

    In the order have, rent or use, buy, and of each the cheapest first: the first that no other one beats, by more
    than 10 % and with the plan's confidence. So a machine is bought only where that is sure enough to pay, and one that
    stands there is given up only so. What commits to more than the plan's budget is not taken. Of what is rented, hours
    that are paid as they are used come before what is paid ahead, or after it, by the rule of `compare`. Spot and
    marketplace are never first: they do not last for years.
    """
    known = [one for one in options if may_be_recommended(one)]
    order = sorted(known, key=lambda one: (PLACE[one.hold], _usd(one)))
    unbeaten = [one for one in order if not any(_beats(other, one, confidence) for other in known)]
    if not unbeaten:
        return min(known, key=_usd, default=None)
    return _ahead_of_hours(unbeaten[0], unbeaten, confidence)


def _ahead_of_hours(first: YearOption, unbeaten: Sequence[YearOption], confidence: float) -> YearOption:
    """Return what is paid ahead where it comes before the hours that are first; else the first."""
    if first.hold not in (Hold.RENT, Hold.USE) or first.usd_committed is not None:
        return first
    hours = _costs(first, confidence)
    ahead = [
        one
        for one in unbeaten
        if one.hold is first.hold
        and one.usd_committed is not None
        and not hours_come_first(hours, _costs(one, confidence))
    ]
    return min(ahead, key=_usd, default=first)


def _costs(option: YearOption, confidence: float) -> Costs:
    from planner.decide.outcomes.outcomes import Outcomes

    drawn = _drawn(option)
    return Costs(_usd(option), Outcomes(hours=None, usd=drawn, in_windows=drawn >= 0).usd_at(confidence))


def may_be_recommended(option: YearOption) -> bool:
    """Return whether the option is firm, possible, within the budget, and of known cost."""
    allowed = option.firm and option.why_not is None and not option.over_budget
    return allowed and option.usd_per_year is not None


def _beats(other: YearOption, one: YearOption, confidence: float) -> bool:
    if _usd(other) * (1 + TIE_FRACTION) >= _usd(one):
        return False
    return chance_cheaper(other, one) >= confidence


def _usd(option: YearOption) -> float:
    assert option.usd_per_year is not None
    return option.usd_per_year.value
