"""Choose how to do a year's trainings. Existing machines stay and nothing is bought unless a change surely pays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from planner.decide.recommend.rank import TIE_FRACTION, Costs, hours_come_first
from planner.model.answer.planned_year import YearOption
from planner.model.owning.acquisition import Hold
from planner.quantity.interval import doubted

if TYPE_CHECKING:
    from planner.decide.outcomes.draws import Array

PLACE = {Hold.HAVE: 0, Hold.RENT: 1, Hold.USE: 1, Hold.BUY: 2}
"""Order among equals: existing machines first, then those that can be given back."""


def chance_cheaper(option: YearOption, other: YearOption) -> float:
    """Return the share of the samples in which the year costs no more on one option than on another.

    A cause of error that both share, such as the plan's practice, is drawn once for both.
    """
    from planner.decide.outcomes.outcomes import share_of

    own_samples, other_samples = _samples(option), _samples(other)
    return share_of(own_samples <= other_samples, own_samples - other_samples)


def _samples(option: YearOption) -> Array:
    """Return the cost of the year in each sample."""
    from planner.decide.outcomes.draws import at_scores, mixed

    assert option.usd_per_year is not None, "it is known"
    causes = option.error_causes or ((f"year {option.id}", 1.0),)
    return at_scores(doubted(option.usd_per_year), mixed(causes))


def recommended(options: Sequence[YearOption], *, confidence: float) -> YearOption | None:
    """Return the recommended option; None if no option has a cost.

    It is the first option, in the order have, rent or use, buy and then by cost, that no other option beats by more
    than 10 % and with the plan's confidence. So a machine is bought, or an existing one given up, only if that surely
    pays. Prepaid rents come before or after hourly ones by the rule of `compare`. Purchases and commitments over the
    plan's budget, spot and marketplace are never recommended.
    """
    known = [option for option in options if may_be_recommended(option)]
    order = sorted(known, key=lambda option: (PLACE[option.hold], yearly_usd(option)))
    unbeaten = [option for option in order if not any(_beats(other, option, confidence) for other in known)]
    if not unbeaten:
        return min(known, key=yearly_usd, default=None)
    return _prepaid_before_hours(unbeaten[0], unbeaten, confidence)


def _prepaid_before_hours(first: YearOption, unbeaten: Sequence[YearOption], confidence: float) -> YearOption:
    """Return the prepaid rent that comes before the hourly one that is first; without such a rent, the first."""
    if first.hold not in (Hold.RENT, Hold.USE) or first.usd_committed is not None:
        return first
    hours = _costs(first, confidence)
    prepaid = [
        option
        for option in unbeaten
        if option.hold is first.hold
        and option.usd_committed is not None
        and not hours_come_first(hours, _costs(option, confidence))
    ]
    return min(prepaid, key=yearly_usd, default=first)


def _costs(option: YearOption, confidence: float) -> Costs:
    from planner.decide.outcomes.outcomes import Outcomes

    samples = _samples(option)
    return Costs(yearly_usd(option), Outcomes(hours=None, usd=samples, in_windows=samples >= 0).usd_at(confidence))


def may_be_recommended(option: YearOption) -> bool:
    """Return whether the option is firm, possible, within the budget, and of known cost."""
    allowed = option.firm and option.why_not is None and not option.over_budget
    return allowed and option.usd_per_year is not None


def _beats(other: YearOption, option: YearOption, confidence: float) -> bool:
    much_cheaper = yearly_usd(other) * (1 + TIE_FRACTION) < yearly_usd(option)
    return much_cheaper and chance_cheaper(other, option) >= confidence


def yearly_usd(option: YearOption) -> float:
    """Return the likely yearly cost of an option that has one."""
    assert option.usd_per_year is not None, "its cost is known"
    return option.usd_per_year.value
