"""How long a campaign takes, as a decision counts it: which hours it stays under, with which chance."""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner.duration.between_turns import hours_between, runs_done
from planner.model.answer.between_turns import BetweenTurns
from planner.model.answer.option_estimate import CampaignOption
from planner.model.quantity import Quantity
from planner.quantity.chance import UNSTATED_FACTOR, chance_below, doubted, stays_under
from planner.quantity.interval import Interval, sum_of
from planner.quantity.time_units import HOURS_PER_DAY

STEPS = 40
"""Halvings in the search for a chance."""
NO_LEAD = Interval.exact(0.0)


def campaign_range(option: CampaignOption) -> Interval:
    """Return the campaign's hours with their 90 % range; `CampaignTime` says more where others take turns."""
    assert option.campaign_hours is not None, "they are known"
    return _as_counted(option.campaign_hours, option)


@dataclass(frozen=True)
class CampaignTime:
    """The hours of an option's campaign, which grow with those of its runs, and the lead time before it."""

    work: Interval
    """Of the campaign; of one run where others take turns."""
    between: BetweenTurns | None = None
    lead: Interval = NO_LEAD
    """Hours until what is ordered comes; both ranges end to end, as if they erred together."""

    @classmethod
    def of(cls, option: CampaignOption) -> CampaignTime:
        """Return the time of an option whose hours are known, once its machines can be had."""
        between = option.between_turns
        return cls(campaign_range(option) if between is None else _as_counted(between.run_hours, option), between)

    def after(self, lead_days: Quantity) -> CampaignTime:
        """Return the time from the order of its machines on."""
        return replace(self, lead=doubted(lead_days).scaled(HOURS_PER_DAY))

    def hours_at(self, chance: float) -> float:
        """Return the hours that it stays under with this chance."""
        if self.between is None:
            return stays_under(sum_of([self.lead, self.work]), chance)
        import numpy as np

        busy = hours_between(self.between, np.array([stays_under(self.work, chance)]))
        return stays_under(self.lead, chance) + float(busy[0])

    def chance_within(self, hours: float) -> float:
        """Return the chance that it takes at most so many hours.

        With turns of others: the largest chance with which a run stays short enough for all runs to end in time.
        """
        if self.between is None:
            return chance_below(sum_of([self.lead, self.work]), hours)
        least, most = 0.0, 1.0
        for _ in range(STEPS):
            middle = (least + most) / 2
            least, most = (middle, most) if self._ends_within(hours, middle) else (least, middle)
        return round(least, 9)

    def _ends_within(self, hours: float, chance: float) -> bool:
        import numpy as np

        assert self.between is not None, "others take turns"
        left, run = hours - stays_under(self.lead, chance), stays_under(self.work, chance)
        return left > 0 and runs_done(self.between, np.array([left]), np.array([run]))[0] >= self.between.runs


def _as_counted(quantity: Quantity, option: CampaignOption) -> Interval:
    """Return hours as a decision counts them.

    Where the measurement that they rest on is contradicted (`doubts`), they may be off by a factor of 1.5 more.
    """
    hours = doubted(quantity)
    return hours.times(Interval.within_factor(1.0, UNSTATED_FACTOR)) if option.doubts else hours
